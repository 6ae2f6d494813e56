#include "wire/answer_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::wire::answer_shape_test {
namespace {

using ::testing::HasSubstr;

TaskInfo a_task() {
  TaskInfo task;
  task.id = TaskId::parse("01a1e30e-9e7d-7164-bbe4-996adc3be9c7").value();
  task.type = "relay.direct";
  task.queue = "relay";
  task.payload = R"({"to":"0xabc","deep":{"er":[1, 2]}})";
  task.state = TaskState::failed;
  task.attempts = 3;
  task.last_failure = Failure{.message = "[NON_RETRYABLE] insufficient \"funds\""};
  task.retry_on_failure = true;
  return task;
}

std::string filled(std::string_view json, const TaskInfo& task = a_task()) {
  return AnswerShape::parse(json).value().fill({.task = task});
}

// The shape of the relayer's answers.
TEST(AnswerShape, a_text_that_is_one_place_becomes_the_value_itself) {
  EXPECT_EQ(filled(R"({"id":"{id}","status":"{state}","error_message":"{error}",)"
                   R"("retryOnFailure":"{retry_on_failure}","attempts":"{attempts}"})"),
            R"({"id":"01a1e30e-9e7d-7164-bbe4-996adc3be9c7","status":"failed",)"
            R"("error_message":"[NON_RETRYABLE] insufficient \"funds\"",)"
            R"("retryOnFailure":true,"attempts":3})");
}

TEST(AnswerShape, what_is_not_there_is_null) {
  TaskInfo task = a_task();
  task.last_failure.reset();
  EXPECT_EQ(filled(R"({"a":"{error}","b":"{dead_reason}","c":"{deadline}","d":"{result}",)"
                   R"("e":"{key}","f":"{result.hash}"})",
                   task),
            R"({"a":null,"b":null,"c":null,"d":null,"e":null,"f":null})");
}

TEST(AnswerShape, a_success_has_no_error_whatever_went_before) {
  TaskInfo task = a_task();
  task.state = TaskState::succeeded;
  EXPECT_EQ(filled(R"({"e":"{error}"})", task), R"({"e":null})");
}

TEST(AnswerShape, places_within_a_text_are_part_of_it) {
  EXPECT_EQ(
      filled(R"({"see":"/relay/{id}/{attempts}","none":"<{key}>","brace":"{{id}}"})"),
      R"({"see":"/relay/01a1e30e-9e7d-7164-bbe4-996adc3be9c7/3","none":"<>","brace":"{id}"})");
}

TEST(AnswerShape, looks_into_payload_and_result) {
  TaskInfo task = a_task();
  task.result = R"({"hash":"0x12","n":1.50})";
  EXPECT_EQ(filled(R"(["{payload.to}","{payload.deep.er}","{payload.none}","{result.n}"])", task),
            R"(["0xabc",[1, 2],null,1.50])");
  task.payload = "no json";
  task.result = "\xff";
  EXPECT_EQ(filled(R"(["{payload}","{payload.to}","{result}"])", task),
            R"(["no json",null,"\\xff"])");
}

TEST(AnswerShape, what_is_no_place_stays_as_it_is) {
  EXPECT_EQ(filled(R"({"a":[1,true,null,"x\ny",{}],"b":{"c":"{type}"}})"),
            R"({"a":[1,true,null,"x\ny",{}],"b":{"c":"relay.direct"}})");
  EXPECT_EQ(AnswerShape().fill({.task = a_task()}), "{}");
}

TEST(AnswerShape, says_which_place_there_is_not) {
  EXPECT_THAT(AnswerShape::parse(R"({"s":"{stat}"})").error(),
              HasSubstr(R"(there is no "stat" of a task; did you mean "state"?)"));
  EXPECT_THAT(AnswerShape::parse(R"({"s":"x {nothing}"})").error(), HasSubstr("nothing"));
  EXPECT_THAT(AnswerShape::parse(R"({"s":"x {id"})").error(), HasSubstr("not closed"));
}

TEST(AnswerShape, says_whether_a_key_was_known) {
  const AnswerShape shape = AnswerShape::parse(R"({"e":"{existed}","o":"{outbound}"})").value();
  const TaskInfo task = a_task();
  EXPECT_EQ(shape.fill({.task = task, .existed = true}), R"({"e":true,"o":false})");
}

TEST(AnswerShape, writes_the_schema_of_what_it_makes) {
  std::string out;
  JsonWriter writer(out);
  AnswerShape::parse(R"({"e":"{error}","n":"{attempts}","t":"no. {id}","c":7,"p":"{payload.x}"})")
      .value()
      .write_schema(writer);
  EXPECT_EQ(out, R"({"type":"object","properties":{"e":{"type":["string","null"]},)"
                 R"("n":{"type":"integer"},"t":{"type":"string"},"c":{"const":7},"p":{}},)"
                 R"("required":["e","n","t","c","p"]})");
}

}  // namespace
}  // namespace holdfast::wire::answer_shape_test
