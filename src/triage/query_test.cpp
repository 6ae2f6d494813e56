#include "triage/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// N2: the one grammar by which people say which tasks they mean.
namespace holdfast::triage::query_test {
namespace {

using namespace std::chrono_literals;
using core::State;
using ::testing::HasSubstr;

const WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 17}};

Query parsed(std::string_view text) {
  auto query = Query::parse(text, kNow);
  EXPECT_TRUE(query) << (query ? "" : query.error().text());
  return query ? *query : Query();
}

std::string refusal(std::string_view text) {
  const auto query = Query::parse(text, kNow);
  EXPECT_FALSE(query) << text;
  return query ? "" : query.error().message;
}

ports::TaskRecord a_task() {
  ports::TaskRecord record;
  record.id = *TaskId::parse("01912d68-783e-7a03-8467-5661c1243ad4");
  record.type = "mail.send";
  record.queue = "mail";
  record.payload = R"({"user":{"id":42,"plan":"gold"},"items":[{"sku":"A-1"}],"ok":true,"n":null})";
  record.fingerprint = Fingerprint(0x92ab5f0c11d3e844);
  record.changed = kNow - 30min;
  record.task.state = State::dead;
  record.task.dead_reason = DeadReason::out_of_attempts;
  record.task.spent = {.attempts = 3, .crashes = 1};
  record.task.created = kNow - 2h;
  record.task.last_failure = Failure{.message = "Connection refused by 10.0.0.1"};
  return record;
}

bool matches(std::string_view text) {
  return parsed(text).matches(a_task());
}

TEST(Query, matches_by_each_of_its_fields) {
  for (const char* text : {"",
                           "state:dead",
                           "state:failed,dead",
                           "-state:failed",
                           "queue:mail",
                           "queue:push,mail",
                           "type:mail.*",
                           "type:*send",
                           "-type:push.*",
                           "type!=push",
                           "group:92ab5f0c11d3e844",
                           "id:01912d68-783e-7a03-8467-5661c1243ad4",
                           "reason:\"out of attempts\"",
                           "reason:out_of_attempts",
                           "attempts>=3",
                           "attempts:3",
                           "attempts!=4",
                           "crashes>0",
                           "replays:0",
                           "replays<1",
                           "since:1h",
                           "until:10m",
                           "created>=3h",
                           "created<1h",
                           "created>2026-11-16T21:00:00Z",
                           "error:\"connection REFUSED\"",
                           "error:nothing,refused",
                           "-error:timeout",
                           "payload.user.id:42",
                           "payload.user.id>=42",
                           "payload.user.id:42.0",
                           "payload.user.plan:gold",
                           "payload.user.plan:g*d",
                           "payload.user.plan!=silver,iron",
                           "payload.items.0.sku:\"A-1\"",
                           "payload.ok:true",
                           "payload.n:null",
                           "-payload.missing:1",
                           "refused",
                           "mail.send",
                           "01912d68 state:dead",
                           "\"by 10.0\""}) {
    EXPECT_TRUE(matches(text)) << text;
  }
}

TEST(Query, leaves_out_what_does_not_match) {
  for (const char* text : {"state:failed",      "-state:dead",        "queue:mai",
                           "queue:*x",          "type:mail",          "group:0000000000000001",
                           "reason:crashes",    "attempts>3",         "attempts<3",
                           "since:10m",         "until:1h",           "created>=1h",
                           "error:timeout",     "payload.user.id:43", "payload.user.id>42",
                           "payload.missing:1", "payload.missing!=1", "payload.user.plan!=gold",
                           "nowhere",           "refused nowhere",    "state:dead attempts>3"}) {
    EXPECT_FALSE(matches(text)) << text;
  }
}

TEST(Query, says_what_is_wrong_and_where) {
  EXPECT_THAT(refusal("state:dead stat:dead"), HasSubstr("nothing called \"stat\"; did you mean"));
  EXPECT_THAT(refusal("state:dead stat:dead"), HasSubstr("at character 12"));
  EXPECT_THAT(refusal("state:gone"), HasSubstr("\"gone\" is no state"));
  EXPECT_THAT(refusal("attempts>many"), HasSubstr("\"many\" is no number"));
  EXPECT_THAT(refusal("attempts>1,2"), HasSubstr("only one value"));
  EXPECT_THAT(refusal("since:yesterday"), HasSubstr("neither a time"));
  EXPECT_THAT(refusal("created:1h"), HasSubstr("compared with >="));
  EXPECT_THAT(refusal("queue>a"), HasSubstr("only be compared"));
  EXPECT_THAT(refusal("group:92ab"), HasSubstr("16 hexadecimal digits"));
  EXPECT_THAT(refusal("id:17"), HasSubstr("no id of a task"));
  EXPECT_THAT(refusal("error:\"open"), HasSubstr("a quote is not closed at character 7"));
  EXPECT_THAT(refusal("error:"), HasSubstr("a value is missing"));
  EXPECT_THAT(refusal("reason:bad"), HasSubstr("no reason"));
  EXPECT_THAT(refusal("payload.a..b:1"), HasSubstr("empty step"));
  EXPECT_THAT(refusal(std::string(5000, 'x')), HasSubstr("of at most 4096"));
}

TEST(Query, takes_quotes_apart) {
  EXPECT_EQ(parsed(R"(error:"a \"b\" c\\d")").terms().front().values.front(), R"(a "b" c\d)");
}

TEST(Query, leaves_to_the_store_what_it_can_look_for) {
  const auto filters = parsed("state:dead,failed queue:mail type:a created>=1h").filters();
  ASSERT_EQ(filters.size(), 2U);
  EXPECT_EQ(filters[0].state, State::dead);
  EXPECT_EQ(filters[1].state, State::failed);
  EXPECT_EQ(filters[0].queue, "mail");
  EXPECT_EQ(filters[0].type, "a");
  EXPECT_EQ(filters[0].created_from, kNow - 1h);
  EXPECT_TRUE(parsed("state:dead queue:mail").is_left_to_store());
  EXPECT_FALSE(parsed("queue:mail queue:push").is_left_to_store());
  EXPECT_FALSE(parsed("queue:m*").is_left_to_store());
  EXPECT_FALSE(parsed("state:dead error:x").is_left_to_store());
}

TEST(Query, looks_through_every_state_unless_told_otherwise) {
  const auto any = parsed("queue:mail").filters();
  ASSERT_EQ(any.size(), 1U);
  EXPECT_FALSE(any[0].state);
  EXPECT_EQ(parsed("group:92ab5f0c11d3e844").filters().size(), 2U);
  EXPECT_EQ(parsed("-state:dead,failed").filters().size(), 5U);
  EXPECT_TRUE(parsed("state:dead -state:dead").filters().empty());
}

TEST(Query, knows_whether_it_needs_payloads) {
  EXPECT_TRUE(parsed("payload.a:1").needs_payload());
  EXPECT_FALSE(parsed("state:dead").needs_payload());
}

TEST(Query, payloads_that_are_not_json_match_nothing) {
  auto record = a_task();
  record.payload = "plain";
  EXPECT_FALSE(parsed("payload.a:1").matches(record));
}

}  // namespace
}  // namespace holdfast::triage::query_test
