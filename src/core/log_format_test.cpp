#include "core/log_format.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/json_text.hpp"
#include "core/time_text.hpp"

namespace holdfast::log_format_test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr WallTime kTime{1772368496789ms};  // 2026-03-01T12:34:56.789Z

std::string json_line(std::string_view event, std::string_view message,
                      const std::vector<Field>& fields = {}) {
  std::string out;
  append_json_line(out, {kTime, Level::info, event, message, fields});
  return out;
}

std::string console_line(std::string_view event, std::string_view message,
                         const std::vector<Field>& fields = {}, bool colour = false,
                         Level level = Level::info) {
  std::string out;
  append_console_line(out, {kTime, level, event, message, fields}, colour);
  return out;
}

// The fields of a JSON line, without the four keys before them.
std::string json_fields(const std::vector<Field>& fields) {
  const std::string line = json_line("e", "m", fields);
  const std::string start =
      R"({"time":"2026-03-01T12:34:56.789Z","level":"info","event":"e","message":"m",)";
  EXPECT_TRUE(line.starts_with(start)) << line;
  EXPECT_TRUE(line.ends_with("}\n")) << line;
  return line.substr(start.size(), line.size() - start.size() - 2);
}

std::string console_fields(const std::vector<Field>& fields) {
  const std::string line = console_line("e", "m", fields);
  const std::string start = "12:34:56.789 info     e                    m  ";
  EXPECT_TRUE(line.starts_with(start)) << line;
  EXPECT_TRUE(line.ends_with('\n')) << line;
  return line.substr(start.size(), line.size() - start.size() - 1);
}

TEST(TimeText, is_utc_and_cut_to_the_millisecond) {
  const auto text = [](WallTime time) {
    std::string out;
    append_rfc3339(out, time);
    return out;
  };
  EXPECT_EQ(text(kTime), "2026-03-01T12:34:56.789Z");
  EXPECT_EQ(text(kTime + 999999ns), "2026-03-01T12:34:56.789Z");
  EXPECT_EQ(text(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(text(WallTime{-1ns}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(text(WallTime{951782400s}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(text(WallTime::max()), "2262-04-11T23:47:16.854Z");
  EXPECT_EQ(text(WallTime::min()), "1677-09-21T00:12:43.145Z");
}

TEST(LogFormat, a_json_line_has_time_level_event_message_and_typed_fields) {
  EXPECT_EQ(json_line("retry.wait", "Waiting"),
            R"({"time":"2026-03-01T12:34:56.789Z","level":"info","event":"retry.wait",)"
            "\"message\":\"Waiting\"}\n");
  EXPECT_EQ(json_fields({{"ok", true}, {"n", -3}, {"big", ~std::uint64_t{0}}, {"rate", 0.25}}),
            R"("ok":true,"n":-3,"big":18446744073709551615,"rate":0.25)");
  EXPECT_EQ(json_fields({{"error", "no \"route\""}, {"empty", ""}}),
            R"("error":"no \"route\"","empty":"")");
}

TEST(LogFormat, durations_are_exact_seconds_in_json_and_words_on_a_console) {
  EXPECT_EQ(json_fields({{"wait", 1500ms}}), R"("wait":1.5)");
  EXPECT_EQ(json_fields({{"wait", 2s}}), R"("wait":2)");
  EXPECT_EQ(json_fields({{"wait", 100s}}), R"("wait":100)");
  EXPECT_EQ(json_fields({{"wait", 1ns}}), R"("wait":0.000000001)");
  EXPECT_EQ(json_fields({{"wait", -1500ms}}), R"("wait":-1.5)");
  EXPECT_EQ(json_fields({{"wait", Duration::min()}}), R"("wait":-9223372036.854775808)");
  EXPECT_EQ(console_fields({{"wait", 90s}}), "wait=1m30s");
}

TEST(LogFormat, numbers_that_json_lacks_become_strings) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(json_fields({{"a", inf}, {"b", -inf}, {"c", nan}, {"d", -nan}, {"e", 1e300}}),
            R"("a":"inf","b":"-inf","c":"nan","d":"nan","e":1e+300)");
}

TEST(LogFormat, no_key_comes_twice) {
  EXPECT_EQ(json_fields({{"time", 1}, {"level", 2}, {"x", 3}, {"x", 4}, {"x_", 5}, {"x", 6}}),
            R"("time_":1,"level_":2,"x":3,"x_":4,"x__":5,"x___":6)");
  EXPECT_EQ(json_fields({{"\xff", 1}, {R"(\xff)", 2}}), R"("\\xff":1,"\\xff_":2)");
}

TEST(LogFormat, the_keys_of_a_line_do_not_depend_on_what_stands_before_it) {
  std::string out = "before\n";
  append_json_line(out, {kTime, Level::info, "e", "m", {}});
  EXPECT_EQ(out, "before\n" + json_line("e", "m"));
}

TEST(LogFormat, secret_fields_are_never_printed) {
  const std::string token = "hunter2";
  EXPECT_EQ(json_fields({Field::secret("token", token)}), R"("token":"***")");
  EXPECT_EQ(console_fields({Field::secret("token", token)}), "token=***");
}

TEST(LogFormat, one_record_is_one_line) {
  const std::string evil = "a\nb\r\x1b[2J\0\x7f\u0085\u2028\u202e\xff"s;
  for (const std::string& line :
       {json_line(evil, evil, {{evil, evil}}), console_line(evil, evil, {{evil, evil}})}) {
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
    EXPECT_TRUE(is_visible(std::string_view(line).substr(0, line.size() - 1))) << line;
  }
}

TEST(LogFormat, long_texts_are_cut_between_characters_and_say_how_much_is_missing) {
  const std::string exact(kLogTextBytes, 'x');
  EXPECT_EQ(json_fields({{"f", exact}}), "\"f\":\"" + exact + "\"");
  EXPECT_EQ(json_fields({{"f", exact + "12"}}), "\"f\":\"" + exact + "…(+2 bytes)\"");
  EXPECT_EQ(console_fields({{"f", exact + "12"}}), "f=" + exact + "…(+2 bytes)");
  const std::string before(kLogTextBytes - 1, 'x');
  EXPECT_EQ(json_fields({{"f", before + "é"}}), "\"f\":\"" + before + "…(+2 bytes)\"");
  EXPECT_NE(json_line("e", exact + "123").find("…(+3 bytes)"), std::string::npos);
  const std::string name(kLogNameBytes, 'n');
  EXPECT_EQ(json_fields({{name + "abc", 1}}), "\"" + name + "…(+3 bytes)\":1");
}

TEST(LogFormat, a_console_line_has_columns) {
  EXPECT_EQ(console_line("retry.wait", "Waiting", {{"attempt", 2}, {"error", "no route"}}),
            "12:34:56.789 info     retry.wait           Waiting  attempt=2 error=\"no route\"\n");
  EXPECT_EQ(console_line("breaker.opened", "Opened", {}, false, Level::critical),
            "12:34:56.789 critical breaker.opened       Opened\n");
  EXPECT_EQ(console_line("an.event.name.longer.than.its.column", "M"),
            "12:34:56.789 info     an.event.name.longer.than.its.column M\n");
  EXPECT_EQ(console_line("e", ""), "12:34:56.789 info     e\n");
}

TEST(LogFormat, a_console_value_is_quoted_where_it_would_not_be_clear) {
  EXPECT_EQ(console_fields({{"a", "plain"}, {"b", ""}, {"c", "x=y"}, {"d", "say \"hi\""}}),
            R"(a=plain b="" c="x=y" d="say \"hi\"")");
  EXPECT_EQ(console_fields({{"a", "a\nb"}, {"b", R"(a\nb)"}}), R"(a="a\nb" b="a\\nb")");
  EXPECT_EQ(console_fields({{"a b", true}}), R"("a b"=true)");
}

TEST(LogFormat, colours_mark_level_and_names_and_are_closed_before_the_line_ends) {
  EXPECT_EQ(console_line("e", "m", {{"k", 1}}, true, Level::error),
            "\x1b[2m12:34:56.789\x1b[0m \x1b[31merror\x1b[0m    "
            "\x1b[36me\x1b[0m                    m  \x1b[2mk=\x1b[0m1\n");
}

RC_GTEST_PROP(LogFormat, any_bytes_give_one_line, (const std::string& a, const std::string& b)) {
  for (const std::string& line :
       {json_line(a, b, {{a, b}, {b, a}}), console_line(a, b, {{a, b}, {b, a}})}) {
    RC_ASSERT(line.ends_with('\n'));
    RC_ASSERT(is_visible(std::string_view(line).substr(0, line.size() - 1)));
  }
}

}  // namespace
}  // namespace holdfast::log_format_test
