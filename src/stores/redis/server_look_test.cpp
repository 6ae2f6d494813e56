#include "stores/redis/server_look.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "stores/redis/session_testing.hpp"
#include "support/redis_server.hpp"
#include "support/scripted_redis.hpp"

namespace holdfast::stores::redis::server_look_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LogCapture;
using testing::RedisServer;
using testing::ScriptedRedis;
using ::testing::SizeIs;

constexpr const char* kInfo =
    "# Server\r\nredis_version:7.0.15\r\n# Replication\r\nrole:master\r\n";

ServerSettings settings(std::map<std::string, std::string, std::less<>> changed = {}) {
  changed.insert({{"appendonly", "yes"},
                  {"appendfsync", "everysec"},
                  {"maxmemory", "0"},
                  {"maxmemory-policy", "noeviction"}});
  return {.info = kInfo, .config = changed};
}

TEST(RedisServerLook, finds_nothing_where_nothing_can_be_lost) {
  EXPECT_THAT(risks_of(settings()).value(), IsEmpty());
  EXPECT_THAT(risks_of(settings({{"appendfsync", "always"}})).value(), IsEmpty());
}

TEST(RedisServerLook, warns_of_a_server_that_keeps_nothing_on_disk) {
  const auto risks = risks_of(settings({{"appendonly", "no"}})).value();
  ASSERT_THAT(risks, SizeIs(1));
  EXPECT_EQ(risks[0].level, Level::warning);
  EXPECT_EQ(risks[0].setting, "appendonly");
  EXPECT_EQ(risks[0].value, "no");
  EXPECT_THAT(risks[0].can_be_lost, HasSubstr("last snapshot"));
  EXPECT_THAT(risks[0].advice, HasSubstr("appendonly yes"));
}

TEST(RedisServerLook, warns_of_files_that_are_not_synced) {
  const auto risks = risks_of(settings({{"appendfsync", "no"}})).value();
  ASSERT_THAT(risks, SizeIs(1));
  EXPECT_EQ(risks[0].setting, "appendfsync");
  EXPECT_EQ(risks[0].level, Level::warning);
}

TEST(RedisServerLook, warns_of_a_server_that_throws_tasks_away) {
  const auto risks =
      risks_of(settings({{"maxmemory", "1000000"}, {"maxmemory-policy", "allkeys-lru"}})).value();
  ASSERT_THAT(risks, SizeIs(1));
  EXPECT_EQ(risks[0].level, Level::warning);
  EXPECT_EQ(risks[0].setting, "maxmemory-policy");
  EXPECT_EQ(risks[0].value, "allkeys-lru");
}

TEST(RedisServerLook, says_less_loudly_what_needs_one_more_setting_to_do_harm) {
  const auto risks = risks_of(settings({{"maxmemory-policy", "volatile-ttl"}})).value();
  ASSERT_THAT(risks, SizeIs(1));
  EXPECT_EQ(risks[0].level, Level::info);
  EXPECT_EQ(risks[0].setting, "maxmemory-policy");
}

// As servers do that are rented out.
TEST(RedisServerLook, reads_what_it_can_in_info_where_the_configuration_is_not_told) {
  const std::string info =
      std::string(kInfo) + "aof_enabled:0\r\nmaxmemory:1000\r\nmaxmemory_policy:allkeys-lfu\r\n";
  const auto risks = risks_of({.info = info}).value();
  ASSERT_THAT(risks, SizeIs(3));
  EXPECT_EQ(risks[0].setting, "appendonly");
  EXPECT_EQ(risks[1].setting, "maxmemory-policy");
  EXPECT_EQ(risks[2].level, Level::info);
  EXPECT_EQ(risks[2].value, "unknown");
}

TEST(RedisServerLook, refuses_a_replica_and_an_old_server) {
  const auto replica = risks_of(
      {.info = "redis_version:7.0.15\r\nrole:slave\r\nmaster_host:a\r\nmaster_port:6380\r\n"});
  ASSERT_FALSE(replica);
  EXPECT_EQ(replica.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(replica.error().message, HasSubstr("replica of a port 6380"));
  const auto old = risks_of({.info = "redis_version:6.2.14\r\nrole:master\r\n"});
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(old.error().message, HasSubstr("6.2.14"));
  EXPECT_TRUE(risks_of({.info = "redis_version:10.1\r\nrole:master\r\n"}));
}

TEST(RedisServerLook, tells_the_log_of_a_real_server) {
  LogCapture log;
  const RedisServer server(
      {.settings = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-random"}});
  Session session(options_for(server.url()));
  ASSERT_TRUE(look_at_server(session, Logger(log), "hf"));
  const auto said = log.of("store.setting");
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(said[0].level, Level::warning);
  EXPECT_EQ(said[0].fields.at("setting"), "appendonly");
  EXPECT_EQ(said[1].fields.at("setting"), "maxmemory-policy");
  EXPECT_EQ(said[1].fields.at("value"), "allkeys-random");
  EXPECT_TRUE(said[1].fields.contains("can_be_lost"));
  EXPECT_TRUE(said[1].fields.contains("advice"));
}

TEST(RedisServerLook, has_nothing_to_say_of_a_real_server_that_keeps_everything) {
  LogCapture log;
  const RedisServer server({.settings = {"--appendonly", "yes", "--appendfsync", "always"}});
  Session session(options_for(server.url()));
  ASSERT_TRUE(look_at_server(session, Logger(log), "hf"));
  EXPECT_THAT(log.entries(), IsEmpty());
}

TEST(RedisServerLook, refuses_a_real_replica) {
  const RedisServer master;
  const RedisServer replica(
      {.settings = {"--replicaof", "127.0.0.1 " + std::to_string(master.port())}});
  Session session(options_for(replica.url()));
  const auto looked = look_at_server(session, Logger(), "hf");
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code, ErrorCode::invalid_argument);
}

// With Redis' defaults a user that was made for us may use no channel at all.
TEST(RedisServerLook, refuses_a_user_who_may_not_do_what_scripts_do) {
  const RedisServer server;
  const std::string place = "@127.0.0.1:" + std::to_string(server.port());
  for (const auto& [user, rules] : std::initializer_list<std::pair<std::string, std::string>>{
           {"keys", "~hf*"}, {"channels", "&*"}}) {
    (void)server.ask({"ACL", "SETUSER", user, "on", ">pw", rules, "+@all"});
    Session session(options_for("redis://" + user + ":pw" + place));
    const auto looked = look_at_server(session, Logger(), "hf");
    ASSERT_FALSE(looked) << user;
    EXPECT_EQ(looked.error().code, ErrorCode::unavailable);
    EXPECT_THAT(looked.error().message, HasSubstr("NOPERM"));
  }
}

TEST(RedisServerLook, takes_a_user_who_may_do_no_more_than_he_must) {
  LogCapture log;
  const RedisServer server;
  (void)server.ask({"ACL", "SETUSER", "ann", "on", ">pw", "~{hf}*", "&{hf}*", "+@all",
                    "-@dangerous", "-@admin"});
  Session session(options_for("redis://ann:pw@127.0.0.1:" + std::to_string(server.port())));
  const auto looked = look_at_server(session, Logger(log), "hf");
  ASSERT_TRUE(looked) << looked.error().text();
  ASSERT_THAT(log.of("store.setting"), SizeIs(1));
  EXPECT_EQ(log.of("store.setting")[0].level, Level::info);
}

// A node that has not the slot of the store may well be a replica.
TEST(RedisServerLook, looks_at_the_node_of_a_cluster_that_has_the_store) {
  ScriptedRedis replica;
  const RedisServer owner({.settings = {"--appendonly", "yes"}});
  replica.always("EXISTS", "-MOVED 1 127.0.0.1:" + std::to_string(owner.port()) + "\r\n");
  Session session(options_for(replica.url()));
  EXPECT_TRUE(look_at_server(session, Logger(), "hf"));
  EXPECT_THAT(replica.seen("INFO"), IsEmpty());
}

TEST(RedisServerLook, a_refused_question_is_no_error) {
  ScriptedRedis server;
  LogCapture log;
  server.always("INFO",
                "$" + std::to_string(std::string_view(kInfo).size()) + "\r\n" + kInfo + "\r\n");
  server.always("CONFIG", "-ERR unknown command 'CONFIG'\r\n");
  Session session(options_for(server.url()));
  ASSERT_TRUE(look_at_server(session, Logger(log), "hf"));
  EXPECT_THAT(log.of("store.setting"), SizeIs(1));
}

}  // namespace
}  // namespace holdfast::stores::redis::server_look_test
