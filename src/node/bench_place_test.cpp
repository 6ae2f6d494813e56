#include "node/bench_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/redis_server.hpp"

namespace holdfast::node::store_bench::bench_place_test {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(BenchPlace, is_a_file_in_a_folder_beside_an_embedded_store) {
  const auto place = OwnPlace::beside("sqlite:tasks.db", "latency", "/tmp/own");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_EQ(place->url(), "sqlite:/tmp/own/latency.db");
  EXPECT_EQ(place->used_memory().value(), std::nullopt);
  EXPECT_TRUE(place->clear());
}

TEST(BenchPlace, is_a_space_of_its_own_on_redis) {
  const auto place = OwnPlace::beside("redis://h:1/2", "latency", "");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_THAT(place->url(), MatchesRegex(R"(redis://h:1/2\?space=bench-latency-[0-9a-f]+)"));
  const auto other = OwnPlace::beside("redis://h:1/2?space=mine", "latency", "");
  ASSERT_TRUE(other) << other.error().text();
  EXPECT_THAT(other->url(), StartsWith("redis://h:1/2?space=mine&space=bench-latency-"));
  EXPECT_NE(OwnPlace::beside("redis://h:1/2", "latency", "").value().url(), place->url());
}

TEST(BenchPlace, refuses_what_is_no_store_to_measure) {
  for (const char* url : {"memory:", "http://127.0.0.1:8080", "redis://", "tasks.db"})
    EXPECT_FALSE(OwnPlace::beside(url, "latency", "")) << url;
}

TEST(BenchPlace, takes_out_its_own_space_and_nothing_else) {
  holdfast::testing::RedisServer server;
  holdfast::testing::RedisTalk talk(server.port());
  const auto place = OwnPlace::beside(server.url(), "latency", "");
  ASSERT_TRUE(place) << place.error().text();
  const std::string space = place->url().substr(place->url().find("space=") + 6);
  for (int i = 0; i < 3000; ++i)
    talk.ask({"SET", "{" + space + "}" + std::to_string(i), "x"});
  talk.ask({"SET", "{hf}tasks", "somebody's"});
  talk.ask({"SET", "{" + space + "x}tasks", "somebody's"});
  EXPECT_GT(place->used_memory().value().value(), 100'000);
  ASSERT_TRUE(place->clear());
  EXPECT_EQ(talk.ask({"DBSIZE"}).text, "2");
  EXPECT_EQ(talk.ask({"GET", "{hf}tasks"}).text, "somebody's");
}

TEST(BenchPlace, says_that_a_server_is_away) {
  std::string url;
  {
    const holdfast::testing::RedisServer server;
    url = server.url();
  }
  const auto place = OwnPlace::beside(url, "latency", "");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_FALSE(place->used_memory());
  EXPECT_FALSE(place->clear());
}

}  // namespace
}  // namespace holdfast::node::store_bench::bench_place_test
