// Notes on shelves: what belongs to no task and must not be lost.
#include <limits>

#include <gmock/gmock.h>

#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ports::Jot;
using ports::Note;
using ports::Notes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> keys_of(const Notes::Answer& notes) {
  std::vector<std::string> keys;
  for (const Note& note : notes)
    keys.push_back(note.key);
  return keys;
}

TEST_P(StoreConformance, a_note_is_kept_and_grows_older_with_each_change) {
  EXPECT_EQ(ask(Jot{.shelf = "operations", .key = "1", .text = "begun"}), 1U);
  EXPECT_EQ(ask(Jot{.shelf = "operations", .key = "1", .text = "done"}), 2U);
  EXPECT_EQ(ask(Jot{.shelf = "operations", .key = "2", .text = ""}), 1U);
  reopen();
  EXPECT_THAT(ask(Notes{.shelf = "operations"}),
              ElementsAre(Note{"2", "", 1}, Note{"1", "done", 2}));
  EXPECT_THAT(ask(Notes{.shelf = "operations", .only = "1"}), ElementsAre(Note{"1", "done", 2}));
  EXPECT_THAT(ask(Notes{.shelf = "operations", .only = "3"}), IsEmpty());
}

TEST_P(StoreConformance, shelves_are_apart) {
  EXPECT_EQ(ask(Jot{.shelf = "a", .key = "bc", .text = "one"}), 1U);
  EXPECT_EQ(ask(Jot{.shelf = "ab", .key = "c", .text = "two"}), 1U);
  EXPECT_EQ(ask(Jot{.shelf = "", .key = "abc", .text = "three"}), 1U);
  EXPECT_THAT(ask(Notes{.shelf = "a"}), ElementsAre(Note{"bc", "one", 1}));
  EXPECT_THAT(ask(Notes{.shelf = "ab"}), ElementsAre(Note{"c", "two", 1}));
  EXPECT_THAT(ask(Notes{.shelf = ""}), ElementsAre(Note{"abc", "three", 1}));
  EXPECT_THAT(ask(Notes{.shelf = "abc"}), IsEmpty());
}

// Of two who want to change it, one does.
TEST_P(StoreConformance, a_note_is_changed_only_in_the_version_that_was_looked_at) {
  const auto jot = [&](const char* text, std::uint64_t version) {
    return ask(Jot{.shelf = "s", .key = "k", .text = text, .version = version});
  };
  EXPECT_EQ(jot("too early", 1), std::nullopt);
  EXPECT_EQ(jot("mine", 0), 1U);
  EXPECT_EQ(jot("yours", 0), std::nullopt) << "there is one";
  EXPECT_EQ(jot("mine again", 1), 2U);
  EXPECT_EQ(jot("yours again", 1), std::nullopt);
  EXPECT_EQ(jot("later", 3), std::nullopt);
  reopen();
  EXPECT_THAT(ask(Notes{.shelf = "s"}), ElementsAre(Note{"k", "mine again", 2}));
}

TEST_P(StoreConformance, a_note_is_taken_away) {
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k"}), 0U) << "there is none";
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k", .version = 0}), 0U);
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k", .version = 1}), std::nullopt);
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k", .text = "one"}), 1U);
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k", .text = "two"}), 2U);
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k", .version = 1}), std::nullopt);
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k", .version = 2}), 0U);
  EXPECT_THAT(ask(Notes{.shelf = "s"}), IsEmpty());
  reopen();
  EXPECT_THAT(ask(Notes{.shelf = "s", .only = "k"}), IsEmpty());
  EXPECT_EQ(ask(Jot{.shelf = "s", .key = "k", .text = "anew", .version = 0}), 1U);
}

TEST_P(StoreConformance, notes_hold_any_bytes_and_go_by_those_of_their_keys) {
  using std::string_literals::operator""s;
  const std::vector<std::string> rising = {"\0"s, "\0\0"s, "A",         "a",
                                           "aa",  "ab",    "\xc3\xbc"s, "\xff\xfe\0"s};
  const std::string text = "\0\xff line\r\n\x1a"s + std::string(100'000, 'x');
  for (const std::size_t at : {3U, 7U, 0U, 5U, 1U, 2U, 6U, 4U})
    EXPECT_EQ(ask(Jot{.shelf = "\0\xff"s, .key = rising[at], .text = text}), 1U);
  reopen();
  const auto up = ask(Notes{.shelf = "\0\xff"s, .latest_first = false});
  EXPECT_EQ(keys_of(up), rising);
  for (const Note& note : up)
    EXPECT_EQ(note.text, text);
  const std::vector<std::string> falling(rising.rbegin(), rising.rend());
  EXPECT_EQ(keys_of(ask(Notes{.shelf = "\0\xff"s})), falling);
}

TEST_P(StoreConformance, notes_are_read_page_by_page) {
  std::vector<std::string> rising;
  for (int i = 0; i < 25; ++i) {
    rising.push_back(std::to_string(1000 + i));
    EXPECT_EQ(ask(Jot{.shelf = "s", .key = rising.back(), .text = "note"}), 1U);
  }
  const std::vector<std::string> falling(rising.rbegin(), rising.rend());
  for (const bool latest_first : {false, true}) {
    for (const std::size_t limit : {std::size_t(0), std::size_t(1), std::size_t(5), std::size_t(25),
                                    std::size_t(100), std::numeric_limits<std::size_t>::max()}) {
      std::vector<std::string> seen;
      Notes verb{.shelf = "s", .latest_first = latest_first, .limit = limit};
      for (std::size_t pages = 0; pages <= 26; ++pages) {
        const auto page = keys_of(ask(verb));
        seen.insert(seen.end(), page.begin(), page.end());
        if (page.size() < std::max<std::size_t>(limit, 1)) break;
        verb.beyond = page.back();
      }
      EXPECT_EQ(seen, latest_first ? falling : rising) << limit;
    }
  }
  EXPECT_THAT(keys_of(ask(Notes{.shelf = "s", .beyond = "1002x"})),
              ElementsAre("1002", "1001", "1000"))
      << "of a key that is not there";
  EXPECT_THAT(ask(Notes{.shelf = "s", .beyond = "2", .latest_first = false}), IsEmpty());
}

TEST_P(StoreConformance, a_note_needs_a_key) {
  EXPECT_EQ(code_of(try_ask(Jot{.shelf = "s", .key = "", .text = "text"})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_ask(Jot{.shelf = "s", .key = ""})), ErrorCode::invalid_argument);
  EXPECT_THAT(ask(Notes{.shelf = "s"}), IsEmpty());
}

// As all verbs: each sees what those before it in the batch have done.
TEST_P(StoreConformance, notes_and_tasks_are_changed_in_one_batch) {
  using ports::Asked;
  std::vector<ports::Request> batch = {
      Asked<Jot>{{.shelf = "s", .key = "k", .text = "one", .version = 0}},
      Asked<ports::Submit>{{{new_task()}}},
      Asked<Jot>{{.shelf = "s", .key = "k", .text = "two", .version = 1}},
      Asked<Notes>{{.shelf = "s"}},
      Asked<Jot>{{.shelf = "s", .key = ""}},
      Asked<Jot>{{.shelf = "s", .key = "k", .version = 2}},
      Asked<Notes>{{.shelf = "s"}},
  };
  store_.writer->carry_out(batch);
  EXPECT_EQ(std::get<Asked<Jot>>(batch[0]).answer.value(), 1U);
  EXPECT_TRUE(std::get<Asked<ports::Submit>>(batch[1]).answer.value().at(0));
  EXPECT_EQ(std::get<Asked<Jot>>(batch[2]).answer.value(), 2U);
  EXPECT_THAT(std::get<Asked<Notes>>(batch[3]).answer.value(), ElementsAre(Note{"k", "two", 2}));
  EXPECT_FALSE(std::get<Asked<Jot>>(batch[4]).answer);
  EXPECT_EQ(std::get<Asked<Jot>>(batch[5]).answer.value(), 0U);
  EXPECT_THAT(std::get<Asked<Notes>>(batch[6]).answer.value(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::conformance
