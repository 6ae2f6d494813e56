#include "io/http_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::io::http_url_test {
namespace {

TEST(HostOf, is_the_host_and_a_port_of_its_own) {
  const std::pair<const char*, const char*> rows[] = {
      {"https://hooks.example.org/in?x=1#y", "hooks.example.org"},
      {"https://Hooks.Example.ORG:443", "hooks.example.org"},
      {"http://hooks.example.org:80/", "hooks.example.org"},
      {"http://hooks.example.org:443/", "hooks.example.org:443"},
      {"https://ann:secret@hooks.example.org:8443/", "hooks.example.org:8443"},
      {"http://[::1]:8080/", "[::1]:8080"},
      {"http://0x7f.1/", "127.0.0.1"},
      {"http://2130706433/", "127.0.0.1"},
  };
  for (const auto& [url, host] : rows)
    EXPECT_EQ(host_of(url).value_or("none"), host) << url;
}

TEST(HostOf, refuses_what_cannot_be_a_webhook) {
  for (const char* url :
       {"", "hooks.example.org", "ftp://example.org/", "file:///etc/passwd", "https://", "http:///",
        "https://exa mple.org/", "gopher://x/", "http://example.org:99999/"}) {
    const auto host = host_of(url);
    ASSERT_FALSE(host.has_value()) << url;
    EXPECT_EQ(host.error().code, ErrorCode::invalid_argument) << url;
  }
}

TEST(HostOf, does_not_tell_secrets_of_a_bad_url) {
  const auto host = host_of("ftp://ann:s3cret@example.org/");
  EXPECT_THAT(host.error().text(), ::testing::Not(::testing::HasSubstr("s3cret")));
}

}  // namespace
}  // namespace holdfast::io::http_url_test
