#include "wire/problem.hpp"

#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::problem_test {
namespace {

using testing::written;

Problem any_problem() {
  Problem problem{.type = *testing::any_text(),
                  .title = *testing::any_text(),
                  .status = *rc::gen::arbitrary<int>(),
                  .detail = *testing::any_text(),
                  .instance = *testing::any_text()};
  problem.errors.resize(*rc::gen::inRange<std::size_t>(0, 3));
  for (Problem::Part& part : problem.errors)
    part = {.where = *testing::any_text(), .detail = *testing::any_text()};
  return problem;
}

TEST(Problem, each_code_has_its_status_and_type) {
  const auto status = [](ErrorCode code) {
    const Problem problem = problem_of({code, "submit", "why"});
    EXPECT_EQ(problem.detail, "submit: why");
    EXPECT_FALSE(problem.title.empty());
    EXPECT_EQ(error_of(problem, "submit").code, code);
    return std::to_string(problem.status) + " " + problem.type;
  };
  EXPECT_EQ(status(ErrorCode::invalid_argument), "400 urn:holdfast:invalid-argument");
  EXPECT_EQ(status(ErrorCode::not_found), "404 urn:holdfast:not-found");
  EXPECT_EQ(status(ErrorCode::conflict), "409 urn:holdfast:conflict");
  EXPECT_EQ(status(ErrorCode::unavailable), "503 urn:holdfast:unavailable");
  EXPECT_EQ(status(ErrorCode::timeout), "504 urn:holdfast:timeout");
  EXPECT_EQ(status(ErrorCode::canceled), "409 urn:holdfast:canceled");
  EXPECT_EQ(status(ErrorCode::exhausted), "507 urn:holdfast:exhausted");
  EXPECT_EQ(status(ErrorCode::overloaded), "429 urn:holdfast:overloaded");
  EXPECT_EQ(status(ErrorCode::corrupt), "500 urn:holdfast:corrupt");
  EXPECT_EQ(status(ErrorCode::internal), "500 urn:holdfast:internal");
}

TEST(Problem, a_problem_of_others_becomes_the_nearest_code) {
  const auto code = [](int status) { return error_of({.status = status}, "submit").code; };
  EXPECT_EQ(code(401), ErrorCode::invalid_argument);
  EXPECT_EQ(code(413), ErrorCode::invalid_argument);
  EXPECT_EQ(code(404), ErrorCode::not_found);
  EXPECT_EQ(code(408), ErrorCode::timeout);
  EXPECT_EQ(code(429), ErrorCode::overloaded);
  EXPECT_EQ(code(502), ErrorCode::unavailable);
  EXPECT_EQ(code(500), ErrorCode::internal);
  EXPECT_EQ(error_of({.title = "Too Many"}, "list"),
            (Error{ErrorCode::internal, "list", "Too Many"}));
}

TEST(Problem, is_written_as_rfc_9457_says) {
  EXPECT_EQ(written(Problem{.type = "urn:holdfast:invalid-argument",
                            .title = "T",
                            .status = 400,
                            .detail = "D",
                            .errors = {{.where = "[3].delay", .detail = "why"}}}),
            R"({"type":"urn:holdfast:invalid-argument","title":"T","status":400,"detail":"D",)"
            R"("errors":[{"where":"[3].delay","detail":"why"}]})");
}

TEST(Problem, every_member_may_be_missing) {
  EXPECT_EQ(read_problem("{}"), Problem{});
  EXPECT_FALSE(read_problem("[]"));
}

RC_GTEST_PROP(Problem, a_written_problem_reads_back_as_itself, ()) {
  const Problem problem = any_problem();
  RC_ASSERT(read_problem(written(problem)).value() == problem);
}

RC_GTEST_PROP(Problem, written_answers_read_back_as_themselves, ()) {
  std::vector<Answer> answers;
  for (int left = *rc::gen::inRange(0, 4); left > 0; --left) {
    if (*rc::gen::arbitrary<bool>()) {
      answers.emplace_back(Accepted{.id = testing::any_id(),
                                    .existed = *rc::gen::arbitrary<bool>(),
                                    .outbound = *rc::gen::arbitrary<bool>()});
    } else {
      answers.emplace_back(std::unexpected(any_problem()));
    }
  }
  RC_ASSERT(read_answers(written(std::span<const Answer>(answers))).value() == answers);
}

TEST(Problem, an_answer_is_an_id_or_a_problem) {
  EXPECT_EQ(read_answers("{}").error().message, "an array is expected, not an object");
  EXPECT_EQ(read_answers(R"([{"problem":{}},{}])").error().message,
            "[1]: neither an id nor a problem");
  EXPECT_EQ(read_answers(R"([{"problem":{"status":"x"}}])").error().message,
            "[0].problem.status: a whole number is expected, not the text \"x\"");
}

}  // namespace
}  // namespace holdfast::wire::problem_test
