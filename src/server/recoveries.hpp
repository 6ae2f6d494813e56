#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "ports/loop.hpp"
#include "server/recover.hpp"

namespace holdfast::server {

// From what a configuration says of a recovery to what runs it. Fails with invalid_argument for a
// URL, a map or a filter that is none.
[[nodiscard]] Result<RecoverSettings> settings_of(const config::Recover& recover);

// One run of a recovery.
struct RecoveryRun {
  std::string name;    // of its table
  std::string queue;   // the dead-letter queue
  std::string broker;  // without user and password
  std::string place;   // the queue with its broker, for people; without a password
  config::Recover config;
};

// Hears of runs. On the loop.
class RecoveryListener {
 public:
  virtual ~RecoveryListener() = default;
  virtual void began(const RecoveryRun& run) = 0;
  // So many messages were there at its start, and something was done with the first of them. Not
  // called if nobody could say, or nothing is done.
  virtual void found(const RecoveryRun& run, std::uint64_t messages) = 0;
  virtual void ended(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome) = 0;
};

// The recoveries of the configuration: on start, and every so often. Each runs on a thread and a
// loop of its own, so that neither its work nor its failure is felt by the tasks of this server; no
// queue is recovered by two at once.
//
// Threads: the loop's, which must outlive it, as must the listener.
class Recoveries {
 public:
  using Runner =
      std::function<Result<recovery::Run::Outcome>(RecoverSettings, const RecoverHooks&)>;
  Recoveries(ports::Loop& loop, Logger log, RecoveryListener& listener, Runner runner = recover);
  ~Recoveries();
  Recoveries(const Recoveries&) = delete;
  Recoveries& operator=(const Recoveries&) = delete;

  // Whether set() would take them.
  [[nodiscard]] static Result<void> check(const std::map<std::string, config::Recover>& recoveries);
  // Has these hold. One under way ends as it began, or is asked to end if its table is gone. Those
  // on start run at the first call. Fails, and changes nothing, where one cannot be run.
  [[nodiscard]] Result<void> set(const std::map<std::string, config::Recover>& recoveries);

  // Whether a queue is being recovered by one of these.
  [[nodiscard]] bool is_running(const BrokerPlace& place) const;
  // Asked before one begins: whether somebody else recovers its queue.
  void on_begin(std::function<bool(const BrokerPlace&)> is_busy) { is_busy_ = std::move(is_busy); }

  // Nothing begins any more, and what runs is asked to end. Its threads are for the caller to wait
  // for, not on the loop.
  [[nodiscard]] std::vector<std::jthread> end();

 private:
  struct One;

  void begin(const std::string& name);
  void begin_later(const std::string& name);
  void ended(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome);
  void join(std::thread::id thread);

  ports::Loop& loop_;
  const Logger log_;
  RecoveryListener& listener_;
  const Runner runner_;
  std::function<bool(const BrokerPlace&)> is_busy_;
  std::map<std::string, std::unique_ptr<One>> all_;
  std::vector<std::jthread> leaving_;   // of tables that are gone or say something else by now
  std::multiset<std::string> running_;  // queues, as people see them
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what comes late
};

}  // namespace holdfast::server
