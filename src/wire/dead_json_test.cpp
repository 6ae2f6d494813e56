#include "wire/dead_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::dead_json_test {
namespace {

using ::testing::HasSubstr;
using testing::written;

const TaskId kId = TaskId::parse("01930000-0000-7000-8000-000000000001").value();

TEST(DeadJson, requests_come_back_as_they_were) {
  const DeadRequest by_id{
      .ids = {kId, kId}, .insist = true, .deadline = WallTime(std::chrono::hours(1))};
  EXPECT_EQ(read_dead_request(written(by_id)), by_id);
  const DeadRequest matching{
      .filter = DeadFilter{.state = TaskState::failed, .queue = "q", .type = "t", .group = "g"},
      .limit = 7,
      .cursor = "c"};
  EXPECT_EQ(read_dead_request(written(matching)), matching);
  EXPECT_EQ(read_dead_request(R"({"filter":{}})"), (DeadRequest{.filter = DeadFilter()}));
}

TEST(DeadJson, answers_come_back_as_they_were) {
  const DeadAnswer answer{
      .done = 998,
      .refused = {{.id = kId,
                   .problem = {.title = "Conflict", .status = 409, .detail = "is running"}}},
      .next = "x"};
  EXPECT_EQ(read_dead_answer(written(answer)), answer);
  EXPECT_EQ(read_dead_answer(R"({"done":3,"newer":1})"), (DeadAnswer{.done = 3}));
  EXPECT_FALSE(read_dead_answer(R"({"refused":[]})"));
}

TEST(DeadJson, says_what_is_wrong_with_a_request) {
  const auto wrong = [](std::string_view json) {
    const auto read = read_dead_request(json);
    return read ? std::string("nothing") : read.error().message;
  };
  EXPECT_THAT(wrong("{}"), HasSubstr("say which"));
  EXPECT_THAT(wrong(R"({"ids":[]})"), HasSubstr("names no task"));
  EXPECT_THAT(wrong(R"({"ids":["x"]})"), HasSubstr("ids[0]"));
  EXPECT_THAT(wrong(R"({"filter":{"state":"running"}})"), HasSubstr("dead or failed"));
  EXPECT_THAT(wrong(R"({"filter":{"grop":"a"}})"), HasSubstr("did you mean \"group\""));
  EXPECT_THAT(wrong(R"({"filter":{},"limit":1001})"), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(wrong(R"({"filter":{},"insist":true})"), HasSubstr("looked at"));
  EXPECT_THAT(wrong(R"({"ids":["01930000-0000-7000-8000-000000000001"],"cursor":"c"})"),
              HasSubstr("goes with \"filter\""));
  EXPECT_THAT(wrong(R"({"ids":["01930000-0000-7000-8000-000000000001"],"filter":{}})"),
              HasSubstr("filter"));
}

}  // namespace
}  // namespace holdfast::wire::dead_json_test
