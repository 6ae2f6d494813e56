#include "cli/top_keys.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli::top_keys_test {
namespace {

using Kind = Key::Kind;

std::vector<Key> keys_of(std::string_view bytes) {
  KeyReader reader;
  reader.add(bytes);
  return reader.take(true);
}

TEST(TopKeys, are_letters_and_sequences) {
  EXPECT_EQ(keys_of("jR/é世"), (std::vector<Key>{{Kind::text, "j"},
                                                 {Kind::text, "R"},
                                                 {Kind::text, "/"},
                                                 {Kind::text, "é"},
                                                 {Kind::text, "世"}}));
  EXPECT_EQ(keys_of("\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\x1b[H\x1b[4~\x1b[Z"),
            (std::vector<Key>{{Kind::up},
                              {Kind::down},
                              {Kind::up},
                              {Kind::page_up},
                              {Kind::page_down},
                              {Kind::home},
                              {Kind::end},
                              {Kind::back_tab}}));
  EXPECT_EQ(keys_of("\t\r\x7f\b"),
            (std::vector<Key>{{Kind::tab}, {Kind::enter}, {Kind::backspace}, {Kind::backspace}}));
}

TEST(TopKeys, may_come_in_pieces) {
  KeyReader reader;
  for (const char* piece : {"\x1b", "[", "6"}) {
    reader.add(piece);
    EXPECT_TRUE(reader.take(false).empty());
    EXPECT_TRUE(reader.waits());
  }
  reader.add("~q\xe4\xb8");
  EXPECT_EQ(reader.take(false), (std::vector<Key>{{Kind::page_down}, {Kind::text, "q"}}));
  reader.add("\x96");
  EXPECT_EQ(reader.take(false), (std::vector<Key>{{Kind::text, "世"}}));
  EXPECT_FALSE(reader.waits());
}

TEST(TopKeys, an_escape_by_itself_is_one_when_nothing_follows) {
  KeyReader reader;
  reader.add("\x1b");
  EXPECT_TRUE(reader.take(false).empty());
  EXPECT_EQ(reader.take(true), (std::vector<Key>{{Kind::escape}}));
  EXPECT_EQ(keys_of("\x1bq"), (std::vector<Key>{{Kind::escape}, {Kind::text, "q"}}));
}

TEST(TopKeys, pass_over_what_is_none) {
  EXPECT_EQ(keys_of("\x1b[200~\x1b[1;5Cq\x01\xff\x1b["), (std::vector<Key>{{Kind::text, "q"}}));
}

}  // namespace
}  // namespace holdfast::cli::top_keys_test
