#include "wire/recovery_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::recovery_json_test {
namespace {

using namespace std::chrono_literals;
using testing::any_text;
using testing::any_time;
using testing::written;

std::uint64_t any_count() {
  return *rc::gen::inRange<std::uint64_t>(0, 1ULL << 53);
}

Recovery any_recovery() {
  Recovery recovery{
      .id = *any_text(),
      .state = *rc::gen::element(RecoveryState::running, RecoveryState::done, RecoveryState::failed,
                                 RecoveryState::canceled, RecoveryState::interrupted),
      .by = *any_text(),
      .started = *any_time(),
      .changed = *any_time(),
      .run = *any_text(),
      .why = *any_text(),
      .error = *any_text(),
      .complete = *rc::gen::arbitrary<bool>(),
      .progress = {.found = any_count(), .recovered = any_count(), .took = 90s},
      .targets = {{*any_text(), any_count()}},
      .kept = {{*any_text(), any_count()}},
      .plan = {{.what = "keep",
                .type = *any_text(),
                .to = *any_text(),
                .why = *any_text(),
                .reason = *any_text(),
                .example = *any_text(),
                .count = any_count(),
                .target_missing = *rc::gen::arbitrary<bool>()}},
      .warnings = {*any_text()}};
  recovery.request = {.broker = "main",
                      .queue = "app.dlq",
                      .map = {{"Scan", {.exchange = "e", .routing_key = "k"}}},
                      .park = "review",
                      .filter = {*any_text()},
                      .limit = 7,
                      .rate = 2.5,
                      .dry_run = true,
                      .total = 1h};
  return recovery;
}

RC_GTEST_PROP(RecoveryJson, a_recovery_comes_back_as_it_was, ()) {
  const Recovery recovery = any_recovery();
  RC_ASSERT(read_recovery(written(recovery)).value() == recovery);
  const RecoveryPage page{.recoveries = {recovery}, .next = *any_text()};
  RC_ASSERT(read_recoveries(written(page)).value() == page);
  const RecoveryNote note{.recovery = recovery, .runner = *any_text()};
  RC_ASSERT(read_recovery_note(written(note)).value() == note);
}

TEST(RecoveryJson, a_request_says_where_messages_go) {
  const auto read = read_recovery_request(
      R"({"broker":"b","queue":"q","map":{"Scan":"work","Mail":{"exchange":"x","routing_key":"k"}}})");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->map.at("Scan"), (RecoveryTarget{.routing_key = "work"}));
  EXPECT_EQ(read->map.at("Mail"), (RecoveryTarget{.exchange = "x", .routing_key = "k"}));
  EXPECT_EQ(read->empty, 5s);
}

TEST(RecoveryJson, refuses_what_is_no_request) {
  const std::string head = R"({"broker":"b","queue":"q",)";
  for (const std::string rest :
       {R"("to":"")", R"("to":"x","to_origin":"queue")", R"("to_origin":"somewhere")",
        R"("to":"x","limit":0)", R"("to":"x","rate":0)", R"("to":"x","filter":"a=b")",
        R"("to":"x","journal":"f")", R"("to":"x","total":"99999h")", R"("map":{})",
        R"("map":{"":"x"})", R"("map":{"a":""})", R"("map":{"a":{"exchange":"x"}})",
        R"("to":"x","max_recoveries":0)"}) {
    const auto read = read_recovery_request(head + rest + "}");
    ASSERT_FALSE(read) << rest;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument) << rest;
  }
  EXPECT_FALSE(read_recovery_request(head + R"("to":")" + std::string(256, 'x') + R"("})"));
  EXPECT_FALSE(read_recovery_request(R"({"broker":"b","to":"x"})"));
}

}  // namespace
}  // namespace holdfast::wire::recovery_json_test
