#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top_model.hpp"

namespace holdfast::cli {

// How a piece of text stands out.
enum class Look : std::uint8_t { plain, faint, strong, good, bad, waiting, accent, heading, key };

struct Piece {
  std::string text = {};
  Look look = Look::plain;

  bool operator==(const Piece&) const = default;
};

// No line is wider than the screen, and nothing in it moves the cursor.
struct Line {
  std::vector<Piece> pieces = {};
  bool is_selected = false;

  bool operator==(const Line&) const = default;
};
using Frame = std::vector<Line>;

struct FrameSize {
  std::size_t columns = 80;
  std::size_t rows = 24;  // 0: as many as there is to show, and nothing that keys are for
};
[[nodiscard]] Frame draw(const View& view, const Snapshot& snapshot, FrameSize size);

[[nodiscard]] std::string plain_text(const Frame& frame);

// Makes what a terminal is sent: only lines that are not on it already, all of them at once.
class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string paint(const Frame& frame, FrameSize size);
  void forget() { shown_.clear(); }  // what is on the screen

 private:
  const bool colour_;
  std::vector<std::optional<Line>> shown_;
};

// Numbers in as many columns as they have: 1,234,567 or 1.23M.
[[nodiscard]] std::string short_number(std::uint64_t number, std::size_t columns);
// Per second: 0.04, 16.2, 1,234
[[nodiscard]] std::string short_rate(double rate);
// 850ms, 42s, 12m, 3h05, 12d
[[nodiscard]] std::string short_age(Duration age);
// A share from 0 to 1, in eighths of a column.
[[nodiscard]] std::string bar(double share, std::size_t columns);
// One column each, the latest of them; as high as the highest.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t columns);

}  // namespace holdfast::cli
