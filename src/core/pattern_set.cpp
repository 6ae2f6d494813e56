#include "core/pattern_set.hpp"

namespace holdfast {
namespace {

re2::RE2::Options pattern_options() {
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // error texts need not be UTF-8
  options.set_case_sensitive(false);
  options.set_never_capture(true);
  options.set_log_errors(false);
  return options;
}

// The parenthesis that has no partner: the last `(` still open, or the first `)` too many. RE2
// names the whole pattern for these two.
std::size_t unpaired_parenthesis(std::string_view pattern) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i, 2) == "\\Q") {
      i = std::min(pattern.find("\\E", i), pattern.size() - 1);
    } else if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '[') {
      const std::size_t inside = i + (pattern.substr(i + 1, 1) == "^" ? 2 : 1);
      i = std::min(pattern.find(']', inside + 1), pattern.size() - 1);
    } else if (pattern[i] == '(') {
      open.push_back(i);
    } else if (pattern[i] == ')') {
      if (open.empty()) return i;
      open.pop_back();
    }
  }
  return open.empty() ? 0 : open.back();
}

}  // namespace

PatternError pattern_error(const re2::RE2& refused) {
  const std::string& pattern = refused.pattern();
  switch (refused.error_code()) {
    case re2::RE2::ErrorMissingParen: {
      const std::size_t offset = unpaired_parenthesis(pattern);
      return {offset, "missing ): " + pattern.substr(offset)};
    }
    case re2::RE2::ErrorUnexpectedParen: {
      const std::size_t offset = unpaired_parenthesis(pattern);
      return {offset, "unexpected ): " + pattern.substr(offset)};
    }
    case re2::RE2::ErrorTrailingBackslash: return {pattern.size() - 1, refused.error()};
    default: break;
  }
  const std::size_t offset = pattern.find(refused.error_arg());
  return {offset == std::string::npos ? 0 : offset, refused.error()};
}

PatternSet::PatternSet(std::int64_t budget_bytes) {
  re2::RE2::Options options = pattern_options();
  options.set_max_mem(budget_bytes);
  set_ = std::make_unique<re2::RE2::Set>(options, re2::RE2::UNANCHORED);
}

std::optional<PatternError> check_pattern(const std::string& pattern) {
  const re2::RE2 single(pattern, pattern_options());
  if (single.ok()) return std::nullopt;
  return pattern_error(single);
}

std::expected<int, PatternError> PatternSet::add(const std::string& pattern) {
  if (auto error = check_pattern(pattern)) return std::unexpected(*std::move(error));
  patterns_.push_back(pattern);
  const int number = static_cast<int>(patterns_.size()) - 1;
  if (set_ && set_->Add(pattern, nullptr) != number) set_.reset();
  return number;
}

void PatternSet::compile() {
  if (set_ && !set_->Compile()) set_.reset();
  if (set_) return;
  for (const std::string& pattern : patterns_)
    singles_.push_back(std::make_unique<re2::RE2>(pattern, pattern_options()));
}

template <class Use>
auto PatternSet::with_single(std::size_t pattern, Use use) const {
  if (!singles_.empty()) return use(*singles_[pattern]);
  return use(re2::RE2(patterns_[pattern], pattern_options()));
}

void PatternSet::match(std::string_view text, std::vector<int>& hits) const {
  if (!set_) return match_one_by_one(text, hits);
  thread_local std::vector<int> found;
  re2::RE2::Set::ErrorInfo error{re2::RE2::Set::kNoError};
  if (set_->Match({text.data(), text.size()}, &found, &error)) {
    hits.insert(hits.end(), found.begin(), found.end());
  } else if (error.kind != re2::RE2::Set::kNoError) {
    match_one_by_one(text, hits);
  }
}

void PatternSet::match_one_by_one(std::string_view text, std::vector<int>& hits) const {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    const bool is_found = with_single(i, [&](const re2::RE2& single) {
      return re2::RE2::PartialMatch({text.data(), text.size()}, single);
    });
    if (is_found) hits.push_back(static_cast<int>(i));
  }
}

std::optional<PatternSet::Span> PatternSet::find(int pattern, std::string_view text) const {
  const re2::StringPiece whole(text.data(), text.size());
  re2::StringPiece found;
  const bool is_found = with_single(static_cast<std::size_t>(pattern), [&](const re2::RE2& single) {
    return single.Match(whole, 0, whole.size(), re2::RE2::UNANCHORED, &found, 1);
  });
  if (!is_found) return std::nullopt;
  return Span{static_cast<std::size_t>(found.data() - whole.data()), found.size()};
}

}  // namespace holdfast
