#pragma once

#include <string>
#include <string_view>

#include "ports/message.hpp"
#include "recovery/letter.hpp"

namespace holdfast::recovery {

// What all copies of a run have in common.
struct Marks {
  std::string run = {};     // its id
  std::string user = {};    // that we are at the broker: a message of another's name is refused
  bool persistent = false;  // copies are, also of what was not
  bool keep_expiration = false;  // a copy expires as its original did, as it is or as x-death says
};

// V8: the message as it goes back to work. Body and properties are the same; what the broker wrote
// of its deaths is gone (trap 7), and the newest of them survives in a header of ours; what would
// send it elsewhere too (CC, BCC), be refused (a foreign user id) or end it anew (expiration) is
// kept in headers of ours as well.
[[nodiscard]] ports::Message recovered_copy(const Letter& letter, const Marks& marks);

// The message as it is put aside: with all that is known of its deaths, and why it was kept. Into
// the dead-letter queue itself it is marked, so that its run does not take it up again.
[[nodiscard]] ports::Message kept_copy(const ports::Message& message, const Marks& marks,
                                       std::string_view why);

// Whether it is a header that brokers write when a message dies or is handed back.
[[nodiscard]] bool is_of_a_death(std::string_view header) noexcept;

}  // namespace holdfast::recovery
