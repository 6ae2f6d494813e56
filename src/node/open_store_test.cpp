#include "node/open_store.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace holdfast::node::open_store_test {
namespace {

namespace fs = std::filesystem;

TEST(Place, one_file_has_one_key_however_it_is_written) {
  const holdfast::testing::TemporaryFolder own;
  const fs::path& folder = own.path();
  fs::create_symlink(folder, folder / "link");
  const std::string key = parse_place("sqlite:" + (folder / "a.db").string())->key();
  EXPECT_EQ(parse_place("sqlite:" + (folder / "." / "x" / ".." / "a.db").string())->key(), key);
  EXPECT_EQ(parse_place("sqlite:" + (folder / "link" / "a.db").string())->key(), key);
  EXPECT_NE(parse_place("sqlite:" + (folder / "b.db").string())->key(), key);
  EXPECT_EQ(parse_place("sqlite:a.db")->path, (fs::canonical(".") / "a.db").string());
}

TEST(Place, an_unknown_scheme_is_an_error_that_names_the_known_ones) {
  for (const char* url : {"postgres://host", "tasks.db", "", "sqlite", "SQLITE:a"}) {
    const auto place = parse_place(url);
    ASSERT_FALSE(place) << url;
    EXPECT_EQ(place.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(place.error().message.find("sqlite:PATH"), std::string::npos) << url;
    EXPECT_NE(place.error().message.find("memory:NAME"), std::string::npos) << url;
    for (const char* scheme : {"redis://", "rediss://", "redis+sentinel://", "rediss+sentinel://"})
      EXPECT_NE(place.error().message.find(scheme), std::string::npos) << url;
  }
  EXPECT_EQ(parse_place("sqlite:").error().message, "sqlite: names no file: write sqlite:PATH");
}

TEST(Place, on_redis_has_one_key_however_it_is_written_and_no_password_in_it) {
  const auto place = parse_place("redis://ann:planted@tasks.example.org:6379/0");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_EQ(place->kind, Place::Kind::redis);
  EXPECT_TRUE(place->is_shared());
  EXPECT_EQ(place->key(), parse_place("redis://ann:planted@tasks.example.org")->key());
  EXPECT_EQ(place->key().find("planted"), std::string::npos);
  for (const char* other :
       {"redis://ann:planted@tasks.example.org/1", "rediss://ann:planted@tasks.example.org",
        "redis://ann:planted@tasks.example.org?space=other"}) {
    EXPECT_NE(parse_place(other)->key(), place->key()) << other;
  }
  // Who comes with another password does not come in by the door that somebody else has opened.
  EXPECT_NE(parse_place("redis://ann:guessed@tasks.example.org")->identity(), place->identity());
  EXPECT_EQ(parse_place("redis+sentinel://a,b/main")->redis.master, "main");
}

TEST(Place, no_error_says_a_password) {
  for (const char* url :
       {"redis://ann:planted@:x", "redi://ann:planted@host", "redis://ann:planted@host?what=1",
        "redis://ann:planted@host/x", "Redis://ann:plan@ted@host"}) {
    const auto place = parse_place(url);
    ASSERT_FALSE(place) << url;
    EXPECT_EQ(place.error().text().find("plan"), std::string::npos) << place.error().text();
  }
  EXPECT_EQ(shown_url("redis://ann:planted@host/1"), "redis://***@host/1");
  EXPECT_EQ(shown_url("sqlite:a@b.db"), "sqlite:a@b.db");
  EXPECT_EQ(shown_url("http://host:1/a"), "http://host:1/a");
}

}  // namespace
}  // namespace holdfast::node::open_store_test
