#include "core/uuid.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/json_text.hpp"

namespace holdfast {
namespace {

constexpr std::size_t kTextSize = 36;
constexpr std::uint64_t kHighMask = (1ULL << 12) - 1;
constexpr std::uint64_t kLowMask = (1ULL << 62) - 1;

[[nodiscard]] constexpr bool is_hyphen_place(std::size_t at) noexcept {
  return at == 8 || at == 13 || at == 18 || at == 23;
}

[[nodiscard]] std::optional<std::uint8_t> hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

[[nodiscard]] std::unexpected<Error> parse_error(std::string_view text, std::string_view what,
                                                 std::size_t at) {
  return fail(ErrorCode::invalid_argument, "parse UUID",
              fmt::format("{}: {} at offset {}", quoted(text), what, at));
}

[[nodiscard]] std::uint64_t big_endian(const std::uint8_t* bytes, std::size_t count) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value = (value << 8) | bytes[i];
  return value;
}

}  // namespace

Result<Uuid> Uuid::parse(std::string_view text) {
  Bytes bytes{};
  std::size_t digits = 0;
  for (std::size_t at = 0; at < std::min(text.size(), kTextSize); ++at) {
    if (is_hyphen_place(at)) {
      if (text[at] != '-') return parse_error(text, "expected \"-\"", at);
      continue;
    }
    const auto digit = hex_value(text[at]);
    if (!digit) return parse_error(text, "expected a hexadecimal digit", at);
    std::uint8_t& byte = bytes.at(digits++ / 2);
    byte = static_cast<std::uint8_t>((byte << 4) | *digit);
  }
  if (text.size() < kTextSize) return parse_error(text, "too short, ends", text.size());
  if (text.size() > kTextSize) return parse_error(text, "unexpected text", kTextSize);
  return Uuid(bytes);
}

std::string Uuid::text() const {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(kTextSize);
  for (const std::uint8_t byte : bytes_) {
    if (is_hyphen_place(out.size())) out += '-';
    out += kHex[byte >> 4];
    out += kHex[byte & 0xf];
  }
  return out;
}

std::optional<WallTime> Uuid::time() const noexcept {
  if (version() != 7) return std::nullopt;
  const std::chrono::milliseconds since_epoch(big_endian(bytes_.data(), 6));
  if (since_epoch > std::chrono::floor<std::chrono::milliseconds>(Duration::max())) {
    return std::nullopt;
  }
  return WallTime(since_epoch);
}

Result<TaskId> TaskId::parse(std::string_view text) {
  const Result<Uuid> uuid = Uuid::parse(text);
  if (!uuid) return fail(uuid.error().code, "parse task id", uuid.error().message);
  return TaskId(*uuid);
}

Uuid UuidSource::next(WallTime now) noexcept {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch();
  const auto now_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch.count(), 0));
  if (is_first_ || now_ms > unix_ms_) {
    start_millisecond(now_ms);
  } else {
    low_ += 1 + (random_->next() >> 32);
    high_ += low_ >> 62;
    low_ &= kLowMask;
    // After 2^41 ids in one millisecond, at the least: borrow the next one, as the RFC allows.
    if (high_ > kHighMask) start_millisecond(unix_ms_ + 1);
  }
  Uuid::Bytes bytes{};
  const std::uint64_t front = (unix_ms_ << 16) | (7ULL << 12) | high_;
  const std::uint64_t back = (2ULL << 62) | low_;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes.at(i) = static_cast<std::uint8_t>(front >> (56 - 8 * i));
    bytes.at(8 + i) = static_cast<std::uint8_t>(back >> (56 - 8 * i));
  }
  return Uuid(bytes);
}

void UuidSource::start_millisecond(std::uint64_t unix_ms) noexcept {
  is_first_ = false;
  unix_ms_ = unix_ms;
  high_ = random_->next() & (kHighMask >> 1);  // the top bit stays free, as room to grow into
  low_ = random_->next() & kLowMask;
}

}  // namespace holdfast

std::size_t std::hash<holdfast::Uuid>::operator()(const holdfast::Uuid& uuid) const noexcept {
  // The first half is mostly time; multiplying spreads it over the bits that tables look at.
  const auto& bytes = uuid.bytes();
  const std::uint64_t front = holdfast::big_endian(bytes.data(), 8) * 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(front ^ (front >> 32) ^
                                  holdfast::big_endian(bytes.data() + 8, 8));
}
