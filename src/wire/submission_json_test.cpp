#include "wire/submission_json.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::submission_json_test {
namespace {

using namespace std::chrono_literals;
using testing::written;

std::string error_of(std::string_view json) {
  const auto read = read_submission(json, {});
  if (read) return "was read";
  EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(read.error().operation, "read task");
  return read.error().message;
}

std::string payload_of(std::string_view fields) {
  const auto read = read_submission("{\"type\":\"t\"," + std::string(fields) + "}", {});
  return read ? read->payload : read.error().message;
}

TEST(SubmissionJson, every_field_is_read) {
  const auto read = read_submission(R"({
    "type": "mail.send", "queue": "mails", "payload": {"to": "ann"}, "priority": -5,
    "delay": "1m30s", "due": "2026-11-16T03:00:00.5Z", "deadline": "2026-11-17T03:00:00+01:00",
    "key": "order-17", "attempts": 3, "timeout": 2.5,
    "trace": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "retry_on_failure": true})",
                                    {});
  ASSERT_TRUE(read) << read.error().text();
  const WallTime due = std::chrono::sys_days(std::chrono::year(2026) / 11 / 16) + 3h + 500ms;
  EXPECT_EQ(*read, (Submission{.type = "mail.send",
                               .queue = "mails",
                               .payload = R"({"to": "ann"})",
                               .priority = -5,
                               .delay = 90s,
                               .due = due,
                               .deadline = due + 23h - 500ms,
                               .key = "order-17",
                               .attempts = 3,
                               .timeout = 2500ms,
                               .trace = std::string(testing::kTrace),
                               .retry_on_failure = true}));
}

TEST(SubmissionJson, C2_2_retry_on_failure_is_true_or_false_and_absent_means_false) {
  EXPECT_FALSE(read_submission(R"({"type":"t"})", {})->retry_on_failure);
  EXPECT_FALSE(read_submission(R"({"type":"t","retry_on_failure":null})", {})->retry_on_failure);
  EXPECT_NE(error_of(R"({"type":"t","retry_on_failure":"yes"})").find("retry_on_failure: "),
            std::string::npos);
}

TEST(SubmissionJson, only_the_type_must_be_given) {
  EXPECT_EQ(read_submission(R"({"type":"t"})", {}), Submission{.type = "t"});
  EXPECT_EQ(error_of("{}"), "type: is missing");
  EXPECT_EQ(error_of(R"({"type":null})"), "type: is missing");
}

TEST(SubmissionJson, null_is_a_field_left_out) {
  EXPECT_EQ(read_submission(R"({"type":"t","queue":null,"due":null,"delay":null,"attempts":null,
                                "payload_text":null,"trace":null})",
                            {}),
            Submission{.type = "t"});
}

TEST(SubmissionJson, whoever_reads_says_what_a_queue_is_that_is_not_named) {
  const auto read =
      read_submissions(R"([{"type":"t"},{"type":"t","queue":null},{"type":"t","queue":"default"}])",
                       {.unnamed_queue = "none"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at(0)->queue, "none");
  EXPECT_EQ(read->at(1)->queue, "none");
  EXPECT_EQ(read->at(2)->queue, "default");
}

TEST(SubmissionJson, a_key_may_be_written_with_escapes) {
  EXPECT_EQ(read_submission(R"({"\u0074ype":"t"})", {}), Submission{.type = "t"});
}

TEST(SubmissionJson, the_payload_is_kept_to_the_byte) {
  EXPECT_EQ(payload_of(R"("payload": 1e400 )"), "1e400");
  EXPECT_EQ(payload_of(R"("payload":12345678901234567890)"), "12345678901234567890");
  EXPECT_EQ(payload_of("\"payload\":\n [ 0.10 ,\t{ } ]\n "), "[ 0.10 ,\t{ } ]");
  EXPECT_EQ(payload_of(R"("payload":"\u0041")"), R"("\u0041")");
  EXPECT_EQ(payload_of(R"("payload":null)"), "null");
  EXPECT_EQ(payload_of(R"("payload":{"a":1,"a":2})"), R"({"a":1,"a":2})");  // its own business
}

TEST(SubmissionJson, a_payload_may_be_text_or_base64) {
  EXPECT_EQ(payload_of(R"("payload_text":"a\n\u00e9")"), "a\né");
  EXPECT_EQ(payload_of(R"("payload_base64":"/w==")"), "\xff");
  EXPECT_EQ(payload_of(R"("payload_text":"")"), "");
  EXPECT_EQ(payload_of(R"("payload_base64":"/w=")"),
            "payload_base64: \"/w=\": ends within a group of four at offset 3");
}

TEST(SubmissionJson, a_payload_has_one_form) {
  EXPECT_EQ(payload_of(R"("payload":null,"payload_text":"x")"),
            "payload_text: is given in another form too; give one of them");
}

TEST(SubmissionJson, spans_may_be_seconds) {
  const auto delay = [](std::string_view number) {
    return read_submission("{\"type\":\"t\",\"delay\":" + std::string(number) + "}", {})
        .value()
        .delay;
  };
  EXPECT_EQ(delay("30"), 30s);
  EXPECT_EQ(delay("0.1"), 100ms);
  EXPECT_EQ(delay("1e-05"), 10us);
  EXPECT_EQ(delay("0.30000000000000004"), 300ms);  // as 0.1 + 0.2 comes from many a language
  EXPECT_EQ(delay("123456789.25"), 123456789s + 250ms);
  EXPECT_EQ(delay("-0"), 0s);
  EXPECT_EQ(error_of(R"({"type":"t","delay":-1})"), "delay: -1 is negative");
  EXPECT_EQ(error_of(R"({"type":"t","delay":1e300})"),
            "delay: 1e300 seconds are more than 292 years");
  EXPECT_EQ(error_of(R"({"type":"t","delay":1e400})"),
            "delay: a number of seconds is expected, not 1e400");
}

TEST(SubmissionJson, errors_say_which_field_what_was_found_and_what_is_expected) {
  EXPECT_EQ(error_of(R"({"type":"t","delay":"30 secs"})"),
            "delay: \"30 secs\": unknown unit \"secs\" at offset 3; use ns, us, ms, s, m, h or d");
  EXPECT_EQ(error_of(R"({"type":5})"), "type: a text is expected, not 5");
  EXPECT_EQ(error_of(R"({"type":"t","priority":"high"})"),
            "priority: a whole number is expected, not the text \"high\"");
  EXPECT_EQ(error_of(R"({"type":"t","priority":1.5})"),
            "priority: a whole number is expected, not 1.5");
  EXPECT_EQ(error_of(R"({"type":"t","priority":99999999999})"),
            "priority: a whole number from -2147483648 to 2147483647 is expected, not 99999999999");
  EXPECT_EQ(error_of(R"({"type":"t","queue":["q"]})"), "queue: a text is expected, not an array");
  EXPECT_EQ(error_of(R"({"type":"t","due":17})"),
            "due: a time (\"2026-03-01T12:34:56Z\") is expected, not 17");
  EXPECT_NE(
      error_of(R"({"type":"t","deadline":"soon"})").find("deadline: \"soon\": expected a year"),
      std::string::npos);
  EXPECT_NE(error_of(R"({"type":"t","trace":"00-12"})").find("trace: \"00-12\" is no W3C"),
            std::string::npos);
  EXPECT_EQ(error_of("17"), "an object is expected, not 17");
}

TEST(SubmissionJson, an_unknown_field_is_refused_with_the_nearest_known_one) {
  EXPECT_EQ(error_of(R"({"type":"t","prority":1})"),
            "unknown field \"prority\"; did you mean \"priority\"?");
  EXPECT_NE(error_of(R"({"type":"t","zebra":1})").find("known are type, queue, payload"),
            std::string::npos);
}

TEST(SubmissionJson, what_is_no_json_is_refused_with_line_and_column) {
  EXPECT_EQ(error_of("{\"type\":\"t\",\n \"delay\" 5}"), "line 2, column 10: unexpected \"5\"");
  EXPECT_EQ(error_of(R"({"type":"t"} x)"),
            "line 1, column 14: unexpected \"x\" after the end of the document");
  EXPECT_EQ(error_of(R"({"type":"t","type":"t"})"), "type: is given twice");
  const auto deep = read_submission(R"({"type":"t","payload":[[[]]]})", {.most_depth = 3});
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message, "line 1, column 25: nested deeper than 3");
}

TEST(SubmissionJson, one_object_is_one_entry) {
  const auto read = read_submissions(R"( {"type":"t","key":5})", {});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1);
  EXPECT_EQ(read->front().error().message, "key: a text is expected, not 5");
  EXPECT_FALSE(is_array(R"( {"type":"t"})"));
}

TEST(SubmissionJson, each_entry_of_an_array_has_its_own_error) {
  constexpr std::string_view kJson =
      R"([{"type":"a"}, {"type":"b","delay":"x","payload":[1]}, 7, {"type":"d"},{}])";
  const auto read = read_submissions(kJson, {});
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 5);
  EXPECT_TRUE(is_array(kJson));
  EXPECT_EQ((*read)[0], Submission{.type = "a"});
  EXPECT_EQ((*read)[1].error().message, "[1].delay: \"x\": expected a number at offset 0");
  EXPECT_EQ((*read)[2].error().message, "[2]: an object is expected, not 7");
  EXPECT_EQ((*read)[3], Submission{.type = "d"});
  EXPECT_EQ((*read)[4].error().message, "[4].type: is missing");
}

TEST(SubmissionJson, an_array_fails_as_a_whole_for_what_concerns_all_of_it) {
  const auto error = [](std::string_view json) {
    const auto read = read_submissions(json, {.most_entries = 2});
    return read ? "was read" : read.error().message;
  };
  EXPECT_EQ(error(R"([{"type":"a"},{"type":"b"},{"type":"c"}])"), "more than 2 tasks");
  EXPECT_EQ(error(R"([{"type":"a"},{"type":"b","typo":1,"key":"x","key":"y"}])"),
            "[1].key: is given twice");
  EXPECT_EQ(error(R"([{"type":"a"},])"), "line 1, column 15: unexpected \"]\"");
  EXPECT_EQ(error(R"([{"type":"a"},{"type":"b"}])"), "was read");
  EXPECT_EQ(error("[]"), "was read");
}

TEST(SubmissionJson, what_goes_without_saying_is_not_written) {
  EXPECT_EQ(written(Submission{.type = "t"}), R"({"type":"t"})");
  EXPECT_EQ(written(std::span<const Submission>()), "[]");
}

RC_GTEST_PROP(SubmissionJson, payloads_of_any_bytes_come_back, ()) {
  const Submission submission{.type = "t", .payload = *testing::any_payload()};
  RC_ASSERT(read_submission(written(submission), {}).value() == submission);
}

RC_GTEST_PROP(SubmissionJson, a_payload_of_json_is_written_as_it_is, ()) {
  const std::string payload = testing::any_json();
  RC_ASSERT(written(Submission{.type = "t", .payload = payload}) ==
            R"({"type":"t","payload":)" + payload + "}");
}

TEST(SubmissionJson, payloads_that_could_change_on_the_way_are_written_as_text) {
  const auto text = [](std::string payload) {
    return written(Submission{.type = "t", .payload = std::move(payload)});
  };
  EXPECT_EQ(text(" 1"), R"({"type":"t","payload_text":" 1"})");
  EXPECT_EQ(text("[]\n"), R"({"type":"t","payload_text":"[]\n"})");
  EXPECT_EQ(text("\xff"), R"({"type":"t","payload_base64":"/w=="})");
  const std::string deep = std::string(65, '[') + std::string(65, ']');
  EXPECT_EQ(text(deep), R"({"type":"t","payload_text":")" + deep + "\"}");
  const std::string deepest = deep.substr(1, 128);
  EXPECT_EQ(text(deepest), R"({"type":"t","payload":)" + deepest + "}");
}

RC_GTEST_PROP(SubmissionJson, a_written_submission_reads_back_as_itself, ()) {
  using testing::maybe;
  std::vector<Submission> all(*rc::gen::inRange<std::size_t>(0, 4));
  for (Submission& each : all) {
    each = {.type = *testing::any_text(),
            .queue = *testing::any_text(),
            .payload = *testing::any_payload(),
            .priority = *rc::gen::arbitrary<int>(),
            .delay = *testing::any_span(),
            .due = maybe(testing::any_time()),
            .deadline = maybe(testing::any_time()),
            .key = *testing::any_text(),
            .attempts = maybe(rc::gen::arbitrary<int>()),
            .timeout = maybe(testing::any_span()),
            .trace = *rc::gen::element(std::string(), std::string(testing::kTrace)),
            .retry_on_failure = *rc::gen::arbitrary<bool>()};
  }
  const auto read = read_submissions(written(std::span<const Submission>(all)), {}).value();
  RC_ASSERT(read.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    RC_ASSERT(read[i].value() == all[i]);
}

}  // namespace
}  // namespace holdfast::wire::submission_json_test
