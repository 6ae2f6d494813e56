#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/clock.hpp>

#include "ports/broker_observer.hpp"

namespace holdfast::seeing {

// What the server uses one broker for, and how its connections fare. Threads: the loop's.
class BrokerState final : public ports::BrokerObserver {
 public:
  struct About {
    std::string place = {};  // without user and password: "amqp://mq/%2f"
    std::string name = {};   // for people: "RabbitMQ at mq:5672"
  };
  BrokerState(Clock& clock, About about) : clock_(clock), about_(std::move(about)) {}

  void connected(ports::BrokerWay way) noexcept override;
  void disconnected(ports::BrokerWay way, const Error& why, bool was_up) noexcept override;
  void blocked(bool is_blocked) noexcept override;

  // What it is used for.
  struct Carried {
    std::string queue = {};
    // Whoever hands in a task waits until the broker has it; not so: the task is recorded, and
    // that is enough.
    bool waits_for_broker = false;
  };
  std::vector<Carried> carried = {};
  std::vector<std::string> recoveries = {};  // their names

  [[nodiscard]] const About& about() const noexcept { return about_; }
  struct Trouble {
    WallTime since{};
    std::string why = {};
  };
  // Nothing: it can be reached, or nobody has tried yet.
  [[nodiscard]] const std::optional<Trouble>& missing() const noexcept { return missing_; }
  [[nodiscard]] std::optional<WallTime> blocked_since() const noexcept { return blocked_since_; }
  [[nodiscard]] bool is_connected() const noexcept;
  // Connections that were up.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

 private:
  enum class Way : std::uint8_t { idle, up, down };

  void look(const std::string& why);

  Clock& clock_;
  const About about_;
  std::array<Way, 2> ways_{};  // index: ports::BrokerWay
  std::optional<Trouble> missing_;
  std::optional<WallTime> blocked_since_;
  std::uint64_t lost_ = 0;
};

// One broker as the server sees it, of all its states there.
struct BrokerSeen {
  BrokerState::About about = {};
  bool is_connected = true;
  std::optional<BrokerState::Trouble> missing = {};
  std::optional<WallTime> blocked_since = {};
  std::uint64_t lost = 0;
  std::vector<BrokerState::Carried> carried = {};
  std::vector<std::string> recoveries = {};

  [[nodiscard]] bool can_be_used() const noexcept { return !missing && !blocked_since; }
};

// Every broker that the server uses now, and what is in dead-letter queues. Threads: the loop's.
class BrokerStates {
 public:
  // A depth that was read longer ago is not shown any more.
  static constexpr Duration kDepthLasts = std::chrono::seconds(60);

  explicit BrokerStates(Clock& clock) : clock_(clock) {}

  // Known until nobody has it any more.
  [[nodiscard]] std::shared_ptr<BrokerState> add(BrokerState::About about);
  // By place: a server may be at one broker as several users, or with several settings.
  [[nodiscard]] std::vector<BrokerSeen> all() const;

  // Nothing: it could not be read.
  void set_depth(const std::string& place, const std::string& queue,
                 std::optional<std::uint64_t> messages);
  struct Depth {
    std::string_view place = {};
    std::string_view queue = {};
    std::uint64_t messages = 0;
  };
  [[nodiscard]] std::vector<Depth> depths() const;

 private:
  struct Reading {
    std::uint64_t messages = 0;
    SteadyTime at{};
  };

  Clock& clock_;
  std::vector<std::weak_ptr<BrokerState>> all_;
  std::map<std::pair<std::string, std::string>, Reading> depths_;  // by place and queue
};

}  // namespace holdfast::seeing
