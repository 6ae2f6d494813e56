#include "wire/json_writer.hpp"

#include <chrono>
#include <limits>

#include <gtest/gtest.h>

namespace holdfast::wire::json_writer_test {
namespace {

using namespace std::chrono_literals;

template <class Write>
std::string text_of(Write write) {
  std::string out;
  JsonWriter writer(out);
  write(writer);
  return out;
}

TEST(JsonWriter, sets_commas_between_members_and_elements) {
  EXPECT_EQ(text_of([](JsonWriter& w) {
              w.begin_object().key("a").number(1).key("b").begin_array().text("x").null();
              w.begin_object().end_object().boolean(true).end_array().key("c").raw("[ 1 ]");
              w.end_object();
            }),
            R"({"a":1,"b":["x",null,{},true],"c":[ 1 ]})");
}

TEST(JsonWriter, escapes_keys_and_texts) {
  EXPECT_EQ(text_of([](JsonWriter& w) { w.begin_object().key("a\"b").text("c\n\\").end_object(); }),
            R"({"a\"b":"c\n\\"})");
}

TEST(JsonWriter, writes_every_number_in_full) {
  EXPECT_EQ(text_of([](JsonWriter& w) {
              w.begin_array();
              w.number(std::numeric_limits<std::int64_t>::min());
              w.number(std::numeric_limits<std::uint64_t>::max());
              w.number(0.1).number(-2.5).number(1e300).end_array();
            }),
            "[-9223372036854775808,18446744073709551615,0.1,-2.5,1e+300]");
}

TEST(JsonWriter, writes_null_where_json_has_no_number) {
  EXPECT_EQ(text_of([](JsonWriter& w) {
              w.begin_array().number(std::numeric_limits<double>::infinity());
              w.number(std::numeric_limits<double>::quiet_NaN()).end_array();
            }),
            "[null,null]");
}

TEST(JsonWriter, writes_times_spans_and_words_as_the_outside_face_has_them) {
  EXPECT_EQ(text_of([](JsonWriter& w) {
              w.begin_array().time(WallTime(123456789ns)).duration(1500ms).word("out of attempts");
              w.end_array();
            }),
            R"(["1970-01-01T00:00:00.123456Z","1.5s","out_of_attempts"])");
}

TEST(JsonWriter, writes_nothing_that_no_reader_takes) {
  EXPECT_EQ(text_of([](JsonWriter& w) { w.time(WallTime::min()); }),
            R"("1678-01-01T00:00:00.000000Z")");
  EXPECT_EQ(text_of([](JsonWriter& w) { w.duration(-5s); }), R"("0s")");
}

}  // namespace
}  // namespace holdfast::wire::json_writer_test
