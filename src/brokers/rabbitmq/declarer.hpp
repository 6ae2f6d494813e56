#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "brokers/rabbitmq/fields.hpp"
#include "brokers/rabbitmq/frames.hpp"
#include "ports/broker.hpp"

namespace holdfast::brokers::rabbitmq {

// Declares queues, one after the other, on a channel of its own: a broker that does not like one
// closes the channel, and others must not suffer for it. Threads: one.
class Declarer {
 public:
  struct Answer {
    int code = 0;       // of the broker, which has said no: 404, 406 …
    bool lost = false;  // the connection is gone before it was answered
    Error error = {};
    ports::Depth depth = {};

    [[nodiscard]] bool is_there() const noexcept { return code == 0 && !lost; }
  };
  struct Wish {
    std::string queue;
    bool only_look = false;  // a passive declaration: nothing is made
    ports::FieldTable arguments = {};
    bool is_exchange = false;  // which is only looked for
  };
  using Then = std::move_only_function<void(Answer)>;

  explicit Declarer(ChannelNumber channel) : channel_(channel) {}

  void ask(Wish wish, Then then) { asked_.push_back({std::move(wish), std::move(then)}); }

  // Writes what can be asked now.
  void go_on(FrameWriter& out, SteadyTime now);
  // Since when the broker has not answered.
  [[nodiscard]] std::optional<SteadyTime> waits_since() const {
    const bool waits = state_ == State::opening || state_ == State::asking;
    return waits ? std::optional(since_) : std::nullopt;
  }
  // Of its channel.
  void on_method(const MethodReader::Method& method, FrameWriter& out);
  void on_lost(const Error& why);

 private:
  enum class State : std::uint8_t { closed, opening, ready, asking };
  struct One {
    Wish wish;
    Then then;
  };

  [[nodiscard]] bool declare(const Wish& wish, FrameWriter& out) const;
  void answer(Answer answer);

  const ChannelNumber channel_;
  State state_ = State::closed;
  SteadyTime since_{};
  std::deque<One> asked_;
};

}  // namespace holdfast::brokers::rabbitmq
