#include "stores/redis/address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::stores::redis::address_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Host = Address::Host;

TEST(RedisAddress, a_host_is_enough) {
  const Address address = parse_address("redis://cache").value();
  EXPECT_THAT(address.hosts, ElementsAre(Host{"cache", 6379}));
  EXPECT_FALSE(address.tls);
  EXPECT_EQ(address.master, "");
  EXPECT_EQ(address.user, "");
  EXPECT_EQ(address.password, "");
  EXPECT_EQ(address.database, 0);
  EXPECT_EQ(address.space, "hf");
}

TEST(RedisAddress, has_user_password_port_database_and_space) {
  const Address address =
      parse_address("redis://ann:s%40cr%2fet%3a@redis.example.org:7000/12?space=jobs-2").value();
  EXPECT_THAT(address.hosts, ElementsAre(Host{"redis.example.org", 7000}));
  EXPECT_EQ(address.user, "ann");
  EXPECT_EQ(address.password, "s@cr/et:");
  EXPECT_EQ(address.database, 12);
  EXPECT_EQ(address.space, "jobs-2");
}

TEST(RedisAddress, a_password_needs_no_user) {
  const Address address = parse_address("redis://:secret@host").value();
  EXPECT_EQ(address.user, "");
  EXPECT_EQ(address.password, "secret");
}

TEST(RedisAddress, an_at_within_a_password_is_understood) {
  const Address address = parse_address("redis://:a@b@host").value();
  EXPECT_EQ(address.password, "a@b");
  EXPECT_THAT(address.hosts, ElementsAre(Host{"host", 6379}));
}

TEST(RedisAddress, knows_ipv6) {
  EXPECT_THAT(parse_address("redis://[::1]:7000").value().hosts, ElementsAre(Host{"::1", 7000}));
  EXPECT_THAT(parse_address("redis://[fe80::1]/2").value().hosts,
              ElementsAre(Host{"fe80::1", 6379}));
}

TEST(RedisAddress, over_tls_may_name_whom_to_trust) {
  const Address address = parse_address("rediss://host?ca=/etc/ca.pem&space=x").value();
  EXPECT_TRUE(address.tls);
  EXPECT_EQ(address.ca_file, "/etc/ca.pem");
  EXPECT_EQ(address.space, "x");
}

TEST(RedisAddress, names_sentinels_and_their_master) {
  const Address address =
      parse_address("redis+sentinel://:pw@one,two:7000,[::1]:7001/my%20master/3").value();
  EXPECT_THAT(address.hosts, ElementsAre(Host{"one", 26379}, Host{"two", 7000}, Host{"::1", 7001}));
  EXPECT_EQ(address.master, "my master");
  EXPECT_EQ(address.database, 3);
  EXPECT_EQ(address.password, "pw");
  EXPECT_FALSE(address.tls);
  EXPECT_TRUE(parse_address("rediss+sentinel://one/main").value().tls);
}

TEST(RedisAddress, is_told_as_a_url_without_its_password) {
  for (const char* const url : {
           "redis://cache",
           "redis://cache:7000/12?space=jobs",
           "rediss://[::1]:7000?ca=/etc/ca.pem",
           "rediss://host?space=a&ca=/etc/a%20b.pem",
           "redis+sentinel://one,two:7000/main/3",
           "rediss+sentinel://one/main",
       }) {
    EXPECT_EQ(parse_address(url).value().text(), url);
  }
  EXPECT_EQ(parse_address("redis://ann:secret@host/1").value().text(), "redis://ann@host/1");
  EXPECT_EQ(parse_address("redis://:secret@host").value().text(), "redis://host");
}

TEST(RedisAddress, is_told_from_others_by_its_beginning) {
  for (const char* const url :
       {"redis://h", "rediss://h", "redis+sentinel://h/m", "rediss+sentinel://h/m"}) {
    EXPECT_TRUE(is_redis_url(url)) << url;
  }
  for (const char* const url : {"sqlite:a.db", "http://h", "redis:h", "redis", "", "Xredis://h"})
    EXPECT_FALSE(is_redis_url(url)) << url;
}

struct Mistake {
  const char* url;
  const char* says;
};

class RedisAddressMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(RedisAddressMistake, is_named_without_the_password) {
  const auto address = parse_address(GetParam().url);
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(address.error().message, HasSubstr(GetParam().says));
  EXPECT_THAT(address.error().text(), Not(HasSubstr("s3cret")));
}

INSTANTIATE_TEST_SUITE_P(
    All, RedisAddressMistake,
    ::testing::Values(
        Mistake{"http://:s3cret@host", "begins with none of"},  //
        Mistake{"", "begins with none of"},                     //
        Mistake{"redis://", "no host"},                         //
        Mistake{"redis:///1", "no host"},                       //
        Mistake{"redis://:s3cret@", "no host"},                 //
        Mistake{"redis://:7000", "no host"},                    //
        Mistake{"redis://s3cret@host", "user without a password"},
        Mistake{"redis://ann:@host", "empty password"},
        Mistake{"redis://:s3cret%4@host", "%xx"},      //
        Mistake{"redis://:s3cret%zz@host", "%xx"},     //
        Mistake{"redis://h%4", "%xx"},                 //
        Mistake{"redis://host:port", "no such port"},  //
        Mistake{"redis://host:0", "no such port"},     //
        Mistake{"redis://host:65536", "no such port"}, Mistake{"redis://host:", "no such port"},
        Mistake{"redis://:s3cret/x@host", "%2f"},  // the password ends the host
        Mistake{"redis://u:s3cret?x@host", "%3f"},
        Mistake{"redis://host/0?s3cret", "only space=NAME and ca=FILE"},
        Mistake{"redis://:s3cret#x@host", "%23"},  //
        Mistake{"redis://[::1", "without its ]"},  //
        Mistake{"redis://[::1]x", "behind the ]"}, Mistake{"redis://one,two", "several hosts"},
        Mistake{"redis://host/x", "database"},   //
        Mistake{"redis://host/-1", "database"},  //
        Mistake{"redis://host/1/2", "database"}, Mistake{"redis://host?space=", "space"},
        Mistake{"redis://host?space={x}", "space"}, Mistake{"redis://host?space=%7Bx", "space"},
        Mistake{"redis://host?colour=red", "only space=NAME and ca=FILE"},
        Mistake{"redis://host?ca=/a.pem", "rediss://"}, Mistake{"rediss://host?ca=", "no file"},
        Mistake{"rediss://host?ca=%", "%xx"},
        Mistake{"redis+sentinel://one,two", "no name of a master"},
        Mistake{"redis+sentinel://one,/m", "no host"}, Mistake{"redis+sentinel://one/%4", "%xx"},
        Mistake{"redis+sentinel://one/m/x", "database"}));

}  // namespace
}  // namespace holdfast::stores::redis::address_test
