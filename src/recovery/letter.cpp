#include "recovery/letter.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::recovery {
namespace {

using ports::number_of;
using ports::text_of;

// Where the consumers that are in use write down what went wrong, before they give a message up.
constexpr std::array<std::string_view, 5> kErrorHeaders = {
    "x-holdfast-error", "x-exception-message", "x-error-message", "x-error", "error"};

constexpr std::string_view kBetween = ", ";
constexpr std::uint64_t kLatestSeconds = 9'000'000'000;  // WallTime ends in 2262

}  // namespace

Recovered parse_recovered(std::string_view text) noexcept {
  Recovered found;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.times);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || found.times < 0 || !text.starts_with(kBetween)) return {};
  text.remove_prefix(kBetween.size());
  found.run = text.substr(0, text.find(kBetween));
  return found;
}

std::string recovered_text(const Letter& letter, std::string_view run) {
  std::string text = std::to_string(letter.recovered.times + 1);
  text.append(kBetween).append(run);
  if (letter.deaths.empty()) return text;
  text.append(kBetween).append(letter.reason.empty() ? "dead" : letter.reason);
  return text.append(" in ").append(letter.deaths.front().queue);
}

Letter read_letter(const ports::Delivery& delivery) {
  const ports::FieldTable& headers = delivery.message.headers;
  Letter letter{.delivery = &delivery, .deaths = ports::deaths_of(delivery.message)};
  if (const auto type = text_of(headers, "MessageType"); type && !type->empty()) {
    letter.type = *type;
    letter.has_type_header = true;
  } else if (!letter.deaths.empty() && !letter.deaths.front().routing_keys.empty()) {
    letter.type = letter.deaths.front().routing_keys.front();
  }
  if (!letter.deaths.empty()) {
    // The text stands in the message: a letter may be moved, and its own strings with it.
    if (const auto* array =
            std::get_if<ports::FieldArray>(&ports::find_field(headers, "x-death")->value)) {
      for (const ports::Field& entry : *array) {
        const auto* table = std::get_if<ports::FieldTable>(&entry.value);
        if (!table || !text_of(*table, "queue")) continue;
        letter.reason = text_of(*table, "reason").value_or("");
        break;
      }
    }
  }
  if (letter.deaths.empty()) {  // Holdfast's own dead letters are published, and say it themselves
    if (letter.type.empty()) letter.type = text_of(headers, "x-holdfast-type").value_or("");
    letter.reason = text_of(headers, "x-holdfast-reason").value_or("");
  }
  for (const std::string_view name : kErrorHeaders) {
    if (const auto text = text_of(headers, name); text && !text->empty()) {
      letter.why = *text;
      break;
    }
  }
  letter.recovered = parse_recovered(text_of(headers, kRecovered).value_or(""));
  // On a first delivery it is not the broker's: somebody has copied a message with all its headers.
  if (delivery.redelivered)
    letter.deliveries =
        std::max<std::int64_t>(0, number_of(headers, "x-delivery-count").value_or(0));
  return letter;
}

std::string Letter::reason_text() const {
  std::string text(reason.empty() ? std::string_view("unknown") : reason);
  if (why) text.append(": ").append(*why);
  return text;
}

std::optional<WallTime> Letter::died() const {
  const auto seconds =
      !deaths.empty() && deaths.front().time ? deaths.front().time : delivery->message.timestamp;
  if (!seconds || *seconds > kLatestSeconds) return std::nullopt;
  return WallTime(std::chrono::seconds(*seconds));
}

}  // namespace holdfast::recovery
