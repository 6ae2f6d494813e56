#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "brokers/sqs/arrival.hpp"
#include "brokers/sqs/orders.hpp"
#include "brokers/sqs/queues.hpp"
#include "brokers/sqs/sender.hpp"
#include "brokers/sqs/shelf.hpp"
#include "brokers/sqs/topologies.hpp"
#include "ports/broker.hpp"

namespace holdfast::brokers::sqs {

// Receives from one queue: several polls at once while much comes, one while nothing does; never
// more than the prefetch is out. Keeps what is out from others until it is settled.
//
// Threads and callbacks as those of the API.
class Consumer {
 public:
  struct Parts {
    Api& api;
    Queues& queues;
    Sender& sender;
    Topologies& topologies;
  };
  struct Hooks {
    std::function<void(std::vector<ports::Delivery>)> received;
    std::function<void(Error)> interrupted;
    std::function<void()> consuming;
    std::function<void(Error)> gave_up;
    // It is closed, and nothing of it is under way any more: it can be destroyed, though not from
    // within this.
    std::function<void()> over;
  };

  // `line` is of this consumer alone.
  Consumer(Parts parts, std::uint64_t line, ports::Intake intake, Hooks hooks);
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  void start();
  void pause();
  void resume();
  void set_prefetch(std::size_t prefetch);
  // Hands back what is out. `then` is called when SQS has heard all, or cannot be told, and the
  // polls have ended, or two seconds later. What those bring that last longer is handed back.
  void close(std::move_only_function<void()> then);

  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

  void acknowledge(ports::DeliveryTag tag);
  void hand_back(ports::DeliveryTag tag);
  void hold(ports::DeliveryTag tag);

 private:
  void find_queue();
  void poll();
  void poll_once(std::size_t most);
  void polled(std::size_t most, const Answer& answer);
  void take(Arrival arrival, std::vector<ports::Delivery>& deliveries);
  void put_off(Arrival arrival, Duration rest);
  void failed(const Trouble& trouble);
  void vanished(const Trouble& trouble);
  void look_after();
  void ask_for_time();
  void tell_expired(std::size_t count);
  void give_back(const std::string& receipt);
  void remove(const std::string& receipt);
  void end_if_done();

  const Parts parts_;
  const std::uint64_t line_;
  ports::Intake intake_;
  const Hooks hooks_;
  const retry::Policy policy_;
  Tries tries_;
  Shelf shelf_;
  Orders orders_;
  std::unique_ptr<ports::Loop::Timer> look_timer_;
  std::unique_ptr<ports::Loop::Timer> retry_timer_;
  std::size_t polls_ = 0;         // under way
  std::size_t errands_ = 0;       // whatever else is under way and comes back here
  std::size_t reserved_ = 0;      // for what polls may bring
  std::size_t wanted_polls_ = 1;  // as much as comes
  bool is_consuming_ = false;
  bool is_paused_ = false;
  bool has_given_up_ = false;
  bool is_closing_ = false;
  bool leaves_polls_ = false;  // to end by themselves
  bool is_over_ = false;
  std::move_only_function<void()> closed_ = nullptr;
  std::unique_ptr<ports::Loop::Timer> close_timer_;
};

}  // namespace holdfast::brokers::sqs
