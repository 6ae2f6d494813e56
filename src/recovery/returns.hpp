#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

#include "ports/broker.hpp"

namespace holdfast::recovery {

// The delivery limit of a queue, as an operator states it.
struct StatedLimit {
  std::optional<std::int64_t> returns = {};  // nothing: there is none

  bool operator==(const StatedLimit&) const = default;
};

// "none", or how many returns it allows; empty: not stated. Fails with invalid_argument.
[[nodiscard]] Result<std::optional<StatedLimit>> parse_stated_limit(std::string_view text);

// How often a message of one queue may be returned. A return is every end of a delivery but an
// acknowledgement. A quorum queue destroys a message, or dead-letters it, when it is returned more
// often than its delivery limit; so a message that is at the limit must leave by a confirmed copy.
class ReturnRules {
 public:
  struct Asked {
    std::string queue;
    bool dry = false;
    std::optional<StatedLimit> stated = {};  // for what cannot be found out
  };

  ReturnRules() = default;  // returns are not counted

  // Fails where a run could destroy messages: by a limit that is too low, or cannot be found out.
  [[nodiscard]] static Result<ReturnRules> make(const ports::QueueFacts& facts, const Asked& asked);

  [[nodiscard]] std::optional<std::int64_t> limit() const noexcept { return limit_; }
  // Of a message that was returned so often: one more return is its end.
  [[nodiscard]] bool is_last(std::int64_t returns) const noexcept {
    return limit_ && returns >= *limit_;
  }
  // Whether its end is to be destroyed, for sure: not a limit that somebody has stated, nor one
  // beyond which messages go elsewhere.
  [[nodiscard]] bool end_is_sure() const noexcept { return end_is_sure_; }
  // Two more returns are its end, or fewer: few such messages may be in hand at a time.
  [[nodiscard]] bool is_near(std::int64_t returns) const noexcept {
    return limit_ && returns >= std::max<std::int64_t>(1, *limit_ - 1);
  }
  // Whether a message that stays in the queue is to begin anew there, as a new message. `wanted` is
  // what was asked for; with a limit it is done early enough that one more return, such as a lost
  // connection, does no harm.
  [[nodiscard]] bool is_to_be_renewed(std::int64_t returns, std::int64_t wanted) const noexcept {
    if (limit_) return returns >= std::min(wanted, std::max<std::int64_t>(1, *limit_ - 1));
    return is_counted_ && returns >= wanted;
  }

 private:
  std::optional<std::int64_t> limit_;
  bool is_counted_ = false;  // perhaps with a limit
  bool end_is_sure_ = false;
};

// How many messages are taken ahead from a queue with a delivery limit: one at first, twice as many
// each time that so many were dealt with, and one again when a message near the limit comes. What
// was returned before comes first from a queue, so most that a run returns are new to that.
class DeliveryWindow {
 public:
  // Not `careful`: `most` from the beginning.
  DeliveryWindow(std::size_t most, bool careful) : most_(most), careful_(careful) { restart(); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // These three return whether the size has changed. A new connection begins anew.
  bool restart();
  bool delivered(bool is_near);
  bool dealt_with(std::size_t messages);

 private:
  std::size_t most_;
  bool careful_;
  std::size_t size_ = 1;
  std::size_t dealt_with_ = 0;  // since the size has changed
  bool is_near_ = false;
};

}  // namespace holdfast::recovery
