#include "engine/foretold.hpp"

#include <algorithm>
#include <iterator>

#include "core/time_text.hpp"

namespace holdfast::engine {
namespace {

// What is before the first space or newline, taken from the text.
std::string_view take_word(std::string_view& line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  return word;
}

}  // namespace

Foretold::Foretold(core::State state, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (take_word(line) != core::to_string(state)) continue;
    const auto at = parse_rfc3339(take_word(line));
    const auto ended_before = parse_rfc3339(line);
    if (at && ended_before) say(*at, *ended_before);
  }
}

void Foretold::say(WallTime now, WallTime ended_before) {
  // The clock was put back: what is to have been said later was not.
  while (!said_.empty() && said_.back().at > now)
    said_.pop_back();
  if (!said_.empty() && said_.back().ended_before >= ended_before) return;
  said_.push_back({now, ended_before});
}

WallTime Foretold::known_since(WallTime when) const {
  const auto later = std::ranges::upper_bound(said_, when, {}, &Said::at);
  return later == said_.begin() ? WallTime::min() : std::prev(later)->ended_before;
}

WallTime Foretold::said_of(WallTime ended) const {
  const auto covers = std::ranges::upper_bound(said_, ended, {}, &Said::ended_before);
  return covers == said_.end() ? WallTime::max() : covers->at;
}

void Foretold::forget(WallTime when) {
  const auto later = std::ranges::upper_bound(said_, when, {}, &Said::at);
  if (later != said_.begin()) said_.erase(said_.begin(), std::prev(later));
}

void Foretold::append_lines(core::State state, std::string& out) const {
  for (const Said& said : said_) {
    out.append(core::to_string(state)).append(" ");
    append_rfc3339_micros(out, said.at);
    out.append(" ");
    append_rfc3339_micros(out, said.ended_before);
    out.append("\n");
  }
}

}  // namespace holdfast::engine
