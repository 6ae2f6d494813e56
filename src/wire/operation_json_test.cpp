#include "wire/operation_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::operation_json_test {
namespace {

using testing::any_id;
using testing::any_text;
using testing::any_time;
using ::testing::HasSubstr;
using testing::maybe;
using testing::written;

std::uint64_t any_count() {
  return *rc::gen::inRange<std::uint64_t>(0, 1ULL << 53);
}

template <class Make>
auto some(Make make) {
  std::vector<decltype(make())> all(*rc::gen::inRange<std::size_t>(0, 4));
  for (auto& one : all)
    one = make();
  return all;
}

OperationOptions any_options() {
  return {.canary = *rc::gen::arbitrary<bool>(),
          .stop_at = *rc::gen::element(0.0, 0.1, 0.25, 1.0),
          .rate = maybe(rc::gen::element(0.5, 10.0, 1e6)),
          .cap = maybe(rc::gen::inRange<std::uint64_t>(1, 1'000'000)),
          .reset = *rc::gen::arbitrary<bool>(),
          .insist = *rc::gen::arbitrary<bool>()};
}

OperationPlan::Part any_part() {
  return {.name = *any_text(), .count = any_count(), .paused = *rc::gen::arbitrary<bool>()};
}

Operation any_operation() {
  Operation operation{
      .id = *any_text(),
      .action = *rc::gen::element(OperationAction::replay, OperationAction::discard),
      .state = *rc::gen::map(rc::gen::inRange(0, 9),
                             [](int n) { return static_cast<OperationState>(n); }),
      .query = *any_text(),
      .ids = some(any_id),
      .options = any_options(),
      .by = *any_text(),
      .reason = *any_text(),
      .why = *any_text(),
      .created = *any_time(),
      .as_of = *any_time(),
      .changed = *any_time(),
      .started = maybe(any_time()),
      .ended = maybe(any_time())};
  operation.plan = {.complete = *rc::gen::arbitrary<bool>(),
                    .looked = any_count(),
                    .matching = any_count(),
                    .possible = any_count(),
                    .queues = some(any_part),
                    .refused = some([] {
                      return OperationPlan::Refused{
                          .why = *any_text(), .count = any_count(), .example = any_id()};
                    })};
  if (*rc::gen::arbitrary<bool>()) {
    operation.stage = OperationStage{.number = *rc::gen::inRange(1, 4),
                                     .size = maybe(rc::gen::inRange<std::uint64_t>(1, 11)),
                                     .done = any_count(),
                                     .succeeded = any_count(),
                                     .failed = any_count(),
                                     .waiting = any_count()};
  }
  operation.progress = {.total = any_count(),
                        .done = any_count(),
                        .refused = any_count(),
                        .succeeded = any_count(),
                        .failed = any_count()};
  return operation;
}

RC_GTEST_PROP(OperationJson, N2_an_operation_comes_back_as_it_was, ()) {
  const Operation operation = any_operation();
  RC_ASSERT(read_operation(written(operation)).value() == operation);
  const OperationPage page{.operations = {operation, any_operation()}, .next = *any_text()};
  RC_ASSERT(read_operations(written(page)).value() == page);
}

RC_GTEST_PROP(OperationJson, N2_what_is_kept_of_one_comes_back_as_it_was, ()) {
  const auto any_claim = [] { return OperationNote::Claim{.id = any_id(), .token = any_count()}; };
  const OperationNote note{.operation = any_operation(),
                           .runner = *any_text(),
                           .start = *rc::gen::arbitrary<bool>(),
                           .cursor = *any_text(),
                           .at_end = *rc::gen::arbitrary<bool>(),
                           .flight = some(any_claim),
                           .watched = some(any_claim)};
  RC_ASSERT(read_operation_note(written(note)).value() == note);
}

TEST(OperationJson, a_request_comes_back_as_it_was) {
  const OperationRequest request{
      .query = "group:5d0f1e6cbb7a1e22",
      .options = {.canary = true, .stop_at = 0.2, .rate = 50, .cap = 1000, .reset = false},
      .reason = "mended",
      .start = true};
  EXPECT_EQ(read_operation_request(written(request)).value(), request);
}

TEST(OperationJson, says_what_is_wrong_with_a_request) {
  const auto expect_fault = [](const std::string& json, const char* message) {
    const auto read = read_operation_request(json);
    ASSERT_FALSE(read) << json;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument) << json;
    EXPECT_THAT(read.error().message, HasSubstr(message)) << json;
  };
  const auto with = [](const std::string& more) {
    return R"({"query":"state:dead",)" + more + "}";
  };
  expect_fault("{}", "say which");
  expect_fault(with(R"("ids":["0193e0a4-0000-7000-8000-000000000001"])"), "ids");
  expect_fault(R"({"ids":[]})", "names no task");
  expect_fault(with(R"("action":"destroy")"), "there are replay and discard");
  expect_fault(with(R"("stop_at":1.5)"), "no share from 0 to 1");
  expect_fault(with(R"("rate":0)"), "more than 0 a second");
  expect_fault(with(R"("cap":0)"), "leave it out for no cap");
  expect_fault(with(R"("insist":true)"), "insist");
  expect_fault(with(R"("action":"discard","canary":true)"), "belongs to a replay");
  expect_fault(with(R"("reason":")" + std::string(501, 'x') + '"'), "501 bytes, of at most 500");
  expect_fault(with(R"("canari":true)"), "canary");
}

TEST(OperationJson, what_is_not_said_at_the_start_stays_as_it_was) {
  const OperationRequest before{.query = "state:dead", .options = {.canary = true, .rate = 5}};
  EXPECT_EQ(read_operation_start("", before).value(), before);
  const auto read = read_operation_start(R"({"rate":7})", before);
  EXPECT_EQ(read->options.rate, 7);
  EXPECT_TRUE(read->options.canary);
  EXPECT_FALSE(read_operation_start(R"({"query":"state:failed"})", before));
}

TEST(OperationJson, what_cannot_be_read_of_the_store_is_corrupt) {
  for (const char* const text : {"", "{}", "[]", R"({"operation":{}})"}) {
    const auto read = read_operation_note(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << text;
  }
}

TEST(OperationJson, a_count_comes_back_as_it_was) {
  for (const TaskCount& count : {TaskCount{.count = 7, .looked = 9}, TaskCount{.next = "on"}})
    EXPECT_EQ(read_count(written(count)).value(), count);
}

}  // namespace
}  // namespace holdfast::wire::operation_json_test
