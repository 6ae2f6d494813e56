#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "core/uuid.hpp"
#include "http/recovery_desk.hpp"
#include "ports/loop.hpp"
#include "ports/store_lane.hpp"
#include "server/broker_desk.hpp"
#include "server/recover.hpp"
#include "triage/audit_log.hpp"

namespace holdfast::server {

// Recoveries that people start at this server. Each runs on a thread and a loop of its own, as
// those of the configuration do, and is a note in the store from its start to its end: what a
// server has left behind that ended meanwhile is found by the next one, and called interrupted.
//
// Threads: the loop's. All parts must outlive it.
class RecoveryDesk final : public http::RecoveryDesk {
 public:
  using Runner =
      std::function<Result<recovery::Run::Outcome>(RecoverSettings, const RecoverHooks&)>;
  struct Parts {
    ports::Loop& loop;
    ports::StoreLane& writer;
    ports::StoreLane& reader;
    Clock& clock;  // of the store
    Random& random;
    triage::AuditLog& audit;
    BrokerDesk& brokers;
    std::string runner;      // which process this is: one name for each life
    bool is_shared = false;  // others work on the same store
    // Whether a queue, as its URL names it, is being recovered by somebody else.
    std::function<bool(const BrokerPlace&)> is_busy = {};
    Logger log = {};
    Runner run = recover;
  };
  static constexpr std::size_t kMostAtOnce = 8;

  explicit RecoveryDesk(Parts parts);
  ~RecoveryDesk() override;
  RecoveryDesk(const RecoveryDesk&) = delete;
  RecoveryDesk& operator=(const RecoveryDesk&) = delete;

  using SampleThen = std::move_only_function<void(Result<wire::QueueSample>)>;

  // Looks for what was left behind.
  void start();

  void begin(wire::RecoveryRequest request, std::string who, Then then) override;
  void find(std::string id, Then then) override;
  void page(std::size_t limit, std::string cursor,
            std::move_only_function<void(Result<wire::RecoveryPage>)> then) override;
  void sample(Place place, wire::SampleRequest request, std::string who, SampleThen then) override;
  void cancel(std::string id, std::string who, Then then) override;

  // The id of the one that runs on this queue of a broker; empty: none.
  [[nodiscard]] std::string running_on(const std::string& broker, const std::string& queue) const;
  // Whether one of them runs on this queue.
  [[nodiscard]] bool is_running(const BrokerPlace& place) const;

  // Nothing begins any more, and what runs is asked to end. Its threads are for the caller to wait
  // for, not on the loop.
  [[nodiscard]] std::vector<std::jthread> end();
  // Calls `then` when all that was noted before is in the store, or cannot be.
  void flush(std::move_only_function<void()> then);

 private:
  struct One;
  class Progress;

  // What both kinds of looks at a queue need: nobody else may be at it.
  [[nodiscard]] Result<BrokerPlace> place_to_work(const RecoverSettings& settings) const;
  void sampled(One& one, const Result<recovery::Run::Outcome>& outcome);
  [[nodiscard]] Result<RecoverSettings> settings_of(const wire::RecoveryRequest& request) const;
  void launch(const std::shared_ptr<One>& one, RecoverSettings settings);
  void moved(const std::string& id, const recovery::Summary& summary);
  void warned(const std::string& id, std::string text);
  void ended(const std::string& id, const Result<recovery::Run::Outcome>& outcome);
  void save(const wire::Recovery& recovery, std::move_only_function<void()> then = nullptr);
  void look_for_left_ones();
  [[nodiscard]] bool is_left(const wire::RecoveryNote& note) const;
  void interrupt(wire::RecoveryNote note, std::uint64_t version);

  const Parts parts_;
  UuidSource ids_;
  std::map<std::string, std::shared_ptr<One>> running_;  // by id
  bool ending_ = false;
  std::unique_ptr<ports::Loop::Timer> timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what comes late
};

}  // namespace holdfast::server
