#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "brokers/rabbitmq/declarer.hpp"
#include "ports/broker.hpp"

namespace holdfast::brokers::rabbitmq {

// The queues that are to be there: made sure of when they are asked for, and again whenever that is
// in doubt. Threads: one.
class Topologies {
 public:
  using Then = std::move_only_function<void(Result<ports::Opened>)>;

  Topologies(Declarer& declarer, Logger log) : declarer_(declarer), log_(log) {}

  // Answered when all its queues are looked at, or by give_up(). One that could not be made sure of
  // for another reason than a lost connection is answered so, and forgotten.
  void add(ports::Topology topology, Then then);
  // Looks at those that are in doubt.
  void make_sure();
  // They all are: the connection was lost, or a queue was.
  void doubt();
  void give_up(const Error& why);

  [[nodiscard]] bool is_empty() const noexcept { return topologies_.empty(); }
  // Some queue is still being looked at.
  [[nodiscard]] bool is_busy() const noexcept { return under_way_ > 0; }

 private:
  struct One {
    ports::Topology topology;
    Then then;  // none: it was answered before
    ports::Opened opened = {};
    std::size_t left = 0;
    bool sure = false;
    std::optional<Error> failed = {};
  };

  void look_at(std::uint64_t id);
  void ask(std::uint64_t id, const ports::QueueWish& wish, bool only_look, std::string detail);
  void on_answer(std::uint64_t id, const ports::QueueWish& wish, bool only_look, std::string detail,
                 Declarer::Answer answer);
  void finish(std::uint64_t id);

  Declarer& declarer_;
  const Logger log_;
  std::map<std::uint64_t, One> topologies_;
  std::uint64_t last_ = 0;
  std::size_t under_way_ = 0;  // queues
};

}  // namespace holdfast::brokers::rabbitmq
