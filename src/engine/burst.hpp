#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <holdfast/retry.hpp>

#include "engine/floor.hpp"
#include "ports/broker.hpp"

namespace holdfast::engine {

// Messages that are published together, under one policy (R1): what was not confirmed because the
// broker could not be reached is sent again, with one record in the log for all of them, until all
// are or the policy gives up. A message that the broker will never have is not sent again. One that
// it does not answer within kAnswerWithin is in doubt, and ends the burst: sending it again would
// only add to what a broker in trouble has to do.
//
// Threads: the loop's.
class Burst : public std::enable_shared_from_this<Burst> {
 public:
  struct Item {
    ports::Held task;
    ports::Outgoing outgoing;
    // The delivery that this is the copy of: to be acknowledged once the copy is confirmed.
    std::optional<ports::DeliveryTag> moves = {};
    // One time that it was sent was not answered, so it may be there whatever the rest says.
    bool in_doubt = false;
    bool confirmed = false;
    Error error = {};  // the last, unless confirmed
  };
  struct Hooks {
    std::function<void(const Item&)> confirmed;                  // each, as soon as it is
    std::function<void(std::size_t)> retried;                    // so many are sent once more
    std::function<void(const Burst&, std::vector<Item>)> ended;  // all of them
  };

  // To be made as a shared one. Whoever starts it keeps it until it has ended: it stops where
  // nobody does.
  Burst(Floor& floor, ports::Broker& broker, retry::Policy policy, std::vector<Item> items,
        Hooks hooks);
  void start() { send(); }
  // Ends it now: what is not confirmed is in doubt.
  void abandon();

 private:
  void send();
  void answered(std::size_t round, std::size_t index, ports::Sent sent);
  void round_ended();
  void end();

  Floor& floor_;
  ports::Broker& broker_;
  const retry::Policy policy_;
  std::vector<Item> items_;
  const Hooks hooks_;
  retry::Run run_;
  std::vector<bool> again_;  // to be sent in this round
  std::size_t open_ = 0;
  std::size_t round_ = 0;
  bool ended_ = false;
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::engine
