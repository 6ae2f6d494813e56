#include "config/address.hpp"

#include <gtest/gtest.h>

#include "config/url.hpp"

namespace holdfast::config::address_test {
namespace {

TEST(Listen, reads_addresses_and_ports) {
  EXPECT_EQ(parse_listen("127.0.0.1:8080").value(), (Listen{"127.0.0.1", 8080}));
  EXPECT_EQ(parse_listen("0.0.0.0:0").value(), (Listen{"0.0.0.0", 0}));
  EXPECT_EQ(parse_listen("[::1]:65535").value(), (Listen{"::1", 65535}));
  EXPECT_EQ(parse_listen("[2001:DB8::0:1]:80").value(), (Listen{"2001:db8::1", 80}));
  EXPECT_EQ(parse_listen("localhost:80").value(), (Listen{"127.0.0.1", 80}));
}

TEST(Listen, says_what_is_wrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "\"\": a port is missing: write 127.0.0.1:8080"},
      {"127.0.0.1", "\"127.0.0.1\": a port is missing: write 127.0.0.1:8080"},
      {"[::1]", "\"[::1]\": a port is missing: write 127.0.0.1:8080"},
      {"127.0.0.1:", "\"127.0.0.1:\": the port is a number from 0 to 65535"},
      {"127.0.0.1:65536", "\"127.0.0.1:65536\": the port is a number from 0 to 65535"},
      {"127.0.0.1:-1", "\"127.0.0.1:-1\": the port is a number from 0 to 65535"},
      {"127.0.0.1:80a", "\"127.0.0.1:80a\": the port is a number from 0 to 65535"},
      {":80", "\":80\": for all addresses, write 0.0.0.0:80 or [::]:80"},
      {"*:80", "\"*:80\": for all addresses, write 0.0.0.0:80 or [::]:80"},
      {"fe80::1:80", "\"fe80::1:80\": an IPv6 address stands in brackets: [fe80::1]:80"},
      {"::1", "\"::1\": an IPv6 address stands in brackets, and a port is missing: [::1]:8080"},
      {"1:2:3:4:5:6:7:8",
       "\"1:2:3:4:5:6:7:8\": an IPv6 address stands in brackets, and a port is missing: "
       "[1:2:3:4:5:6:7:8]:8080"},
      {"[127.0.0.1]:80",
       "\"[127.0.0.1]:80\": this must be an address of this machine and a port: 127.0.0.1:8080, "
       "[::1]:8080"},
      {"example.org:80",
       "\"example.org:80\": this must be an address of this machine and a port: 127.0.0.1:8080, "
       "[::1]:8080"},
      {"256.0.0.1:80",
       "\"256.0.0.1:80\": this must be an address of this machine and a port: 127.0.0.1:8080, "
       "[::1]:8080"},
  };
  for (const auto& [text, message] : rows) {
    const auto listen = parse_listen(text);
    ASSERT_FALSE(listen) << text;
    EXPECT_EQ(listen.error(), message);
  }
}

TEST(Listen, knows_what_only_this_machine_can_reach) {
  for (const char* address : {"127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE((Listen{address, 1}.is_loopback())) << address;
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "::2", "::ffff:10.0.0.1", "1::1", "x"})
    EXPECT_FALSE((Listen{address, 1}.is_loopback())) << address;
}

std::string networks_of(std::string_view text) {
  const auto networks = parse_network(text);
  if (!networks) return networks.error();
  std::string all;
  for (const Network& network : *networks)
    all += (all.empty() ? "" : " ") + network.text();
  return all;
}

TEST(Network, reads_networks_and_addresses) {
  EXPECT_EQ(networks_of("10.0.0.0/8"), "10.0.0.0/8");
  EXPECT_EQ(networks_of("10.1.2.3"), "10.1.2.3/32");
  EXPECT_EQ(networks_of("0.0.0.0/0"), "0.0.0.0/0");
  EXPECT_EQ(networks_of("192.168.128.0/17"), "192.168.128.0/17");
  EXPECT_EQ(networks_of("FD00::/8"), "fd00::/8");
  EXPECT_EQ(networks_of("::1"), "::1/128");
  EXPECT_EQ(networks_of("loopback"), "127.0.0.0/8 ::1/128");
}

TEST(Network, says_what_is_wrong) {
  const char* none = " is no network: write 10.0.0.0/8, fd00::/8, 10.1.2.3 or loopback";
  EXPECT_EQ(networks_of("private"), std::string("\"private\"") + none);
  EXPECT_EQ(networks_of(""), std::string("\"\"") + none);
  EXPECT_EQ(networks_of("10/8"), std::string("\"10/8\"") + none);
  EXPECT_EQ(networks_of("10.0.0.0/33"),
            "\"10.0.0.0/33\": after the slash stands a number from 0 to 32");
  EXPECT_EQ(networks_of("10.0.0.0/"),
            "\"10.0.0.0/\": after the slash stands a number from 0 to 32");
  EXPECT_EQ(networks_of("::/-1"), "\"::/-1\": after the slash stands a number from 0 to 128");
  EXPECT_EQ(networks_of("10.0.0.1/31"),
            "\"10.0.0.1/31\": bits are set beyond the first 31: write 10.0.0.0/31 for the network, "
            "or 10.0.0.1 for the one address");
}

TEST(Url, knows_its_host_and_what_may_be_shown) {
  struct Row {
    const char* text;
    const char* source;
    const char* host;
    const char* shown;
  };
  const Row rows[] = {
      {"https://Example.org/a/b", "", "example.org", "https://Example.org/a/b"},
      {"HTTP://example.org", "", "example.org", "HTTP://example.org"},
      {"http://example.org:80?key=1", "", "example.org", "http://example.org:80?***"},
      {"https://[::1]:8443/x?y=z", "", "::1", "https://[::1]:8443/x?***"},
      {"https://example.org/a?b", "env:X", "example.org", "https://example.org/***"},
      {"https://example.org", "env:X", "example.org", "https://example.org/***"},
      {"https://example.org:1?b", "file:X", "example.org", "https://example.org:1/***"},
  };
  for (const Row& row : rows) {
    const auto url = parse_url(row.text, row.source);
    ASSERT_TRUE(url) << row.text << ": " << url.error();
    EXPECT_EQ(url->text.reveal(), row.text);
    EXPECT_EQ(url->host, row.host);
    EXPECT_EQ(url->shown, row.shown);
  }
}

TEST(Url, refuses_what_cannot_be_called) {
  for (const char* text : {"",
                           "example.org",
                           "ftp://example.org",
                           "https:/example.org",
                           "https://",
                           "https:///x",
                           "https://?x",
                           "https://a b/",
                           "https://a/\x01",
                           "https://a/é",
                           "https://a/#top",
                           "https://me@a/",
                           "https://me:pw@a/",
                           "https://a:0/",
                           "https://a:65536/",
                           "https://a:x/",
                           "https://a:/",
                           "https://[::1/",
                           "https://[::1]x/",
                           "https://[10.0.0.1]/",
                           "https://[::/8]/",
                           "https://[loopback]/",
                           "https://a,b/",
                           "://a"}) {
    EXPECT_FALSE(parse_url(text, "")) << text;
  }
}

}  // namespace
}  // namespace holdfast::config::address_test
