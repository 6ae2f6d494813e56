#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <holdfast/result.hpp>

#include "brokers/sqs/queues.hpp"
#include "ports/broker.hpp"

namespace holdfast::brokers::sqs {

// What SQS says of a queue.
struct QueueFacts {
  std::string arn = {};
  std::string dead_letter_arn = {};  // empty: it has no redrive policy
  std::optional<std::int64_t> most_receives = {};
  Duration retention = std::chrono::days(4);
};
[[nodiscard]] QueueFacts queue_facts(std::string_view answer);

inline constexpr Duration kLongestRetention = std::chrono::days(14);

// How a queue that is there is other than wished, each with what to do about it. Pure. Trap 8: a
// message keeps its age when it moves to the dead-letter queue.
[[nodiscard]] std::vector<std::string> differences(const ports::QueueWish& wish,
                                                   const QueueFacts& queue,
                                                   const std::optional<QueueFacts>& dead_letter,
                                                   int most_receives);

// Makes sure of queues, one after the other: those that are not there are made, if the options say
// so; those that are, are looked at and never changed. What is other than wished is a warning,
// once.
//
// Threads and callbacks as those of the API.
class Topologies {
 public:
  Topologies(Api& api, Queues& queues) : api_(api), queues_(queues) {}

  using Then = std::move_only_function<void(Result<ports::Opened>)>;
  void open(ports::Topology topology, Then then);

  // Of one queue, if it was asked for before. Whether that succeeded is seen by who uses it.
  void make_sure(const std::string& queue, std::move_only_function<void()> then);

 private:
  struct Work;
  using Facts = std::expected<std::optional<QueueFacts>, Trouble>;
  using FactsThen = std::move_only_function<void(Facts)>;

  void next(std::shared_ptr<Work> work);
  void with_dead_letter(std::shared_ptr<Work> work, std::optional<QueueFacts> dead_letter);
  void found(std::shared_ptr<Work> work, const std::vector<std::string>& details);
  // Made if it is not there, as far as it may be.
  void look(const std::string& queue, bool is_dead_letter, std::optional<std::string> redrive_arn,
            FactsThen then);
  void create(const std::string& queue, bool is_dead_letter,
              const std::optional<std::string>& redrive_arn, FactsThen then);
  void read(const std::string& queue, FactsThen then);
  void warn(const std::string& queue, const std::string& detail);

  Api& api_;
  Queues& queues_;
  std::map<std::string, ports::QueueWish> wishes_;
  std::set<std::string> dead_letters_;
  std::set<std::string> warned_;
};

}  // namespace holdfast::brokers::sqs
