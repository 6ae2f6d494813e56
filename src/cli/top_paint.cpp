// From the frame of top_frame.hpp to bytes.
#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "cli/top_frame.hpp"

namespace holdfast::cli {
namespace {

// Terminals that know it show nothing before the end; to others it is nothing.
constexpr std::string_view kBegin = "\x1b[?2026h";
constexpr std::string_view kEnd = "\x1b[?2026l";

std::string_view code_of(Look look, bool colour) {
  if (!colour) return look == Look::strong || look == Look::heading ? "1" : "";
  switch (look) {
    case Look::plain: return "";
    case Look::faint: return "90";
    case Look::strong: return "1";
    case Look::good: return "32";
    case Look::bad: return "31";
    case Look::waiting: return "33";
    case Look::accent: return "36";
    case Look::heading: return "1;36";
    case Look::key: return "1";
  }
  return "";
}

void append_line(std::string& out, const Line& line, std::size_t columns, bool colour) {
  std::size_t width = 0;
  for (const Piece& piece : line.pieces) {
    const std::string_view code = code_of(piece.look, colour);
    width += columns_of(piece.text);
    // A line that is selected is so as a whole: colours would not be readable on it.
    if (line.is_selected) {
      out += "\x1b[7m" + piece.text;
    } else if (code.empty()) {
      out += piece.text;
    } else {
      out += fmt::format("\x1b[{}m{}\x1b[0m", code, piece.text);
    }
  }
  if (line.is_selected && width < columns) out.append(columns - width, ' ');
  out += "\x1b[0m";
  // At the right edge it would take the last letter away.
  if (!line.is_selected && width < columns) out += "\x1b[K";
}

}  // namespace

std::string plain_text(const Frame& frame) {
  std::string out;
  for (const Line& line : frame) {
    for (const Piece& piece : line.pieces)
      out += piece.text;
    out.resize(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string Painter::paint(const Frame& frame, FrameSize size) {
  std::string out;
  if (shown_.size() != size.rows) out += "\x1b[0m\x1b[2J";
  if (shown_.size() != size.rows) shown_.assign(size.rows, std::nullopt);
  for (std::size_t row = 0; row < size.rows; ++row) {
    const Line line = row < frame.size() ? frame[row] : Line();
    if (shown_[row] == line) continue;
    out += fmt::format("\x1b[{};1H", row + 1);
    append_line(out, line, size.columns, colour_);
    shown_[row] = line;
  }
  if (out.empty()) return out;
  return std::string(kBegin) + out + std::string(kEnd);
}

}  // namespace holdfast::cli
