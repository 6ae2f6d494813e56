#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "brokers/rabbitmq/ack_window.hpp"
#include "brokers/rabbitmq/consume_line.hpp"
#include "brokers/rabbitmq/frames.hpp"
#include "brokers/rabbitmq/patience.hpp"
#include "ports/broker.hpp"

// What a ConsumeLine knows of its consumers and their channels.
namespace holdfast::brokers::rabbitmq {

// Nothing has come for so long: nothing is on its way.
inline constexpr Duration kQuiet = std::chrono::milliseconds(200);

struct ConsumeLine::Channel {
  enum class Phase : std::uint8_t {
    opening,
    idle,      // open, and nothing is delivered
    limiting,  // the prefetch is asked for
    starting,
    consuming,
    stopping,
    flushing,  // all that was said is on its way to the queue; then it is closed
    flushed,
    closing,
  };

  ChannelNumber number = 0;
  std::uint64_t line = 0;
  Consumer* consumer = nullptr;  // none: it is only being closed
  Phase phase = Phase::opening;
  SteadyTime since{};  // of the phase
  AckWindow window;
  bool has_acks = false;

  // Of the name that it consumes under now.
  std::uint32_t name = 0;
  std::size_t limit = 0;
  std::size_t counted = 0;    // delivered under it and neither acknowledged nor handed back
  std::size_t unwritten = 0;  // of it: acknowledged, and the broker was not told yet
  SteadyTime last_came{};     // when something was delivered, or it began to consume
  // Deliveries are to stop. What is on its way when a name is cancelled, a quorum queue takes back
  // and counts as returned: so nothing may be on its way then, and nothing is while the broker
  // hears of no acknowledgement and all that it may have under way has come.
  bool withholds_acks = false;
  std::uint64_t first_tag = 1;
  std::uint64_t last_tag = 0;

  // What is coming in.
  bool is_receiving = false;
  ports::Delivery delivery;
  std::uint64_t body_left = 0;

  [[nodiscard]] bool has_all() const { return counted + unwritten >= limit; }
  [[nodiscard]] SteadyTime quiet_at() const { return last_came + kQuiet; }
  [[nodiscard]] bool waits_for_answer() const {
    return phase != Phase::idle && phase != Phase::consuming && phase != Phase::flushed;
  }
  // In alphabetical order, in which quorum queues take messages back.
  [[nodiscard]] std::string consumer_name() const {
    const std::string number = std::to_string(name);
    return "holdfast-" + std::string(10 - number.size(), '0') + number;
  }
};

struct ConsumeLine::Consumer {
  ports::ConsumerId id = 0;
  std::string queue;
  std::size_t prefetch = 1;
  std::uint64_t most_bytes = 0;
  Patience patience;

  bool is_paused = false;
  bool is_closing = false;
  bool is_draining = false;
  std::move_only_function<void()> drained = nullptr;
  bool gave_up = false;
  bool was_told = false;  // that it consumes
  std::size_t open = 0;   // deliveries that are neither settled nor held
  Channel* current = nullptr;
  std::vector<Channel*> kept = {};  // with what they hold
  std::optional<SteadyTime> retry_at = {};

  // Half of what it could have more is kept from it by what it holds, or by what was open when it
  // began to consume under this name. Only when the broker can have nothing under way for it: a
  // quorum queue takes that back when the name is cancelled, and delivers it out of order.
  [[nodiscard]] bool is_starved() const {
    if (open >= prefetch || !current->has_all()) return false;
    return (prefetch - open) * 2 >= prefetch;
  }
  // The broker would go on to hand out more than it is to have.
  [[nodiscard]] bool is_too_wide() const { return prefetch * 2 <= current->limit; }
  [[nodiscard]] std::uint64_t open_bytes() const;
};

inline std::uint64_t ConsumeLine::Consumer::open_bytes() const {
  std::uint64_t bytes = current ? current->window.open_bytes() : 0;
  for (const Channel* const channel : kept)
    bytes += channel->window.open_bytes();
  return bytes;
}

}  // namespace holdfast::brokers::rabbitmq
