#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/time.hpp>

namespace holdfast::simulation {

// What happened, line by line. Two runs of a seed must give the same lines; comparing their hashes
// does, and costs no text. Lines are put into words only when somebody wants to read them.
class Trace {
 public:
  // The most numbers that a line may have.
  static constexpr std::size_t kMostNumbers = 5;

  // Keeps the last `keep` lines. Keep everything: kEverything.
  static constexpr std::size_t kEverything = SIZE_MAX;
  explicit Trace(std::size_t keep) : keep_(keep) {}

  // `words` and `note` must live as long as the program; each {} in `words` is one number.
  void line(Duration at, std::string_view words, std::initializer_list<std::int64_t> numbers = {},
            std::string_view note = {});

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The lines that are kept, oldest first: "   12.034567 s  engine 1: crash".
  [[nodiscard]] std::vector<std::string> text() const;

 private:
  struct Line {
    Duration at{};
    std::string_view words;
    std::string_view note;
    std::array<std::int64_t, kMostNumbers> numbers{};
  };

  void mix(std::uint64_t value) noexcept;

  const std::size_t keep_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::uint64_t count_ = 0;
  std::deque<Line> lines_;
};

}  // namespace holdfast::simulation
