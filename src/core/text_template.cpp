#include "core/text_template.hpp"

#include <utility>

#include <fmt/format.h>

namespace holdfast {
namespace {

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, "read template", std::move(message));
}

}  // namespace

Result<TextTemplate> TextTemplate::parse(std::string_view text) {
  TextTemplate made;
  const auto add = [&](std::string_view more) {
    if (made.parts_.empty() || made.parts_.back().is_field) made.parts_.push_back({});
    made.parts_.back().text += more;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t brace = std::min(text.find_first_of("{}", at), text.size());
    if (brace > at) add(text.substr(at, brace - at));
    if (brace == text.size()) break;
    if (text.substr(brace, 2) == "{{" || text.substr(brace, 2) == "}}") {
      add(text.substr(brace, 1));
      at = brace + 2;
      continue;
    }
    const std::size_t end = text.find_first_of("{}", brace + 1);
    if (text[brace] == '}') return bad(fmt::format("the }} at offset {} closes nothing", brace));
    if (end == text.npos || text[end] == '{')
      return bad(fmt::format("the {{ at offset {} is not closed", brace));
    if (end == brace + 1)
      return bad(fmt::format("there is no name in the {{}} at offset {}", brace));
    made.parts_.push_back({std::string(text.substr(brace + 1, end - brace - 1)), true});
    at = end + 1;
  }
  return made;
}

std::expected<std::string, std::string> TextTemplate::fill(const Lookup& lookup) const {
  std::string text;
  for (const Part& part : parts_) {
    if (!part.is_field) {
      text += part.text;
      continue;
    }
    auto found = lookup(part.text);
    if (!found) return found;
    text += *found;
  }
  return text;
}

}  // namespace holdfast
