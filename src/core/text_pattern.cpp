#include "core/text_pattern.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/pattern_set.hpp"

namespace holdfast {

std::expected<TextPattern, std::string> TextPattern::compile(const std::string& pattern,
                                                             std::int64_t most_bytes) {
  re2::RE2::Options options;
  options.set_never_capture(true);
  options.set_log_errors(false);
  options.set_max_mem(most_bytes);
  auto compiled = std::make_shared<const re2::RE2>(pattern, options);
  if (compiled->ok()) return TextPattern(std::move(compiled));
  const PatternError error = pattern_error(*compiled);
  return std::unexpected(fmt::format("bad pattern at offset {}: {}", error.offset, error.message));
}

bool TextPattern::is_found_in(std::string_view text) const {
  return re2::RE2::PartialMatch({text.data(), text.size()}, *compiled_);
}

}  // namespace holdfast
