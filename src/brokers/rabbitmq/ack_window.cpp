#include "brokers/rabbitmq/ack_window.hpp"

#include <optional>

namespace holdfast::brokers::rabbitmq {

void AckWindow::delivered(std::uint64_t tag, std::uint64_t bytes) {
  if (window_.empty()) first_ = tag;
  while (first_ + window_.size() < tag)
    window_.push_back({.state = State::settled});  // none is left out
  window_.push_back({.bytes = bytes});
  open_bytes_ += bytes;
}

bool AckWindow::say(std::uint64_t tag, Say say) {
  const std::uint64_t at = tag - first_;
  if (at >= window_.size()) return false;
  State& state = window_[at].state;
  if (state != State::open && (state != State::held || say == Say::hold)) return false;
  if (state == State::held) {
    --held_;
  } else {
    open_bytes_ -= window_[at].bytes;
  }
  switch (say) {
    case Say::acknowledge:
      state = State::acknowledged;
      acknowledged_.push_back(tag);
      break;
    case Say::hand_back: state = State::settled; break;
    case Say::hold:
      state = State::held;
      ++held_;
      break;
  }
  return true;
}

std::vector<AckWindow::Ack> AckWindow::take_acks() {
  std::vector<Ack> acks;
  std::optional<std::uint64_t> last;
  std::size_t covered = 0;
  for (; !window_.empty(); window_.pop_front(), ++first_) {
    const State state = window_.front().state;
    if (state == State::open || state == State::held) break;
    if (state == State::settled) continue;
    last = first_;
    ++covered;
  }
  if (last) acks.push_back({*last, covered > 1});
  for (const std::uint64_t tag : acknowledged_) {
    if (tag < first_) continue;
    acks.push_back({tag, false});
    window_[tag - first_].state = State::settled;
  }
  acknowledged_.clear();
  return acks;
}

}  // namespace holdfast::brokers::rabbitmq
