#include "recovery/copy.hpp"

#include <algorithm>
#include <array>

namespace holdfast::recovery {
namespace {

using ports::Field;
using ports::FieldTable;

// A header under another name, where it does nothing.
void put_aside(FieldTable& headers, std::string_view name, std::string_view as) {
  const auto found = std::ranges::find(headers, name, &FieldTable::value_type::first);
  if (found == headers.end()) return;
  Field value = std::move(found->second);
  headers.erase(found);
  ports::set_field(headers, as, std::move(value));
}

// What must not be sent again as it is, whatever the copy is for.
void defuse(ports::Message& message, const Marks& marks) {
  FieldTable& headers = message.headers;
  put_aside(headers, "CC", kSavedCc);
  put_aside(headers, "BCC", kSavedBcc);
  if (message.user_id && *message.user_id != marks.user) {
    ports::set_field(headers, kSavedUser, Field(*std::move(message.user_id)));
    message.user_id.reset();
  }
  if (message.expiration && !marks.keep_expiration) {
    ports::set_field(headers, kSavedExpiration, Field(*std::move(message.expiration)));
    message.expiration.reset();
  }
  if (marks.persistent) message.delivery_mode = 2;
}

std::optional<std::string> original_expiration(const Letter& letter) {
  for (const ports::Death& death : letter.deaths) {
    if (death.original_expiration) return death.original_expiration;
  }
  return std::nullopt;
}

}  // namespace

bool is_of_a_death(std::string_view header) noexcept {
  constexpr std::array<std::string_view, 2> kExact = {"x-death", "x-delivery-count"};
  return std::ranges::find(kExact, header) != kExact.end() ||
         header.starts_with("x-first-death-") || header.starts_with("x-last-death-");
}

ports::Message recovered_copy(const Letter& letter, const Marks& marks) {
  ports::Message copy = letter.message();
  // The broker takes it off a message that dies, and notes it in x-death, which goes.
  if (!copy.expiration) copy.expiration = original_expiration(letter);
  std::erase_if(copy.headers, [](const auto& entry) {
    return is_of_a_death(entry.first) || entry.first == kKeptBy || entry.first == kKeptBecause;
  });
  defuse(copy, marks);
  ports::set_field(copy.headers, kRecovered, Field(recovered_text(letter, marks.run)));
  return copy;
}

ports::Message kept_copy(const ports::Message& message, const Marks& marks, std::string_view why) {
  ports::Message copy = message;
  ports::remove_field(copy.headers, "x-delivery-count");
  defuse(copy, marks);
  copy.delivery_mode = 2;  // it may come out of a quorum queue, which keeps everything
  ports::set_field(copy.headers, kKeptBy, Field(marks.run));
  if (!why.empty()) ports::set_field(copy.headers, kKeptBecause, Field(std::string(why)));
  return copy;
}

}  // namespace holdfast::recovery
