#pragma once

#include <cstddef>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

// For the tests of the presets: what all of them together make of errors as they are met in the
// wild.
namespace holdfast {

inline const Classifier& all_presets() {
  static const Classifier classifier = Classifier::make(presets::all()).value();
  return classifier;
}

struct PresetRow {
  const char* text;
  VerdictKind verdict;
  const char* rule;  // "": none
};

template <std::size_t N>
void expect_rows(const PresetRow (&rows)[N]) {
  for (const PresetRow& row : rows) {
    const Explanation explanation = all_presets().explain({row.text});
    EXPECT_EQ(to_string(explanation.verdict.kind), to_string(row.verdict)) << row.text;
    EXPECT_EQ(explanation.rule, row.rule) << row.text;
  }
}

}  // namespace holdfast
