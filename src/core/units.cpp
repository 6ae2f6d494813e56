#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/text_shapes.hpp"

namespace holdfast {
namespace {

__extension__ using Wide = unsigned __int128;  // holds any 64-bit value times any unit

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::array kDurationUnits{
    Unit{"d", 86400 * kSecond},
    Unit{"h", 3600 * kSecond},
    Unit{"m", 60 * kSecond},
    Unit{"s", kSecond},
    Unit{"ms", 1'000'000},
    Unit{"us", 1000},
    Unit{"\u00b5s", 1000},  // the micro sign
    Unit{"\u03bcs", 1000},  // the Greek letter, which looks the same
    Unit{"ns", 1},
};
constexpr std::string_view kDurationHint = "use ns, us, ms, s, m, h or d";

constexpr std::array kSizeUnits{
    Unit{"EiB", 1ULL << 60}, Unit{"EB", 1'000'000'000'000'000'000},
    Unit{"PiB", 1ULL << 50}, Unit{"PB", 1'000'000'000'000'000},
    Unit{"TiB", 1ULL << 40}, Unit{"TB", 1'000'000'000'000},
    Unit{"GiB", 1ULL << 30}, Unit{"GB", 1'000'000'000},
    Unit{"MiB", 1ULL << 20}, Unit{"MB", 1'000'000},
    Unit{"KiB", 1ULL << 10}, Unit{"kB", 1000},
    Unit{"KB", 1000},        Unit{"B", 1},
};
constexpr std::string_view kSizeHint = "use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB";

[[nodiscard]] bool is_unit_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// A decimal number as it was written: whole + fraction / 10^fraction_digits.
struct Decimal {
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  int fraction_digits = 0;
};

// Walks over one text from left to right; every error it makes quotes the text and says where.
class Scanner {
 public:
  Scanner(std::string_view operation, std::string_view text) : operation_(operation), text_(text) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
  [[nodiscard]] std::size_t offset() const noexcept { return at_; }

  void skip_spaces() noexcept {
    while (!at_end() && text_[at_] == ' ')
      ++at_;
  }

  [[nodiscard]] std::string_view word() noexcept {
    return take([](char c) { return is_unit_letter(c); });
  }

  [[nodiscard]] Result<Decimal> number() {
    const std::size_t start = at_;
    if (!at_end() && text_[at_] == '-') return error("negative", start);
    const std::string_view whole = digits();
    if (whole.empty()) return error("expected a number", start);
    Decimal value;
    if (!append_digits(value.whole, whole)) return error("too large", start);
    if (at_end() || text_[at_] != '.') return value;
    ++at_;
    std::string_view fraction = digits();
    if (fraction.empty()) return error("expected a digit after the point", at_);
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    // No unit can be divided into 10^18 whole parts, so more digits than that are never exact.
    if (fraction.size() > 18) return error("too many digits after the point", start);
    (void)append_digits(value.fraction, fraction);
    value.fraction_digits = static_cast<int>(fraction.size());
    return value;
  }

  [[nodiscard]] std::unexpected<Error> error(std::string_view what, std::size_t at,
                                             std::string_view hint = {}) const {
    std::string message = fmt::format("{}: {} at offset {}", quoted(text_), what, at);
    if (!hint.empty()) message.append("; ").append(hint);
    return fail(ErrorCode::invalid_argument, std::string(operation_), std::move(message));
  }

  [[nodiscard]] std::unexpected<Error> unexpected_rest() const {
    return error("unexpected " + quoted(text_.substr(at_), 20), at_);
  }

 private:
  template <class Accept>
  std::string_view take(Accept accept) noexcept {
    const std::size_t start = at_;
    while (!at_end() && accept(text_[at_]))
      ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string_view digits() noexcept { return take(shapes::is_digit); }

  [[nodiscard]] static bool append_digits(std::uint64_t& value, std::string_view digits) noexcept {
    for (const char c : digits) {
      if (__builtin_mul_overflow(value, 10, &value)) return false;
      if (__builtin_add_overflow(value, static_cast<std::uint64_t>(c - '0'), &value)) return false;
    }
    return true;
  }

  std::string_view operation_;
  std::string_view text_;
  std::size_t at_ = 0;
};

[[nodiscard]] const Unit* find_unit(std::span<const Unit> units, std::string_view name) noexcept {
  const auto found = std::ranges::find(units, name, &Unit::name);
  return found == units.end() ? nullptr : &*found;
}

[[nodiscard]] Wide power_of_ten(int exponent) noexcept {
  Wide power = 1;
  while (exponent-- > 0)
    power *= 10;
  return power;
}

// The number times the unit, or nothing if that is no whole number.
[[nodiscard]] std::optional<Wide> scaled(const Decimal& number, std::uint64_t scale) noexcept {
  Wide divisor = 1;
  for (int i = 0; i < number.fraction_digits; ++i)
    divisor *= 10;
  const Wide fraction = Wide{number.fraction} * scale;
  if (fraction % divisor != 0) return std::nullopt;
  return Wide{number.whole} * scale + fraction / divisor;
}

// Whether value / scale needs no more than `digits` digits after the point.
[[nodiscard]] bool is_exact(std::uint64_t value, std::uint64_t scale, int digits) noexcept {
  return Wide{value % scale} * power_of_ten(digits) % scale == 0;
}

// value / scale with at most `digits` digits after the point; the rest is cut off.
[[nodiscard]] std::string quotient(std::uint64_t value, std::uint64_t scale, int digits) {
  std::string text = fmt::format("{}", value / scale);
  const Wide fraction = Wide{value % scale} * power_of_ten(digits) / scale;
  if (fraction == 0) return text;
  text += fmt::format(".{:0{}}", static_cast<std::uint64_t>(fraction), digits);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  Scanner scanner("parse duration", text);
  constexpr auto kMost = static_cast<std::uint64_t>(Duration::max().count());
  Wide total = 0;
  std::uint64_t scale_before = std::numeric_limits<std::uint64_t>::max();
  do {
    const std::size_t start = scanner.offset();
    const Result<Decimal> number = scanner.number();
    if (!number) return std::unexpected(number.error());
    scanner.skip_spaces();
    const std::size_t unit_at = scanner.offset();
    const std::string_view name = scanner.word();
    if (name.empty()) {
      if (!scanner.at_end()) return scanner.unexpected_rest();
      return scanner.error("missing unit", unit_at, kDurationHint);
    }
    const Unit* unit = find_unit(kDurationUnits, name);
    if (!unit) return scanner.error("unknown unit " + quoted(name, 20), unit_at, kDurationHint);
    if (unit->scale >= scale_before) {
      return scanner.error(fmt::format("unit \"{}\" after one that is not larger", name), unit_at);
    }
    scale_before = unit->scale;
    const std::optional<Wide> part = scaled(*number, unit->scale);
    if (!part) return scanner.error("finer than a nanosecond", start);
    total += *part;
    if (total > kMost) return scanner.error("longer than 292 years", start);
    const std::size_t end = scanner.offset();
    scanner.skip_spaces();
    if (scanner.at_end() && scanner.offset() > end) return scanner.error("unexpected space", end);
  } while (!scanner.at_end());
  return Duration(static_cast<Duration::rep>(total));
}

Result<std::uint64_t> parse_size(std::string_view text) {
  Scanner scanner("parse size", text);
  const Result<Decimal> number = scanner.number();
  if (!number) return std::unexpected(number.error());
  scanner.skip_spaces();
  const std::size_t unit_at = scanner.offset();
  const std::string_view name = scanner.word();
  if (!scanner.at_end()) return scanner.unexpected_rest();
  if (name.empty() && text.ends_with(' '))
    return scanner.error("unexpected space", text.size() - 1);
  const Unit* unit = name.empty() ? &kSizeUnits.back() : find_unit(kSizeUnits, name);
  if (!unit) return scanner.error("unknown unit " + quoted(name, 20), unit_at, kSizeHint);
  const std::optional<Wide> size = scaled(*number, unit->scale);
  if (!size) return scanner.error("not a whole number of bytes", 0);
  if (*size > std::numeric_limits<std::uint64_t>::max()) return scanner.error("too large", 0);
  return static_cast<std::uint64_t>(*size);
}

std::string format_duration(Duration span) {
  const bool negative = span < Duration::zero();
  const auto count = static_cast<std::uint64_t>(span.count());
  std::uint64_t rest = negative ? 0 - count : count;
  std::string text = negative ? "-" : "";
  if (rest == 0) return "0s";
  if (rest < kSecond) {
    const Unit& unit = rest >= 1'000'000 ? Unit{"ms", 1'000'000}
                       : rest >= 1000    ? Unit{"us", 1000}
                                         : Unit{"ns", 1};
    return text.append(quotient(rest, unit.scale, 9)).append(unit.name);
  }
  for (const Unit& unit : std::span(kDurationUnits).first(3)) {  // d, h, m
    if (rest < unit.scale) continue;
    text += fmt::format("{}{}", rest / unit.scale, unit.name);
    rest %= unit.scale;
  }
  if (rest > 0) text.append(quotient(rest, kSecond, 9)).append("s");
  return text;
}

std::string format_size(std::uint64_t size_bytes) {
  std::string shortest = fmt::format("{}B", size_bytes);
  for (const Unit& unit : kSizeUnits) {
    if (unit.scale == 1 || size_bytes < unit.scale) continue;
    if (!is_exact(size_bytes, unit.scale, 3)) continue;
    std::string text = quotient(size_bytes, unit.scale, 3).append(unit.name);
    if (text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest;
}

}  // namespace holdfast
