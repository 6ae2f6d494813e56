// What a run does while the broker does not take what it sends.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <holdfast/retry/wait.hpp>

#include "recovery/run.hpp"

namespace holdfast::recovery {
namespace {

using namespace std::chrono_literals;
using ports::Fate;

constexpr Duration kMostRefusedFor = 5s;  // leaders are elected sooner

// How long to leave a broker alone that does not take messages.
const retry::Wait& broker_wait() {
  static const retry::Wait wait =
      retry::exponential({.first = 200ms, .factor = 2, .cap = 5s, .jitter = retry::Jitter::equal});
  return wait;
}

}  // namespace

// Nobody's fault but the connection's, or that of a queue whose leader was lost with it; but a
// queue that refuses may as well be full, and is not waited for longer than elections take.
bool Run::may_pass(const ports::Sent& result) const {
  if (result.fate == Fate::unsent || result.fate == Fate::unknown) return true;
  return result.fate == Fate::refused && result.error.code == ErrorCode::exhausted &&
         refused_for_ < std::min(kMostRefusedFor, options_.limits.stall / 2);
}

// All that comes back so is sent again, in its order.
void Run::in_trouble(Entry entry, const ports::Sent& result) {
  const bool is_refused = result.fate == Fate::refused;
  if (!is_refused) refused_for_ = {};
  // Of several queues behind an exchange one may have refused it, and another has it.
  if (is_refused && !entry.to.exchange.empty()) entry.doubt = true;
  if (result.fate == Fate::unknown) {
    entry.doubt = true;
    if (entry.identity != Identity()) {
      if (!std::exchange(entry.unknown, true)) ++doubts_;
      memory_.note(entry.identity, {.copy = Memory::Copy::unknown, .life = life_});
    }
  }
  const ports::DeliveryTag tag = entry.tag();
  if (ending_ && !finishes_waiting_ && !is_last(entry)) {
    return;  // it stays, and the next run sends it again
  }
  if (ending_ && !finishes_waiting_ && parts_.to && entry.purpose == Entry::Purpose::recover) {
    return rescue(std::move(entry.delivery), entry.deliveries);  // here, without the other broker
  }
  troubled_.emplace(tag, std::move(entry));
  if (std::exchange(backing_off_, true)) return;
  if (failures_ == 0) {
    const bool recovers = entry.purpose == Entry::Purpose::recover;
    warn(Warning::Kind::connection, "messages cannot be sent now" +
                                        (recovers ? at_target() : std::string()) + ": " +
                                        result.error.message);
  }
  backoff_ = broker_wait().next({.retry = ++failures_, .previous = backoff_}, parts_.random);
  if (is_refused) refused_for_ += backoff_;
  backoff_timer_ = parts_.loop.after(backoff_, [this] {
    backing_off_ = false;
    send_again();
  });
}

void Run::send_again() {
  // Not before all that was sent is answered: what is sent again must not pass what is not.
  if (backing_off_ || !in_flight_.empty()) return;
  while (!troubled_.empty()) {
    auto last = troubled_.extract(std::prev(troubled_.end()));
    waiting_.push_front(std::move(last.mapped()));
  }
  pump();
}

}  // namespace holdfast::recovery
