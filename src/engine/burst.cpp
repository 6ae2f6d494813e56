#include "engine/burst.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::engine {
namespace {

// Confirms of persistent messages take up to seconds on a busy disk; an alarm has a bound of its
// own.
constexpr Duration kAnswerWithin = std::chrono::seconds(60);

// A queue that was deleted is made again by whoever consumes it, and one whose leader was lost
// elects another.
bool may_work_later(const ports::Sent& sent) {
  return sent.fate == ports::Fate::unsent || sent.fate == ports::Fate::unknown ||
         sent.fate == ports::Fate::returned ||
         (sent.fate == ports::Fate::refused && sent.error.code == ErrorCode::exhausted);
}

}  // namespace

Burst::Burst(Floor& floor, ports::Broker& broker, retry::Policy policy, std::vector<Item> items,
             Hooks hooks)
    : floor_(floor),
      broker_(broker),
      policy_(std::move(policy)),
      items_(std::move(items)),
      hooks_(std::move(hooks)),
      run_(policy_, nullptr),
      again_(items_.size(), true) {}

void Burst::send() {
  open_ = static_cast<std::size_t>(std::ranges::count(again_, true));
  if (++round_ > 1) hooks_.retried(open_);
  timer_ = floor_.parts.loop.after(kAnswerWithin, [this] { abandon(); });
  for (std::size_t index = 0; index < items_.size(); ++index) {
    if (!again_[index]) continue;
    // A copy: it may have to be sent again.
    broker_.publish(items_[index].outgoing,
                    [weak = weak_from_this(), round = round_, index](ports::Sent sent) {
                      if (const auto self = weak.lock()) {
                        self->answered(round, index, std::move(sent));
                      }
                    });
  }
}

void Burst::answered(std::size_t round, std::size_t index, ports::Sent sent) {
  if (ended_ || round != round_) return;
  Item& item = items_[index];
  again_[index] = may_work_later(sent);
  if (sent.fate == ports::Fate::unknown) item.in_doubt = true;
  if (sent.fate == ports::Fate::confirmed) {
    item.confirmed = true;
    hooks_.confirmed(item);
  } else {
    item.error = std::move(sent.error);
  }
  if (--open_ == 0) round_ended();
}

void Burst::round_ended() {
  const auto failed = std::ranges::find(again_, true);
  if (failed == again_.end()) {
    run_.succeeded();
    return end();
  }
  const Item& item = items_[static_cast<std::size_t>(failed - again_.begin())];
  const auto until = run_.failed(retry::Observed::error(item.error));
  if (!until) return end();
  const Duration wait = std::max(*until - floor_.now(), Duration::zero());
  timer_ = floor_.parts.loop.after(wait, [this] {
    if (run_.woke(true).kind == retry::Run::Next::Kind::go) return send();
    end();
  });
}

void Burst::abandon() {
  if (ended_) return;
  const bool was_sent = round_ > 0;
  for (std::size_t index = 0; index < items_.size(); ++index) {
    Item& item = items_[index];
    if (item.confirmed || !again_[index]) continue;
    if (was_sent) item.in_doubt = true;
    item.error = {ErrorCode::timeout, "publish", "the broker has not answered"};
  }
  end();
}

void Burst::end() {
  if (std::exchange(ended_, true)) return;
  timer_.reset();
  hooks_.ended(*this, std::move(items_));
}

}  // namespace holdfast::engine
