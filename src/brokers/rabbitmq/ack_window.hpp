#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace holdfast::brokers::rabbitmq {

// What became of the deliveries of one channel, which the broker numbers from 1 on. Gathers
// acknowledgements, and says them with as few words as is safe: "all up to here" only where that
// covers nothing that is held, or not settled yet.
class AckWindow {
 public:
  enum class Say : std::uint8_t { acknowledge, hand_back, hold };
  struct Ack {
    std::uint64_t tag = 0;
    bool multiple = false;
    bool operator==(const Ack&) const = default;
  };

  void delivered(std::uint64_t tag, std::uint64_t bytes = 0);

  // False: it is not there, or it was settled before.
  [[nodiscard]] bool say(std::uint64_t tag, Say say);

  [[nodiscard]] bool is_held(std::uint64_t tag) const noexcept {
    const std::uint64_t at = tag - first_;
    return at < window_.size() && window_[at].state == State::held;
  }

  // The acknowledgements since the last time.
  [[nodiscard]] std::vector<Ack> take_acks();

  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  // Of what is neither settled nor held.
  [[nodiscard]] std::uint64_t open_bytes() const noexcept { return open_bytes_; }
  // Whether anything is held or not settled.
  [[nodiscard]] bool is_empty() const noexcept { return window_.empty(); }

 private:
  enum class State : std::uint8_t { open, acknowledged, settled, held };

  struct One {
    State state = State::open;
    std::uint64_t bytes = 0;
  };

  std::deque<One> window_;  // from first_ on; nothing is open, held or to be said before it
  std::uint64_t first_ = 1;
  std::vector<std::uint64_t> acknowledged_;
  std::size_t held_ = 0;
  std::uint64_t open_bytes_ = 0;
};

}  // namespace holdfast::brokers::rabbitmq
