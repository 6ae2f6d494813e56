#include "io/map_file.hpp"

#include <gtest/gtest.h>

namespace holdfast::io::map_file_test {
namespace {

std::string trouble(std::string_view text) {
  const auto map = parse_type_map(text, "map.toml", "");
  return map ? "" : map.error().message;
}

TEST(MapFile, V7_has_a_routing_key_for_each_type) {
  const auto map = parse_type_map(R"([map]
CollectionScan = "collection.scan"
"with space" = { exchange = "library", routing_key = "scan" }
)",
                                  "map.toml", "jobs");
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->at("CollectionScan"),
            (ports::Address{.exchange = "jobs", .routing_key = "collection.scan"}));
  EXPECT_EQ(map->at("with space"), (ports::Address{.exchange = "library", .routing_key = "scan"}));
}

TEST(MapFile, says_where_something_is_wrong) {
  EXPECT_EQ(trouble("[mapp]\na = 'b'\n"),
            "map.toml:1:2: unknown key \"mapp\"; did you mean \"map\"?");
  EXPECT_EQ(trouble("[map]\na = 5\n"),
            "map.toml:2:5: this must be a routing key, or { exchange = \"…\", routing_key = \"…\" "
            "}");
  EXPECT_EQ(trouble("[map]\na = { exchange = 'x', routing_kee = 'y' }\n"),
            "map.toml:2:23: unknown key \"routing_kee\"; did you mean \"routing_key\"?");
  EXPECT_EQ(trouble("[map]\na = { exchange = 'x' }\n"), "map.toml:2:5: there is no routing_key");
  EXPECT_EQ(trouble("[map]\na = ''\n"), "map.toml:2:5: this must not be empty");
  EXPECT_EQ(trouble("[map]\n"), "map.toml:1:1: the map is empty");
  EXPECT_NE(trouble("").find("there is no table [map]"), std::string::npos);
  EXPECT_NE(trouble("[map\n").find("map.toml:1"), std::string::npos);
}

TEST(MapFile, is_read_from_the_disk) {
  EXPECT_EQ(load_type_map("/no/such/file", "").error().code, ErrorCode::not_found);
  EXPECT_EQ(load_type_map("/", "").error().code, ErrorCode::unavailable);
  const auto map = load_type_map(HOLDFAST_SOURCE_DIR "/examples/imageviewer/map.toml", "");
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->size(), 7U);  // V7
  EXPECT_EQ(map->at("LibraryScan"), (ports::Address{.routing_key = "library_scan_queue"}));
}

}  // namespace
}  // namespace holdfast::io::map_file_test
