#include "wire/body_map.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/json_syntax.hpp"

namespace holdfast::wire::body_map_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kDepth = 32;
constexpr std::string_view kAddress = "0x00000000219ab540356cBB839Cbe05303d7705Fa";

BodyMap made(std::vector<BodyField> fields, UnknownFields unknown = UnknownFields::refuse) {
  return BodyMap::make(std::move(fields), unknown).value();
}

// "where: detail" of everything that is wrong.
std::vector<std::string> wrongs(const BodyMap& map, std::string_view body) {
  const auto read = map.read(body, kDepth);
  std::vector<std::string> all;
  if (read) return all;
  for (const Problem::Part& part : read.error())
    all.push_back(part.where + ": " + part.detail);
  return all;
}

std::string payload(const BodyMap& map, std::string_view body) {
  const auto read = map.read(body, kDepth);
  EXPECT_TRUE(read) << body << ": " << (read ? "" : read.error().front().detail);
  return read ? read->payload : "";
}

BodyMap relay() {
  return made({{.name = "to", .required = true, .pattern = "^0x[0-9a-fA-F]{40}$"},
               {.name = "data", .max_length = 10, .fallback = R"("0x")"},
               {.name = "value", .type = BodyType::integer, .minimum = 0, .as = "wei"},
               {.name = "retryOnFailure",
                .type = BodyType::boolean,
                .fallback = "false",
                .as = "retry_on_failure"},
               {.name = "orderId", .as = "key"}});
}

TEST(BodyMap, fields_become_a_payload_and_fields_of_the_task) {
  const auto read = relay().read(
      R"({"orderId":"o-17","value": 5,"to":"0x00000000219ab540356cBB839Cbe05303d7705Fa"})", kDepth);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->payload,
            R"({"to":"0x00000000219ab540356cBB839Cbe05303d7705Fa","data":"0x","wei":5})");
  EXPECT_EQ(read->key, "o-17");
  EXPECT_EQ(read->type, "");
  EXPECT_EQ(read->queue, "");
}

// C2.2, C2.3
TEST(BodyMap, C2_2_retryOnFailure_is_renamed_and_C2_3_absent_means_false) {
  const auto asked = [&](const std::string& more) {
    return relay()
        .read(R"({"to":")" + std::string(kAddress) + "\"" + more + "}", kDepth)
        .value()
        .retry_on_failure;
  };
  EXPECT_TRUE(asked(R"(,"retryOnFailure":true)"));
  EXPECT_FALSE(asked(R"(,"retryOnFailure":false)"));
  EXPECT_FALSE(asked(R"(,"retryOnFailure":null)"));
  EXPECT_FALSE(asked(""));
}

TEST(BodyMap, the_same_request_is_the_same_payload_in_whatever_order) {
  const BodyMap map = made({{.name = "a"}, {.name = "b"}}, UnknownFields::keep);
  EXPECT_EQ(payload(map, R"({"b":"2","a":"1","z":[1, 2]})"), R"({"a":"1","b":"2","z":[1, 2]})");
  EXPECT_EQ(payload(map, R"( {"z":[1, 2] , "a":"1", "b":"2"})"),
            payload(map, R"({"b":"2","a":"1","z":[1, 2]})"));
}

TEST(BodyMap, values_keep_their_text_to_the_digit) {
  const BodyMap map = made({{.name = "n", .type = BodyType::number},
                            {.name = "i", .type = BodyType::integer},
                            {.name = "o", .type = BodyType::object}});
  EXPECT_EQ(payload(map, R"({"n":1.10,"i":115792089237316195423570985008687907853,"o":{"a": 1}})"),
            R"({"n":1.10,"i":115792089237316195423570985008687907853,"o":{"a": 1}})");
}

TEST(BodyMap, names_every_field_that_is_wrong_and_not_the_first_alone) {
  EXPECT_THAT(
      wrongs(relay(), R"({"data":"0x0123456789","value":-1,"retryOnFailure":"yes","form":1})"),
      ElementsAre("data: it has 12 characters, of at most 10", "value: it must be at least 0",
                  R"(retryOnFailure: true or false is expected, not the text "yes")",
                  HasSubstr("form: unknown field; known are to, data"), "to: is missing"));
}

TEST(BodyMap, what_is_no_object_is_one_thing_that_is_wrong) {
  EXPECT_THAT(wrongs(relay(), "[]"), ElementsAre(": an object is expected, not an array"));
  EXPECT_THAT(wrongs(relay(), ""), ElementsAre(": line 1, column 1: ends too early"));
  EXPECT_THAT(wrongs(relay(), R"({"to":)"), ElementsAre(HasSubstr("line 1, column 7")));
}

TEST(BodyMap, a_field_that_is_given_twice_is_refused) {
  const BodyMap map = made({{.name = "a"}}, UnknownFields::keep);
  EXPECT_THAT(wrongs(map, R"({"a":"1","\u0061":"2"})"), ElementsAre("a: is given twice"));
  EXPECT_THAT(wrongs(map, R"({"z":1,"z":2})"), ElementsAre("z: is given twice"));
}

TEST(BodyMap, null_is_as_a_field_that_is_left_out) {
  EXPECT_THAT(wrongs(relay(), R"({"to":null})"), ElementsAre("to: is missing"));
  const BodyMap map = made({{.name = "a"}, {.name = "b", .fallback = R"("x")"}});
  EXPECT_EQ(payload(map, R"({"a":null,"b":null})"), R"({"b":"x"})");
}

TEST(BodyMap, unknown_fields_are_kept_where_that_was_asked_for) {
  const BodyMap map = made({{.name = "a", .as = "b"}}, UnknownFields::keep);
  EXPECT_EQ(payload(map, R"({"c":null,"a":"1"})"), R"({"b":"1","c":null})");
  EXPECT_THAT(wrongs(map, R"({"a":"1","b":"2"})"),
              ElementsAre("b: another field goes by this name"));
}

TEST(BodyMap, an_unknown_field_says_what_may_have_been_meant) {
  EXPECT_THAT(wrongs(made({{.name = "amount"}}), R"({"amuont":"1"})"),
              ElementsAre(R"(amuont: unknown field; did you mean "amount"?)"));
}

TEST(BodyMap, so_much_may_be_wrong_that_not_all_of_it_is_told) {
  std::string body = "{";
  for (int i = 0; i < 1000; ++i)
    body += (i ? ",\"x" : "\"x") + std::to_string(i) + "\":1";
  const auto all = wrongs(made({}), body + "}");
  ASSERT_EQ(all.size(), 51U);
  EXPECT_EQ(all.back(), ": and 950 more");
}

struct TypeCase {
  BodyType type;
  std::string good;
  std::string bad;
};

TEST(BodyMap, types_are_those_of_JSON_Schema) {
  for (const auto& [type, good, bad] : std::vector<TypeCase>{
           {BodyType::string, R"("")", "1"},
           {BodyType::integer, "5", "5.5"},
           {BodyType::integer, "5.0", R"("5")"},
           {BodyType::integer, "-5e2", "1e-2"},
           {BodyType::integer, "0", "1e999"},
           {BodyType::number, "5.5", "true"},
           {BodyType::number, "-0", "[]"},
           {BodyType::boolean, "false", "0"},
           {BodyType::object, "{}", "[]"},
           {BodyType::array, "[]", "{}"},
       }) {
    const BodyMap map = made({{.name = "a", .type = type}});
    EXPECT_THAT(wrongs(map, R"({"a":)" + good + "}"), IsEmpty()) << good;
    EXPECT_EQ(wrongs(map, R"({"a":)" + bad + "}").size(), 1U) << bad;
  }
}

TEST(BodyMap, lengths_are_counted_in_characters) {
  const BodyMap map = made({{.name = "a", .min_length = 2, .max_length = 3}});
  EXPECT_THAT(wrongs(map, R"({"a":"üü"})"), IsEmpty());
  EXPECT_THAT(wrongs(map, R"({"a":"\u00fc\ud83d\ude00€"})"), IsEmpty());
  EXPECT_THAT(wrongs(map, R"({"a":"ü"})"), ElementsAre("a: it has 1 characters, of at least 2"));
  EXPECT_THAT(wrongs(map, R"({"a":"üüüü"})"), ElementsAre("a: it has 4 characters, of at most 3"));
}

TEST(BodyMap, a_value_of_an_enum_is_the_same_however_it_is_written) {
  const BodyMap map = made({{.name = "s", .one_of = {R"("fast")", R"("slow")"}},
                            {.name = "n", .type = BodyType::number, .one_of = {"1", "2.5"}}});
  EXPECT_THAT(wrongs(map, R"({"s":"f\u0061st","n":1.0})"), IsEmpty());
  EXPECT_THAT(wrongs(map, R"({"s":"FAST","n":3})"),
              ElementsAre(R"(s: it must be one of "fast", "slow")", "n: it must be one of 1, 2.5"));
}

TEST(BodyMap, numbers_have_limits) {
  const BodyMap map =
      made({{.name = "n", .type = BodyType::number, .minimum = -1.5, .maximum = 7}});
  EXPECT_THAT(wrongs(map, R"({"n":-1.5})"), IsEmpty());
  EXPECT_THAT(wrongs(map, R"({"n":7.01})"), ElementsAre("n: it must be at most 7"));
  EXPECT_THAT(wrongs(map, R"({"n":-1e999})"), ElementsAre("n: it must be at least -1.5"));
  EXPECT_THAT(wrongs(map, R"({"n":1e-999})"), IsEmpty());
}

TEST(BodyMap, a_field_of_the_task_is_read_as_the_API_reads_it) {
  const BodyMap map = made({{.name = "wait", .as = "delay"}, {.name = "when", .as = "due"}});
  EXPECT_EQ(map.read(R"({"wait":"90s"})", kDepth)->delay, std::chrono::seconds(90));
  EXPECT_THAT(wrongs(map, R"({"wait":"soon","when":"today"})"),
              ElementsAre(HasSubstr("wait: "), HasSubstr("when: ")));
}

TEST(BodyMap, payload_dot_name_is_never_a_field_of_the_task) {
  const BodyMap map = made({{.name = "a", .as = "payload.key"}});
  const auto read = map.read(R"({"a":"1"})", kDepth);
  EXPECT_EQ(read->payload, R"({"key":"1"})");
  EXPECT_EQ(read->key, "");
}

TEST(BodyMap, every_field_of_a_task_that_may_be_set_is_known_to_a_submission) {
  const std::map<std::string_view, std::string> samples = {
      {"retry_on_failure", "true"},
      {"key", R"("k")"},
      {"priority", "5"},
      {"delay", R"("1s")"},
      {"due", R"("2026-11-16T03:00:00Z")"},
      {"deadline", R"("2026-11-16T03:00:00Z")"},
      {"attempts", "2"},
      {"timeout", "2.5"},
      {"trace", R"("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")"}};
  for (const std::string_view name : task_fields()) {
    const JsonValue value = JsonCursor(samples.at(name)).take();
    const BodyType type = value.kind == JsonKind::boolean  ? BodyType::boolean
                          : value.kind == JsonKind::number ? BodyType::number
                                                           : BodyType::string;
    const bool is_whole = value.kind == JsonKind::number && name != "timeout";
    const BodyMap map =
        made({{.name = "a", .type = is_whole ? BodyType::integer : type, .as = std::string(name)}});
    const auto read = map.read(R"({"a":)" + samples.at(name) + "}", kDepth);
    ASSERT_TRUE(read) << name << ": " << read.error().front().detail;
    EXPECT_EQ(read->payload, "{}") << name;
    EXPECT_NE(*read, (Submission{.queue = "", .payload = "{}"})) << name;
  }
}

std::vector<std::string> troubles(std::vector<BodyField> fields) {
  std::vector<std::string> all;
  for (const FieldTrouble& trouble : troubles_of(fields))
    all.push_back(fields[trouble.field].name + "." + std::string(trouble.key) + ": " +
                  trouble.what);
  EXPECT_EQ(BodyMap::make(fields, UnknownFields::refuse).has_value(), all.empty());
  return all;
}

TEST(BodyField, says_all_that_cannot_be_in_a_description) {
  EXPECT_THAT(troubles({{.name = "a", .pattern = "(x"}}),
              ElementsAre("a.pattern: bad pattern at offset 0: missing ): (x"));
  EXPECT_THAT(troubles({{.name = "a", .type = BodyType::number, .pattern = "x"}}),
              ElementsAre("a.pattern: this is about a string"));
  EXPECT_THAT(troubles({{.name = "a", .min_length = 5, .max_length = 4}}),
              ElementsAre("a.max_length: this is less than min_length: nothing could be right"));
  EXPECT_THAT(
      troubles({{.name = "a", .type = BodyType::array, .min_length = 5, .minimum = 3}}),
      ElementsAre("a.min_length: this is about a string", "a.minimum: this is about a number"));
  EXPECT_THAT(troubles({{.name = "a", .type = BodyType::integer, .minimum = 5, .maximum = 4}}),
              ElementsAre("a.maximum: this is less than minimum: nothing could be right"));
  EXPECT_THAT(troubles({{.name = "a", .one_of = {"1", "[]"}}}),
              ElementsAre("a.enum: a text is expected, not 1",
                          "a.enum: values of an enum are texts, numbers, true or false"));
  EXPECT_THAT(troubles({{.name = "a", .required = true, .fallback = "\"x\""}}),
              ElementsAre("a.default: a field that is required has none"));
  EXPECT_THAT(troubles({{.name = "a", .pattern = "^y", .fallback = "\"x\""}}),
              ElementsAre(R"(a.default: "x" does not match ^y)"));
  EXPECT_THAT(troubles({{.name = "a", .fallback = "7"}}),
              ElementsAre("a.default: a text is expected, not 7"));
}

TEST(BodyField, says_what_cannot_become_a_field_of_a_task) {
  EXPECT_THAT(troubles({{.name = "a", .as = "retry_on_failure"}}),
              ElementsAre("a.as: retry_on_failure of a task is true or false, and this is a text"));
  EXPECT_THAT(troubles({{.name = "a", .type = BodyType::number, .as = "delay"}}), IsEmpty());
  EXPECT_THAT(troubles({{.name = "a"}, {.name = "b", .as = "a"}}),
              ElementsAre(R"(b.as: "a" becomes "a" already)"));
  EXPECT_THAT(troubles({{.name = "a", .as = "key"}, {.name = "b", .as = "key"}}),
              ElementsAre(R"(b.as: "a" becomes "key" already)"));
  EXPECT_THAT(troubles({{.name = "a", .as = "key"}, {.name = "key"}}), IsEmpty());
}

TEST(BodyMap, writes_the_schema_of_its_body) {
  std::string out;
  JsonWriter writer(out);
  made({{.name = "to", .required = true, .pattern = "^0x", .min_length = 2, .max_length = 42},
        {.name = "n",
         .type = BodyType::integer,
         .minimum = 0,
         .maximum = 9,
         .one_of = {"1", "2"},
         .fallback = "1"}})
      .write_schema(writer);
  EXPECT_EQ(out, R"({"type":"object","properties":{"to":{"type":"string","pattern":"^0x",)"
                 R"("minLength":2,"maxLength":42},"n":{"type":["integer","null"],"minimum":0,)"
                 R"("maximum":9,"enum":[1,2,null],"default":1}},"required":["to"],)"
                 R"("additionalProperties":false})");
}

// Of any field that is spoiled in a good body, that one is named and no other.
RC_GTEST_PROP(BodyMapProperty, the_field_that_is_spoiled_is_the_one_that_is_named, ()) {
  const BodyMap map =
      made({{.name = "s", .required = true, .pattern = "^[a-z]*$", .max_length = 8},
            {.name = "i", .type = BodyType::integer, .required = true, .minimum = 0},
            {.name = "b", .type = BodyType::boolean, .required = true},
            {.name = "e", .required = true, .one_of = {"\"x\"", "\"y\""}}});
  const auto word = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
  std::map<std::string, std::string> values = {
      {"s", "\"" + word.substr(0, 8) + "\""},
      {"i", std::to_string(*rc::gen::inRange(0, 1'000'000))},
      {"b", *rc::gen::element<std::string>("true", "false")},
      {"e", *rc::gen::element<std::string>("\"x\"", "\"y\"")}};
  const auto body_of = [&] {
    std::string body;
    for (const auto& [name, value] : values)
      body += (body.empty() ? "{\"" : ",\"") + name + "\":" + value;
    return body + "}";
  };
  const auto good = map.read(body_of(), kDepth);
  RC_ASSERT(good.has_value());
  RC_ASSERT(is_json(good->payload, kDepth));
  const auto spoiled = *rc::gen::element<std::string>("s", "i", "b", "e");
  values[spoiled] = *rc::gen::element<std::string>("null", "\"TOO LOUD\"", "-1", "[]", "{\"a\":1}");
  const auto bad = map.read(body_of(), kDepth);
  RC_ASSERT(!bad.has_value());
  for (const Problem::Part& part : bad.error())
    RC_ASSERT(part.where == spoiled);
}

}  // namespace
}  // namespace holdfast::wire::body_map_test
