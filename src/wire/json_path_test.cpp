#include "wire/json_path.hpp"

#include <gtest/gtest.h>

namespace holdfast::wire::json_path_test {
namespace {

std::string at(std::string_view json, std::string_view path) {
  const auto value = value_at(json, path_of(path));
  return value ? std::string(value->text) : "nothing";
}

TEST(JsonPath, leads_into_objects_and_arrays) {
  constexpr std::string_view kJson = R"({"user":{"id":42,"a\"b":[1,{"sku":"A-1"}]},"n":null})";
  EXPECT_EQ(at(kJson, "user.id"), "42");
  EXPECT_EQ(at(kJson, "user.a\"b.1.sku"), R"("A-1")");
  EXPECT_EQ(at(kJson, "n"), "null");
}

TEST(JsonPath, finds_nothing_where_there_is_nothing) {
  EXPECT_EQ(at(R"({"a":[1]})", "a.1"), "nothing");
  EXPECT_EQ(at(R"({"a":[1]})", "a.x"), "nothing");
  EXPECT_EQ(at(R"({"a":[1]})", "b"), "nothing");
  EXPECT_EQ(at(R"({"a":[1]})", "a.0.c"), "nothing");
  EXPECT_EQ(at("17", "a"), "nothing");
  EXPECT_EQ(at("{}", ""), "nothing");
}

TEST(JsonPath, takes_the_last_of_a_name_that_is_there_twice) {
  EXPECT_EQ(at(R"({"a":1,"a":2})", "a"), "2");
}

}  // namespace
}  // namespace holdfast::wire::json_path_test
