// What an operator sees in the log of a classification (C1.1–C1.8, C6.1).
#include <cerrno>
#include <map>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

namespace holdfast::classifier_log_test {
namespace {

using namespace std::chrono_literals;
using enum VerdictKind;

struct Line {
  Level level;
  std::string event;
  std::string message;
  std::map<std::string, std::string, std::less<>> texts;
  std::optional<Duration> wait;
};

class Capture final : public LogSink {
 public:
  void write(const LogRecord& record) noexcept override {
    Line line{record.level, std::string(record.event), std::string(record.message), {}, {}};
    for (const Field& field : record.fields) {
      if (const auto* text = std::get_if<std::string_view>(&field.value())) {
        line.texts.emplace(field.name(), *text);
      } else if (const auto* span = std::get_if<Duration>(&field.value())) {
        line.wait = *span;
      }
    }
    lines.push_back(std::move(line));
  }
  std::vector<Line> lines;
};

class ClassifierLog : public ::testing::Test {
 protected:
  Line logged(const FailureView& failure) {
    capture_.lines.clear();
    const Classification result = classifier_.classify(failure, Logger(capture_));
    EXPECT_EQ(result, classifier_.classify(failure));
    EXPECT_EQ(capture_.lines.size(), 1);
    return capture_.lines.empty() ? Line{} : capture_.lines.front();
  }

  Capture capture_;
  Classifier classifier_ =
      Classifier::make({{.name = "funds", .pattern = "insufficient funds", .verdict = give_up},
                        {.name = "slow", .pattern = "network timeout", .verdict = retry},
                        {.name = "nonce", .pattern = "nonce too low", .verdict = ambiguous},
                        {.name = "known", .pattern = "already known", .verdict = success},
                        {.name = "limit", .http_status = {429}, .verdict = throttle, .wait = 3s},
                        {.name = "client", .http_status = {400}, .verdict = give_up},
                        {.name = "temp", .exit_codes = {75}, .verdict = retry},
                        {.name = "reset", .os_errors = {ECONNRESET}, .verdict = retry},
                        {.name = "late", .kind = FailureKind::timeout, .verdict = retry}})
          .value();
};

// C1.1–C1.4: the phrase; C6.1: a warning, with category and error text.
TEST_F(ClassifierLog, C1_1_non_retryable_is_a_warning_that_names_the_pattern_match) {
  Line line = logged({"insufficient funds for gas"});
  EXPECT_EQ(line.level, Level::warning);
  EXPECT_EQ(line.event, "classify");
  EXPECT_EQ(line.message, "[NON_RETRYABLE] Pattern match");
  EXPECT_EQ(line.texts["category"], "NON_RETRYABLE");
  EXPECT_EQ(line.texts["verdict"], "give up");
  EXPECT_EQ(line.texts["rule"], "funds");
  EXPECT_EQ(line.texts["error"], "insufficient funds for gas");
}

// C1.6: the phrase; C6.1: information.
TEST_F(ClassifierLog, C1_6_retryable_is_information) {
  Line line = logged({"network timeout"});
  EXPECT_EQ(line.level, Level::info);
  EXPECT_EQ(line.message, "[RETRYABLE] Pattern match");
  EXPECT_EQ(line.texts["category"], "RETRYABLE");
}

// C1.8
TEST_F(ClassifierLog, C1_8_unknown_is_the_default_classification) {
  Line line = logged({"no idea"});
  EXPECT_EQ(line.level, Level::info);
  EXPECT_EQ(line.message, "[RETRYABLE] Default classification");
  EXPECT_EQ(line.texts["error"], "no idea");
  EXPECT_FALSE(line.texts.contains("rule"));
}

TEST_F(ClassifierLog, C6_1_other_grounds_are_named_with_their_value) {
  EXPECT_EQ(logged({.message = "Bad Request", .http_status = 400}).message,
            "[NON_RETRYABLE] HTTP status 400");
  EXPECT_EQ(logged({.message = "", .exit_code = 75}).message, "[RETRYABLE] Exit code 75");
  EXPECT_EQ(logged({.message = "", .os_error = ECONNRESET}).message,
            "[RETRYABLE] OS error " + std::to_string(ECONNRESET));
  EXPECT_EQ(logged({.message = "", .kind = FailureKind::timeout}).message,
            "[RETRYABLE] Kind timeout");
}

TEST_F(ClassifierLog, ambiguous_is_a_warning_and_success_is_not) {
  Line nonce = logged({"nonce too low"});
  EXPECT_EQ(nonce.level, Level::warning);
  EXPECT_EQ(nonce.message, "[AMBIGUOUS] Pattern match");
  Line known = logged({"already known"});
  EXPECT_EQ(known.level, Level::info);
  EXPECT_EQ(known.message, "[SUCCESS] Pattern match");
}

TEST_F(ClassifierLog, a_throttle_names_its_wait) {
  Line line = logged({.message = "", .http_status = 429});
  EXPECT_EQ(line.message, "[RETRYABLE] HTTP status 429");
  EXPECT_EQ(line.texts["verdict"], "throttle");
  EXPECT_EQ(line.wait, 3s);
}

TEST_F(ClassifierLog, a_huge_error_text_is_cut) {
  EXPECT_EQ(logged({std::string(10 << 20, 'x')}).texts["error"].size(), 500);
}

TEST_F(ClassifierLog, nothing_is_logged_below_the_level_or_without_a_sink) {
  static_cast<void>(
      classifier_.classify({"network timeout"}, Logger(capture_, system_clock(), Level::warning)));
  static_cast<void>(classifier_.classify({"insufficient funds"}, Logger()));
  EXPECT_TRUE(capture_.lines.empty());
}

}  // namespace
}  // namespace holdfast::classifier_log_test
