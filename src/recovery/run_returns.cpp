// What a run does so that no message is returned once too often (returns.hpp).
#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "recovery/run.hpp"

namespace holdfast::recovery {
namespace {

constexpr Duration kTryAgain = std::chrono::seconds(1);
// Of tags that no broker gives: what is said of them is ignored.
constexpr std::uint64_t kNoLine = std::numeric_limits<std::uint64_t>::max();

}  // namespace

bool Run::is_last(const Entry& entry) const {
  return returns_.is_last(entry.deliveries);
}

std::size_t Run::at_their_limit() const {
  std::size_t count = put_aside_.size();
  const auto add = [&](const Entry& entry) { count += is_last(entry) ? 1 : 0; };
  for (const Entry& entry : waiting_)
    add(entry);
  for (const auto* const entries : {&in_flight_, &troubled_}) {
    for (const auto& [tag, entry] : *entries)
      add(entry);
  }
  return count;
}

// Not in the queue, or not for long: what was lost with a connection, and what came at its limit.
bool Run::has_what_must_go() const {
  const auto must_go = [this](const auto& one) { return is_last(one.second); };
  return !put_aside_.empty() || std::ranges::any_of(in_flight_, must_go) ||
         std::ranges::any_of(troubled_, must_go) || std::ranges::any_of(nobodys_, must_go) ||
         std::ranges::any_of(deferred_, [this](const ports::Delivery& delivery) {
           return returns_.is_last(read_letter(delivery).deliveries);
         });
}

void Run::resize_window(bool changed) {
  if (changed && consumer_ && !ending_) parts_.broker.set_prefetch(*consumer_, window_.size());
}

// At the end of a run: it stays in its queue, as a new message.
void Run::rescue(ports::Delivery delivery, std::int64_t deliveries) {
  Entry entry{.purpose = Entry::Purpose::renew, .deliveries = deliveries, .passed = true};
  entry.delivery = std::move(delivery);
  enqueue(std::move(entry));
}

// Nothing is sent any more, but what must not be returned.
void Run::rescue_or_drop_what_waits() {
  std::deque<Entry> waiting = std::exchange(waiting_, {});
  for (auto last = troubled_.rbegin(); last != troubled_.rend(); ++last)
    waiting.push_front(std::move(last->second));
  troubled_.clear();
  for (Entry& entry : waiting) {
    if (!is_last(entry)) continue;
    const std::int64_t deliveries = entry.deliveries;
    if (entry.purpose == Entry::Purpose::renew) {
      enqueue(std::move(entry));
    } else {
      rescue(std::move(entry.delivery), deliveries);
    }
  }
}

// The connection is gone, and with it, at the broker, each message that was at its limit: it is
// here, and nowhere else.
void Run::rescue_what_was_lost() {
  std::deque<Entry> lost;
  for (auto& [tag, entry] : std::exchange(troubled_, {}))
    lost.push_back(std::move(entry));
  for (auto* const entries : {&waiting_, &put_aside_}) {
    for (Entry& entry : std::exchange(*entries, {}))
      lost.push_back(std::move(entry));
  }
  for (ports::Delivery& delivery : std::exchange(deferred_, {})) {
    Entry entry{.purpose = Entry::Purpose::renew,
                .deliveries = read_letter(delivery).deliveries,
                .passed = true};
    entry.delivery = std::move(delivery);
    lost.push_back(std::move(entry));
  }
  for (Entry& entry : lost) {
    if (!is_last(entry)) continue;
    if (entry.purpose == Entry::Purpose::recover) ++taken_;
    rescue_orphan(std::move(entry));
  }
}

bool Run::is_void(const ports::DeliveryTag& tag) {
  return tag.line == kNoLine;
}

// Of a message whose delivery is void and which its queue has ended.
void Run::rescue_orphan(Entry entry) {
  entry.delivery.tag = {.line = kNoLine, .number = ++rescued_};
  entry.doubt = !returns_.end_is_sure();
  enqueue(std::move(entry));
}

// It stays in hand until its queue takes a new copy.
void Run::put_aside(Entry entry) {
  put_aside_.push_back(std::move(entry));
}

void Run::try_what_is_put_aside() {
  aside_timer_ = parts_.loop.after(kTryAgain, [this] {
    aside_timer_.reset();
    for (Entry& entry : std::exchange(put_aside_, {})) {
      entry.purpose = Entry::Purpose::renew;
      enqueue(std::move(entry));
    }
    pump();
  });
}

}  // namespace holdfast::recovery
