// The configuration looks at the URL of a store before the store does: what one of them takes, the
// other must, too.
#include <gtest/gtest.h>

#include "config/url.hpp"
#include "node/open_store.hpp"

namespace holdfast::server::store_url_test {
namespace {

TEST(StoreUrl, the_configuration_and_the_store_agree_what_is_right) {
  for (const char* url :
       {"redis://host", "redis://host:6380", "redis://host/3", "rediss://u:p@host:1/0",
        "redis://:p%40ss@[::1]:7000", "redis://10.0.0.1?space=a.b", "rediss://host?ca=/etc/ca.pem",
        "rediss://host/1?space=x&ca=/etc/ca.pem", "redis+sentinel://a:1,b:2/main",
        "rediss+sentinel://:p@a,b,c/main/2"}) {
    const auto read = config::parse_redis_url(url, "");
    EXPECT_TRUE(read) << url << ": " << read.error();
    const auto place = node::parse_place(url);
    EXPECT_TRUE(place) << url << ": " << place.error().text();
  }
}

TEST(StoreUrl, the_configuration_and_the_store_agree_what_is_wrong) {
  for (const char* url :
       {"redis://", "redis://host:x", "redis://host:0", "redis://host/one", "redis://a,b",
        "redis://user@host", "redis://:@host", "redis://host?what=1", "redis://host?ca=/x",
        "redis://ho#st", "redis+sentinel://a", "redis+sentinel://a/", "redis+sentinel://a/main/x",
        "redis://:pa/ss@host"}) {
    EXPECT_FALSE(config::parse_redis_url(url, "")) << url;
    EXPECT_FALSE(node::parse_place(url)) << url;
  }
}

TEST(StoreUrl, nobody_is_shown_who_comes_with_which_password) {
  EXPECT_EQ(config::parse_redis_url("redis://ann:planted@host:1/2?space=x", "")->shown,
            "redis://***@host:1/2?space=x");
  EXPECT_EQ(config::parse_redis_url("redis://host", "env:STORE")->shown, "redis://host");
}

}  // namespace
}  // namespace holdfast::server::store_url_test
