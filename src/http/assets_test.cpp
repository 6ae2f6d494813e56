#include "http/assets.hpp"

#include <cstddef>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::http::assets_test {
namespace {

TEST(Assets, the_page_comes_first) {
  ASSERT_FALSE(assets().empty());
  EXPECT_EQ(assets()[0].path, "/");
  EXPECT_EQ(assets()[0].type, "text/html; charset=utf-8");
}

TEST(Assets, every_file_has_a_path_of_its_own_a_type_and_an_etag) {
  std::set<std::string_view> paths;
  for (const Asset& asset : assets()) {
    EXPECT_TRUE(paths.insert(asset.path).second) << asset.path;
    EXPECT_TRUE(asset.path == "/" || asset.path.starts_with("/assets/")) << asset.path;
    EXPECT_FALSE(asset.type.empty()) << asset.path;
    ASSERT_GT(asset.etag.size(), 2U) << asset.path;
    EXPECT_TRUE(asset.etag.front() == '"' && asset.etag.back() == '"') << asset.etag;
  }
}

TEST(Assets, names_carry_the_hash_of_what_is_in_them) {
  for (const Asset& asset : assets().subspan(1)) {
    const std::string_view hash = asset.etag.substr(1, asset.etag.size() - 2);
    EXPECT_NE(asset.path.find("-" + std::string(hash) + "."), std::string_view::npos) << asset.path;
  }
}

TEST(Assets, are_gzipped) {
  for (const Asset& asset : assets())
    EXPECT_TRUE(asset.gzipped.starts_with("\x1f\x8b")) << asset.path;
}

TEST(Assets, are_less_than_150_KB_in_all) {
  std::size_t bytes = 0;
  for (const Asset& asset : assets())
    bytes += asset.gzipped.size();
  EXPECT_LT(bytes, 150'000U);
}

}  // namespace
}  // namespace holdfast::http::assets_test
