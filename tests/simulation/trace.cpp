#include "simulation/trace.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::simulation {

void Trace::mix(std::uint64_t value) noexcept {
  hash_ = (hash_ ^ value) * 0x100000001b3ULL;
  hash_ ^= hash_ >> 32;
}

void Trace::line(Duration at, std::string_view words, std::initializer_list<std::int64_t> numbers,
                 std::string_view note) {
  Line line{at, words, note, {}};
  std::copy_n(numbers.begin(), std::min(numbers.size(), kMostNumbers), line.numbers.begin());
  mix(static_cast<std::uint64_t>(at.count()));
  mix(words.size());
  for (const char c : words.substr(0, 16))
    mix(static_cast<unsigned char>(c));
  for (const char c : note)
    mix(static_cast<unsigned char>(c));
  for (const std::int64_t number : numbers)
    mix(static_cast<std::uint64_t>(number));
  ++count_;
  if (lines_.size() >= keep_) lines_.pop_front();
  lines_.push_back(line);
}

std::vector<std::string> Trace::text() const {
  std::vector<std::string> text;
  text.reserve(lines_.size());
  for (const Line& line : lines_) {
    const auto& n = line.numbers;
    static_assert(kMostNumbers == 5);
    text.push_back(fmt::format("{:14.6f} s  {}{}", std::chrono::duration<double>(line.at).count(),
                               fmt::format(fmt::runtime(line.words), n[0], n[1], n[2], n[3], n[4]),
                               line.note));
  }
  return text;
}

}  // namespace holdfast::simulation
