#include "brokers/rabbitmq/management.hpp"

#include <gtest/gtest.h>

namespace holdfast::brokers::rabbitmq::management_test {
namespace {

using Kind = ports::QueueFacts::Kind;

ports::QueueFacts facts_of(const char* json, int version = 3) {
  auto read = read_queue(json, version);
  EXPECT_TRUE(read && *read) << json;
  return read && *read ? **read : ports::QueueFacts();
}

TEST(Management, takes_the_lower_of_argument_and_policy) {
  EXPECT_EQ(facts_of(R"({"type":"quorum","arguments":{"x-delivery-limit":5},
                         "effective_policy_definition":{"delivery-limit":3}})")
                .return_limit,
            3);
  EXPECT_EQ(facts_of(R"({"type":"quorum","arguments":{"x-delivery-limit":2},
                         "effective_policy_definition":{"delivery-limit":3}})")
                .return_limit,
            2);
  const auto none =
      facts_of(R"({"type":"quorum","arguments":{},"effective_policy_definition":{}})");
  EXPECT_EQ(none.return_limit, std::nullopt);
  EXPECT_TRUE(none.limit_is_known);
  EXPECT_EQ(none.kind, Kind::counts);
}

TEST(Management, knows_the_limit_that_version_4_sets_by_itself) {
  const char* const plain = R"({"type":"quorum","arguments":{},"effective_policy_definition":{}})";
  EXPECT_EQ(facts_of(plain, 4).return_limit, 20);
  const char* const unlimited =
      R"({"type":"quorum","arguments":{"x-delivery-limit":-1},"effective_policy_definition":{}})";
  EXPECT_EQ(facts_of(unlimited, 4).return_limit, std::nullopt);
}

TEST(Management, waits_for_policies_of_what_counts_returns) {
  const auto read = read_queue(R"({"type":"quorum","arguments":{"x-delivery-limit":5}})", 3);
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
  EXPECT_EQ(facts_of(R"({"type":"classic","arguments":{}})").kind, Kind::plain);
  EXPECT_EQ(facts_of(R"({"type":"stream","arguments":{}})").kind, Kind::stream);
}

TEST(Management, says_where_messages_beyond_the_limit_go) {
  const auto facts = facts_of(R"({"type":"quorum","arguments":{},"effective_policy_definition":
      {"delivery-limit":1,"dead-letter-exchange":"","dead-letter-routing-key":"grave"}})");
  EXPECT_EQ(facts.dead_letter, (ports::Address{.routing_key = "grave"}));
}

TEST(Management, refuses_what_is_no_answer_of_that_api) {
  for (const char* text : {"", "<html>", "[]", "{}", R"({"type":"fanout"})"})
    EXPECT_FALSE(read_queue(text, 3)) << text;
}

TEST(Management, reads_a_page_of_queues) {
  const auto page = read_queue_page(R"({"page":1,"page_count":3,"items":[
      {"name":"a.dlq","type":"quorum","messages_ready":7,"messages_unacknowledged":2,"consumers":1,
       "arguments":{"x-delivery-limit":5},"effective_policy_definition":{"delivery-limit":3,
       "dead-letter-exchange":"dlx","dead-letter-routing-key":"grave"},"head_message_timestamp":1700000000,
       "message_stats":{"ack_details":{"rate":1.5},"get_no_ack_details":{"rate":2}}},
      {"name":"just made","type":"classic","arguments":{}}]})");
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page->pages, 3U);
  ASSERT_EQ(page->queues.size(), 2U);
  const ports::QueueStatus& first = page->queues[0];
  EXPECT_EQ(first.name, "a.dlq");
  EXPECT_EQ(first.kind, ports::QueueStatus::Kind::quorum);
  EXPECT_EQ(first.ready, 7U);
  EXPECT_EQ(first.unacknowledged, 2U);
  EXPECT_EQ(first.consumers, 1U);
  EXPECT_EQ(first.delivery_limit, 3);
  EXPECT_EQ(first.dead_letter, (ports::Address{.exchange = "dlx", .routing_key = "grave"}));
  EXPECT_EQ(first.taken_per_second, 3.5);
  EXPECT_EQ(first.oldest_published, WallTime(std::chrono::seconds(1'700'000'000)));
  EXPECT_EQ(page->queues[1].taken_per_second, std::nullopt);
  EXPECT_EQ(page->queues[1].oldest_published, std::nullopt);
  EXPECT_EQ(page->queues[1].ready, std::nullopt);  // it has no figures yet
  EXPECT_EQ(page->queues[1].delivery_limit, std::nullopt);
  for (const char* text : {"", "[]", "{}", R"({"items":7})"})
    EXPECT_FALSE(read_queue_page(text)) << text;
}

TEST(Management, is_asked_by_the_user_of_its_own_url_if_that_names_one) {
  const auto api = management_api({.at = {.host = "rabbit", .user = "app", .password = "secret"},
                                   .management = "http://watch:w%40rd@rabbit:15672/"});
  EXPECT_EQ(api.url, "http://rabbit:15672");
  EXPECT_EQ(api.user, "watch");
  EXPECT_EQ(api.password, "w@rd");
  const auto same = management_api({.at = {.host = "rabbit", .user = "app", .password = "secret"},
                                    .management = "https://rabbit/behind/a@b"});
  EXPECT_EQ(same.url, "https://rabbit/behind/a@b");
  EXPECT_EQ(same.user, "app");
}

TEST(Management, is_looked_for_at_every_host) {
  const Location at{.host = "a", .others = {{"::1", 7777}}};
  const auto usual = management_apis({.at = at});
  ASSERT_EQ(usual.size(), 2U);
  EXPECT_EQ(usual[0].url, "http://a:15672");
  EXPECT_EQ(usual[1].url, "http://[::1]:15672");
  EXPECT_EQ(management_apis({.at = at, .management = "http://watch:x@m"}).size(), 1U);
}

TEST(Management, is_usually_beside_the_broker) {
  EXPECT_EQ(usual_management_url({.host = "rabbit"}), "http://rabbit:15672");
  EXPECT_EQ(usual_management_url({.tls = true, .host = "::1"}), "https://[::1]:15671");
}

}  // namespace
}  // namespace holdfast::brokers::rabbitmq::management_test
