#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

// N1: failures that differ only in their values belong together.
//
// The text of an error with everything that varies from one time to the next replaced by a short
// placeholder:
//   <n> number  <hex>  <id> opaque id  <uuid>  <addr> IP address or host:port  <mac>  <email>
//   <path>  <time> date or time of day  <dur> duration  <size>  <str> quoted value
// Colours are removed, and runs of white space (newlines too) become one space.
//
// What tells one error from another stays: numbers that are codes ("status 404", "ERROR 1045
// (28000)", "code: -32000", "[Errno 111]"), digits that belong to a name (ORA-00942, E11000, S3,
// sha256), names of hosts where no port follows, and quoted texts that are messages themselves
// ("message":"nonce too low", panicked at '…').
//
// Only the first kFingerprintBytes of the text count, so that a 10 MB error costs no more than a
// page of it; the answer is no longer than that either. One pass from left to right, in linear
// time. Any bytes are accepted. Normalizing twice gives the same as once.
inline constexpr std::size_t kFingerprintBytes = 4096;
[[nodiscard]] std::string normalized(std::string_view error);

// Names a group of failures. Stored: the same text must have the same fingerprint in every version,
// or old groups break apart. A change of rules is a migration.
class Fingerprint {
 public:
  constexpr Fingerprint() = default;
  constexpr explicit Fingerprint(std::uint64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
  [[nodiscard]] std::string text() const;  // 16 hexadecimal digits
  // What text() writes; nothing: it is none.
  [[nodiscard]] static std::optional<Fingerprint> parse(std::string_view text);

  auto operator<=>(const Fingerprint&) const = default;

 private:
  std::uint64_t value_ = 0;
};

// 64-bit FNV-1a of the normalized text: published, and the same on every machine.
[[nodiscard]] Fingerprint fingerprint(std::string_view error);

}  // namespace holdfast
