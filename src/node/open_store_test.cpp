#include "node/open_store.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace holdfast::node {
namespace {

namespace fs = std::filesystem;

TEST(Place, one_file_has_one_key_however_it_is_written) {
  const testing::TemporaryFolder own;
  const fs::path& folder = own.path();
  fs::create_symlink(folder, folder / "link");
  const std::string key = parse_place("sqlite:" + (folder / "a.db").string())->key();
  EXPECT_EQ(parse_place("sqlite:" + (folder / "." / "x" / ".." / "a.db").string())->key(), key);
  EXPECT_EQ(parse_place("sqlite:" + (folder / "link" / "a.db").string())->key(), key);
  EXPECT_NE(parse_place("sqlite:" + (folder / "b.db").string())->key(), key);
  EXPECT_EQ(parse_place("sqlite:a.db")->path, (fs::canonical(".") / "a.db").string());
}

TEST(Place, an_unknown_scheme_is_an_error_that_names_the_known_ones) {
  for (const char* url : {"redis://host", "tasks.db", "", "sqlite", "SQLITE:a"}) {
    const auto place = parse_place(url);
    ASSERT_FALSE(place) << url;
    EXPECT_EQ(place.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(place.error().message.find("sqlite:PATH"), std::string::npos) << url;
    EXPECT_NE(place.error().message.find("memory:NAME"), std::string::npos) << url;
  }
  EXPECT_EQ(parse_place("sqlite:").error().message, "sqlite: names no file: write sqlite:PATH");
}

}  // namespace
}  // namespace holdfast::node
