#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/time.hpp>

#include "ports/broker.hpp"

namespace holdfast::recovery {

// The headers that a recovery leaves on its copies, and goes by when it meets them again.
//
// One short one says all: a queue of RabbitMQ keeps each header of each waiting message as terms of
// their own, and copies all of them once in a thousand messages; a text of more than 64 bytes is
// worse still. Six headers made a recovery a fifth slower (docs/performance.md).
inline constexpr std::string_view kRecovered = "x-holdfast-recovered";  // Recovered, as a text
inline constexpr std::string_view kKeptBy = "x-holdfast-kept-by";       // the run's id
inline constexpr std::string_view kKeptBecause = "x-holdfast-kept-because";
inline constexpr std::string_view kSavedCc = "x-holdfast-cc";
inline constexpr std::string_view kSavedBcc = "x-holdfast-bcc";
inline constexpr std::string_view kSavedUser = "x-holdfast-user-id";
inline constexpr std::string_view kSavedExpiration = "x-holdfast-expiration";

// "3, 20300101T000000Z-9f3a1c2b, rejected in app.work"
struct Recovered {
  std::int64_t times = 0;     // so often (N3)
  std::string_view run = {};  // the last of them; its id begins with the time (run_id.hpp)
};
// What is no such text says nothing.
[[nodiscard]] Recovered parse_recovered(std::string_view text) noexcept;

// A message of a dead-letter queue, with what can be read off it. The delivery must outlive it.
struct Letter {
  const ports::Delivery* delivery = nullptr;
  std::vector<ports::Death> deaths = {};  // newest first
  std::string type = {};                  // V6; empty: unknown
  bool has_type_header = false;           // not so: its type is the routing key it died with
  std::string_view reason = {};           // of the newest death: "rejected"; empty: none is known
  std::optional<std::string_view> why = {};  // what whoever gave it up has said of it
  Recovered recovered = {};                  // how often it was brought back
  std::int64_t deliveries = 0;  // so often it was handed back, where the broker counts that

  [[nodiscard]] const ports::Message& message() const { return delivery->message; }
  // "rejected: no such customer": what failures are grouped by.
  [[nodiscard]] std::string reason_text() const;
  // The newest death, or the time that it was sent; nothing: it says neither.
  [[nodiscard]] std::optional<WallTime> died() const;
};

[[nodiscard]] std::string recovered_text(const Letter& letter, std::string_view run);

[[nodiscard]] Letter read_letter(const ports::Delivery& delivery);

}  // namespace holdfast::recovery
