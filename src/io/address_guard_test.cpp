#include "io/address_guard.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace holdfast::io::address_guard_test {
namespace {

// "public", or why not.
std::string kind_of_text(std::string_view text) {
  const auto address = IpAddress::parse(text);
  if (!address) return "no address";
  const auto kind = kind_of(*address);
  return std::string(kind ? to_string(*kind) : "public");
}

TEST(AddressKinds, are_told_apart) {
  const std::pair<const char*, const char*> rows[] = {
      {"8.8.8.8", "public"},
      {"1.1.1.1", "public"},
      {"9.255.255.255", "public"},
      {"11.0.0.0", "public"},
      {"0.0.0.0", "unspecified"},
      {"0.255.255.255", "unspecified"},
      {"10.0.0.0", "private"},
      {"10.255.255.255", "private"},
      {"100.63.255.255", "public"},
      {"100.64.0.0", "shared"},
      {"100.127.255.255", "shared"},
      {"100.128.0.0", "public"},
      {"127.0.0.1", "loopback"},
      {"127.255.255.255", "loopback"},
      {"126.255.255.255", "public"},
      {"128.0.0.0", "public"},
      {"169.254.169.254", "link-local"},
      {"169.253.255.255", "public"},
      {"172.15.255.255", "public"},
      {"172.16.0.0", "private"},
      {"172.31.255.255", "private"},
      {"172.32.0.0", "public"},
      {"192.0.0.1", "reserved"},
      {"192.0.2.1", "reserved"},
      {"192.88.99.1", "reserved"},
      {"192.168.255.255", "private"},
      {"192.169.0.0", "public"},
      {"198.17.255.255", "public"},
      {"198.18.0.0", "reserved"},
      {"198.19.255.255", "reserved"},
      {"198.20.0.0", "public"},
      {"198.51.100.7", "reserved"},
      {"203.0.113.7", "reserved"},
      {"223.255.255.255", "public"},
      {"224.0.0.1", "multicast"},
      {"239.255.255.255", "multicast"},
      {"240.0.0.1", "reserved"},
      {"255.255.255.255", "reserved"},
      {"::", "unspecified"},
      {"::1", "loopback"},
      {"::2", "reserved"},
      {"::127.0.0.1", "reserved"},  // IPv4-compatible
      {"::8.8.8.8", "reserved"},
      {"::ffff:127.0.0.1", "loopback"},  // IPv4-mapped
      {"::ffff:a9fe:a9fe", "link-local"},
      {"::ffff:10.1.2.3", "private"},
      {"::ffff:8.8.8.8", "public"},
      {"::ffff:0:127.0.0.1", "reserved"},  // IPv4-translated
      {"64:ff9b::7f00:1", "translated to one that is not public"},
      {"64:ff9b::10.0.0.1", "translated to one that is not public"},
      {"64:ff9b::8.8.8.8", "public"},
      {"64:ff9b:1::8.8.8.8", "reserved"},
      {"100::1", "reserved"},
      {"2001::1", "reserved"},  // Teredo
      {"2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"},
      {"2001:10::1", "reserved"},
      {"2001:1ff::1", "reserved"},
      {"2001:200::1", "public"},
      {"2001:db8::1", "reserved"},
      {"2001:4860:4860::8888", "public"},
      {"2002:7f00:1::1", "translated to one that is not public"},  // 6to4
      {"2002:a9fe:a9fe::1", "translated to one that is not public"},
      {"2002:808:808::1", "public"},
      {"2a00:1450::5efe:127.0.0.1", "translated to one that is not public"},  // ISATAP
      {"2a00:1450::200:5efe:10.0.0.1", "translated to one that is not public"},
      {"2a00:1450::5efe:8.8.8.8", "public"},
      {"2606:4700::1111", "public"},
      {"3fff:fff::1", "reserved"},
      {"4000::1", "reserved"},
      {"fc00::1", "private"},
      {"fd12:3456::1", "private"},
      {"fe80::1", "link-local"},
      {"febf::1", "link-local"},
      {"fec0::1", "private"},
      {"ff02::1", "multicast"},
  };
  for (const auto& [text, kind] : rows)
    EXPECT_EQ(kind_of_text(text), kind) << text;
}

TEST(IpAddresses, are_read_in_their_full_form_only) {
  for (const char* text : {"", "127.1", "0x7f.0.0.1", "2130706433", "1.2.3.4 ", "localhost",
                           "[::1]", "fe80::1%eth0", "1.2.3.4.5", ":::"})
    EXPECT_FALSE(IpAddress::parse(text).has_value()) << text;
  EXPECT_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0x", 9)).has_value());
  EXPECT_EQ(IpAddress::parse("2001:DB8:0::1")->text(), "2001:db8::1");
  EXPECT_EQ(IpAddress::parse("::ffff:1.2.3.4")->text(), "1.2.3.4");
}

TEST(IpAddresses, are_taken_from_sockets) {
  sockaddr_storage storage{};
  auto& in6 = reinterpret_cast<sockaddr_in6&>(storage);
  in6.sin6_family = AF_INET6;
  in6.sin6_addr = in6addr_loopback;
  const auto& plain = reinterpret_cast<const sockaddr&>(storage);
  EXPECT_EQ(IpAddress::of(plain), IpAddress::parse("::1"));
  storage = {};
  auto& in4 = reinterpret_cast<sockaddr_in&>(storage);
  in4.sin_family = AF_INET;
  in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(IpAddress::of(plain), IpAddress::parse("127.0.0.1"));
  storage = {};
  storage.ss_family = AF_UNIX;
  EXPECT_FALSE(IpAddress::of(plain).has_value());
}

bool allows(const std::vector<std::string>& allowed, std::string_view address) {
  return !AddressGuard::make(allowed).value().refuses(IpAddress::parse(address).value());
}

TEST(AddressGuards, refuse_what_is_not_public_unless_it_is_allowed) {
  EXPECT_TRUE(allows({}, "8.8.8.8"));
  EXPECT_FALSE(allows({}, "127.0.0.1"));
  EXPECT_TRUE(allows({"loopback"}, "127.0.0.1"));
  EXPECT_TRUE(allows({"loopback"}, "127.8.8.8"));
  EXPECT_TRUE(allows({"loopback"}, "::1"));
  EXPECT_TRUE(allows({"loopback"}, "::ffff:127.0.0.1"));
  EXPECT_FALSE(allows({"loopback"}, "10.0.0.1"));
  EXPECT_FALSE(allows({"loopback"}, "0.0.0.0"));
  EXPECT_FALSE(allows({"loopback"}, "64:ff9b::7f00:1"));
  EXPECT_TRUE(allows({"private"}, "192.168.1.1"));
  EXPECT_TRUE(allows({"private"}, "fd00::1"));
  EXPECT_FALSE(allows({"private"}, "169.254.169.254"));
  EXPECT_FALSE(allows({"private"}, "127.0.0.1"));
  EXPECT_TRUE(allows({"10.1.0.0/16"}, "10.1.255.255"));
  EXPECT_FALSE(allows({"10.1.0.0/16"}, "10.2.0.0"));
  EXPECT_TRUE(allows({"10.1.0.0/16"}, "::ffff:10.1.2.3"));
  EXPECT_TRUE(allows({"10.1.2.3", "fd00::/9"}, "10.1.2.3"));
  EXPECT_FALSE(allows({"10.1.2.3", "fd00::/9"}, "10.1.2.4"));
  EXPECT_TRUE(allows({"10.1.2.3", "fd00::/9"}, "fd7f::1"));
  EXPECT_FALSE(allows({"10.1.2.3", "fd00::/9"}, "fd80::1"));
  EXPECT_TRUE(allows({"0.0.0.0/0"}, "127.0.0.1"));
  EXPECT_FALSE(allows({"0.0.0.0/0"}, "::1"));
}

TEST(AddressGuards, say_which_entry_they_do_not_understand) {
  for (const char* entry : {"", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8x",
                            "10.0.0.1/8", "::/129", "Loopback", "10.0.0.0/-1"}) {
    const auto guard = AddressGuard::make(std::vector<std::string>{"10.0.0.0/8", entry});
    ASSERT_FALSE(guard.has_value()) << entry;
    EXPECT_EQ(guard.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(guard.error().message.contains(std::string("\"") + entry + "\"")) << entry;
  }
}

}  // namespace
}  // namespace holdfast::io::address_guard_test
