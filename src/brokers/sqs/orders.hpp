#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "brokers/sqs/queues.hpp"
#include "brokers/sqs/trouble.hpp"

namespace holdfast::brokers::sqs {

// What is said of messages that were received from one queue: that they are done with, or for how
// long they are to be kept from others. What has gathered goes out in batches of ten; each order
// has its own result, and is said again by a policy.
//
// Threads and callbacks as those of the API; `idle` is called whenever the last of them has ended.
class Orders {
 public:
  using Then = std::move_only_function<void(const std::optional<Trouble>&)>;

  Orders(Api& api, Queues& queues, std::string queue, std::function<void()> idle);

  void remove(std::string receipt, Then then);
  void keep(std::string receipt, Duration visibility, Then then);

  // Neither done nor given up.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }

 private:
  struct Order {
    Order(std::string of, Duration keep_for, Then told, const retry::Policy& policy)
        : receipt(std::move(of)), visibility(keep_for), then(std::move(told)), tries(policy) {}
    std::string receipt;
    Duration visibility;
    Then then;
    Tries tries;
  };
  using Batch = std::vector<std::unique_ptr<Order>>;
  // Of one kind, since a request has only those.
  struct Line {
    std::string operation;
    std::deque<std::unique_ptr<Order>> waiting = {};
    int under_way = 0;
    bool is_flushing = false;
  };

  void add(Line& line, std::unique_ptr<Order> order);
  void flush(Line& line);
  void send(Line& line, Batch batch);
  void answered(Line& line, Batch batch, const Answer& answer);
  void end(Order& order, const std::optional<Trouble>& trouble);
  void say_again(Line& line, Batch batch, SteadyTime when);

  Api& api_;
  Queues& queues_;
  const std::string queue_;
  const std::function<void()> idle_;
  const retry::Policy policy_;
  Line removals_{.operation = "DeleteMessageBatch"};
  Line visibilities_{.operation = "ChangeMessageVisibilityBatch"};
  std::size_t pending_ = 0;
};

}  // namespace holdfast::brokers::sqs
