#include "wire/sample_json.hpp"

#include <gtest/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::sample_json_test {
namespace {

TEST(SampleJson, is_labelled_as_a_sample) {
  const QueueSample sample{.broker = "b",
                           .queue = "q",
                           .found = 9,
                           .seen = 1,
                           .types = {{"Scan", 1}},
                           .errors = {{.group = "0", .example = "x", .count = 1}},
                           .messages = {{.id = "m", .size = 4, .headers = {{"k", "v"}}}}};
  EXPECT_EQ(testing::written(sample),
            R"({"sampled":true,"broker":"b","queue":"q","found":9,"seen":1,)"
            R"("types":[{"name":"Scan","count":1}],"reasons":[],"origins":[],)"
            R"("errors":[{"group":"0","example":"x","count":1}],)"
            R"("messages":[{"id":"m","type":"","reason":"","origin":"","redelivered":false,)"
            R"("size":4,"headers":{"k":"v"},"body":"","cut":false,"text":true}]})");
}

TEST(SampleJson, a_request_has_a_limit) {
  EXPECT_EQ(read_sample_request("").value().limit, 50U);
  EXPECT_EQ(read_sample_request(R"({"limit":500})").value().limit, 500U);
  for (const char* text : {R"({"limit":0})", R"({"limit":501})", R"({"most":1})", "[]"})
    EXPECT_FALSE(read_sample_request(text)) << text;
}

}  // namespace
}  // namespace holdfast::wire::sample_json_test
