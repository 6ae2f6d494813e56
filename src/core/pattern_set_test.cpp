#include "core/pattern_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace holdfast::pattern_set_test {
namespace {

const std::vector<std::string> kPatterns = {"nonce too low", "nonce", "too .* low", "^rpc", "z{3}"};

std::vector<int> hits_of(const PatternSet& set, std::string_view text) {
  std::vector<int> hits;
  set.match(text, hits);
  std::sort(hits.begin(), hits.end());
  return hits;
}

PatternSet set_of(const std::vector<std::string>& patterns, std::int64_t budget_bytes) {
  PatternSet set(budget_bytes);
  for (const auto& pattern : patterns)
    EXPECT_TRUE(set.add(pattern)) << pattern;
  set.compile();
  return set;
}

TEST(PatternSet, gives_the_same_answer_with_any_memory_budget) {
  const PatternSet roomy = set_of(kPatterns, PatternSet::kDefaultBudgetBytes);
  ASSERT_TRUE(roomy.one_pass());
  bool compiled = false;
  bool did_not_compile = false;
  for (std::int64_t budget = 1; budget < 200'000; budget += budget / 8 + 1) {
    const PatternSet tight = set_of(kPatterns, budget);
    (tight.one_pass() ? compiled : did_not_compile) = true;
    for (const char* text : {"rpc: Nonce too low", "too very low", "zz", "a zzz", "", "nonce"}) {
      EXPECT_EQ(hits_of(tight, text), hits_of(roomy, text)) << budget << " " << text;
    }
  }
  EXPECT_TRUE(compiled && did_not_compile) << "the budgets must cover both";
}

TEST(PatternSet, gives_the_same_answer_when_its_cache_overflows_within_a_text) {
  std::vector<std::string> patterns;
  for (char c = 'a'; c <= 'z'; ++c)
    patterns.push_back(std::string(1, c) + ".{0,30}!");
  std::string text;
  for (int i = 0; i < 400; ++i)
    text += static_cast<char>('a' + (i * i * 7 + i) % 26);
  text += " b!";
  const std::vector<int> expected = hits_of(set_of(patterns, 64 << 20), text);
  ASSERT_FALSE(expected.empty());
  for (std::int64_t budget = 10'000; budget < 2'000'000; budget += budget / 16) {
    EXPECT_EQ(hits_of(set_of(patterns, budget), text), expected) << budget;
  }
}

TEST(PatternSet, tries_one_by_one_when_the_pass_fails) {
  // RE2 checks at compile time that its memory suffices to begin with, so running out later cannot
  // be staged. A set that was never compiled fails in the same way: no match, and an error beside
  // it.
  PatternSet set;
  for (const auto& pattern : kPatterns)
    ASSERT_TRUE(set.add(pattern)) << pattern;
  ASSERT_TRUE(set.one_pass());
  EXPECT_EQ(hits_of(set, "rpc: Nonce too low"), (std::vector<int>{0, 1, 3}));
}

TEST(PatternSet, finds_where_a_pattern_matched) {
  const PatternSet set = set_of(kPatterns, PatternSet::kDefaultBudgetBytes);
  const auto span = set.find(1, "rpc: NONCE too low");
  ASSERT_TRUE(span);
  EXPECT_EQ(span->offset, 5);
  EXPECT_EQ(span->size, 5);
  EXPECT_FALSE(set.find(4, "rpc"));
}

TEST(PatternSet, appends_to_what_is_there) {
  const PatternSet set = set_of(kPatterns, PatternSet::kDefaultBudgetBytes);
  std::vector<int> hits{7};
  set.match("rpc", hits);
  EXPECT_EQ(hits, (std::vector<int>{7, 3}));
}

struct BadPattern {
  const char* pattern;
  std::size_t offset;
  const char* message;
};

TEST(PatternSet, says_what_is_wrong_with_a_pattern_and_where) {
  const BadPattern rows[] = {
      {"foo|bar(nonce too", 7, "missing ): (nonce too"},
      {"(a)(b[)]c", 3, "missing ): (b[)]c"},
      {"[^)](x", 4, "missing ): (x"},
      {"\\Q((\\E\\((z", 8, "missing ): (z"},
      {"(foo)) bar", 5, "unexpected ): ) bar"},
      {"a[b-", 1, "missing ]: [b-"},
      {"a[z-a]", 2, "invalid character class range: z-a"},
      {"ab\\", 2, "trailing \\"},
      {"a|*", 2, "no argument for repetition operator: *"},
      {"ab{1001}", 2, "invalid repetition size: {1001}"},
      {"ab(?=c)", 2, "invalid perl operator: (?="},
      {"((((a{100}){100}){100}){100}){100}", 5, "invalid repetition size: {100}"},
  };
  for (const BadPattern& row : rows) {
    PatternSet set;
    const auto added = set.add(row.pattern);
    ASSERT_FALSE(added) << row.pattern;
    EXPECT_EQ(added.error().offset, row.offset) << row.pattern;
    EXPECT_EQ(added.error().message, row.message) << row.pattern;
    EXPECT_TRUE(set.empty());
  }
}

}  // namespace
}  // namespace holdfast::pattern_set_test
