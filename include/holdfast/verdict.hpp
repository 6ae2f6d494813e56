#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <holdfast/time.hpp>

namespace holdfast {

// What a failure means for what happens next.
enum class VerdictKind : std::uint8_t {
  retry,      // it may recover: try again, and count the attempt
  throttle,   // the other side asks us to slow down: wait; a task spends no attempt on it
  give_up,    // it cannot recover: trying again only costs
  ambiguous,  // it may have happened in spite of the error: never retried blindly, kept for a
              // person
  success,    // it has happened: the error says that the work was done already
};

[[nodiscard]] std::string_view to_string(VerdictKind kind) noexcept;  // "give up"

struct Verdict {
  VerdictKind kind = VerdictKind::retry;
  std::optional<Duration> wait =
      {};  // of a throttle: the least wait, where the rule or the error says one

  bool operator==(const Verdict&) const = default;
};

}  // namespace holdfast
