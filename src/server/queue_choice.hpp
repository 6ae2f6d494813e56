#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "ports/broker.hpp"
#include "server/broker_choice.hpp"

namespace holdfast::server {

// The URL of several queues of one broker: its last part is a pattern of names with * and ?. As
// part of a name these are written %2a and %3f.
struct QueuePattern {
  std::string broker_url;
  std::string pattern = {};  // as core/name_pattern reads it
  std::string name = {};     // the last part, taken for the name of one queue
  std::string text = {};     // for people: without the password
};
// Nothing: it is the URL of one queue, or of none. Fails with invalid_argument.
[[nodiscard]] Result<std::optional<QueuePattern>> queue_pattern(const std::string& url);

struct ChosenQueue {
  std::string url;    // of it alone
  std::string place;  // for people
  std::string name;
  std::string broker;  // for people, and to be compared
  bool by_pattern = false;
  std::optional<std::uint64_t> ready = {};  // messages, as the broker has listed it
};

struct LeftOutQueue {
  std::string place;
  std::string why;
};

struct QueueChoice {
  std::vector<ChosenQueue> queues = {};     // each once, in the order they are asked for
  std::vector<LeftOutQueue> left_out = {};  // that a pattern matches, and which are no sources
};

// What several URLs come to, of which some may be patterns.
class QueueChooser {
 public:
  // `settings`: of the brokers, all but their URL. `targets`: queues that messages go to, at the
  // broker that they come from.
  QueueChooser(BrokerSettings settings, std::set<std::string> targets)
      : settings_(std::move(settings)), targets_(std::move(targets)) {}

  // Fails with invalid_argument if the URL is none or names a target; with not_found if no queue
  // matches; and as list_queues() does.
  [[nodiscard]] Result<void> add(const std::string& url, const Logger& log = {});

  [[nodiscard]] const QueueChoice& choice() const noexcept { return choice_; }

 private:
  [[nodiscard]] Result<void> add_matching(const QueuePattern& pattern, const Logger& log);
  [[nodiscard]] Result<std::vector<ports::QueueStatus>> list(const std::string& broker_url,
                                                             const std::string& pattern,
                                                             const Logger& log) const;
  [[nodiscard]] Error no_match(const QueuePattern& pattern, const Logger& log) const;
  void choose(ChosenQueue queue);

  const BrokerSettings settings_;
  const std::set<std::string> targets_;
  QueueChoice choice_;
  std::set<std::string> places_;
};

}  // namespace holdfast::server
