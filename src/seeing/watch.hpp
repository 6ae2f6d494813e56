#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <holdfast/clock.hpp>

#include "engine/observer.hpp"
#include "seeing/alert_rule.hpp"
#include "seeing/broker_states.hpp"
#include "seeing/chronicle.hpp"
#include "seeing/event_log.hpp"
#include "seeing/history.hpp"
#include "seeing/recovery_counts.hpp"
#include "seeing/tally.hpp"

namespace holdfast::seeing {

// Everything that one server has seen since its start: told by its engine and its HTTP, read by
// the routes that show it. Threads: the loop's.
class Watch final : public engine::Observer {
 public:
  struct Options {
    std::size_t keep_events = 10'000;
    std::string life = "0";  // one that no other server has or had
    std::string store = {};  // its URL
  };
  Watch(Clock& clock, Options options);

  void submitted(const TaskId& id, const ports::NewTask& task) noexcept override;
  void started(const ports::TaskRecord& task, WallTime now) noexcept override;
  void moved(const engine::Moved& moved) noexcept override;
  void configured(const ports::Configure& settings) noexcept override;
  void breaker_changed(const Breaker::Change& change) noexcept override;
  void stored(std::size_t requests) noexcept override;
  void publish_retried(std::string_view queue, std::size_t messages) noexcept override;
  void expiring(const engine::Expiring& expiring) noexcept override;
  void expired(const engine::Expired& expired) noexcept override;
  void not_spilled(core::State state) noexcept override;

  // A route's pattern, or nothing: no route was found, or none could be asked.
  void answered(std::string_view method, std::string_view route, int status);
  // To be called every kSampleEvery: what the rates of the last minutes are made of.
  static constexpr Duration kSampleEvery = std::chrono::seconds(10);
  void sample();

  [[nodiscard]] Tally& tally() noexcept { return tally_; }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  [[nodiscard]] EventLog& events() noexcept { return events_; }
  [[nodiscard]] Chronicle& chronicle() noexcept { return chronicle_; }
  [[nodiscard]] const Chronicle& chronicle() const noexcept { return chronicle_; }

  [[nodiscard]] BrokerStates& brokers() noexcept { return brokers_; }
  [[nodiscard]] const BrokerStates& brokers() const noexcept { return brokers_; }
  [[nodiscard]] RecoveryCounts& recoveries() noexcept { return recoveries_; }
  [[nodiscard]] const RecoveryCounts& recoveries() const noexcept { return recoveries_; }

  // Of one queue over the last so much time, or since the start if that is shorter.
  struct Recent {
    Totals totals;
    Duration span{};
  };
  [[nodiscard]] Recent recent(const std::string& queue, Duration span) const;
  [[nodiscard]] Recent recent(Duration span) const;  // of all queues
  [[nodiscard]] Totals totals() const;               // of all queues, since the start
  // As of now, for the chronicle.
  [[nodiscard]] Chronicle::Moment moment() const {
    return {.now = clock_.now(), .wall_now = clock_.wall_now(), .totals = totals()};
  }

  void set_alerts(std::vector<Alert> firing, const AlertChecks& checks) {
    firing_ = std::move(firing);
    checks_ = checks;
  }
  [[nodiscard]] const std::vector<Alert>& firing() const noexcept { return firing_; }
  [[nodiscard]] const AlertChecks& checks() const noexcept { return checks_; }

  // What becomes of the failed and dead tasks that nobody looks after (N9).
  struct Retention {
    engine::Expiring expiring = {};  // as it was at the last look
    std::uint64_t removed = 0;
    std::uint64_t spilled = 0;
    std::uint64_t not_spilled = 0;  // how often they could not be
  };
  using Retentions = std::map<core::State, Retention>;
  [[nodiscard]] const Retentions& retentions() const noexcept { return retentions_; }

  using Answers = std::map<std::tuple<std::string, std::string, int>, std::uint64_t, std::less<>>;
  using BreakerChanges = std::map<std::pair<std::string, Breaker::State>, std::uint64_t>;
  // Of queues that a broker carries.
  using PublishRetries = std::map<std::string, std::uint64_t, std::less<>>;
  [[nodiscard]] const PublishRetries& publish_retries() const noexcept { return publish_retries_; }
  // Known in advance: it is there with a zero.
  void expect_publishing(const std::string& queue) { publish_retries_.try_emplace(queue); }
  [[nodiscard]] const Answers& answers() const noexcept { return answers_; }
  [[nodiscard]] const BreakerChanges& breaker_changes() const noexcept { return breaker_changes_; }
  [[nodiscard]] const Histogram<kSizes.size()>& batches() const noexcept { return batches_; }
  [[nodiscard]] WallTime began() const noexcept { return began_wall_; }
  [[nodiscard]] Duration uptime() const { return clock_.now() - began_; }
  [[nodiscard]] WallTime now() const { return clock_.wall_now(); }
  [[nodiscard]] const std::string& store() const noexcept { return store_; }

 private:
  using QueueTotals = std::map<std::string, Totals, std::less<>>;
  [[nodiscard]] QueueTotals by_queue() const;

  Clock& clock_;
  const std::string store_;
  const SteadyTime began_;
  const WallTime began_wall_;
  Tally tally_;
  EventLog events_;
  Chronicle chronicle_;
  History<QueueTotals> samples_{std::chrono::minutes(15)};
  BrokerStates brokers_;
  RecoveryCounts recoveries_;
  PublishRetries publish_retries_;
  Answers answers_;
  BreakerChanges breaker_changes_;
  Histogram<kSizes.size()> batches_{kSizes};
  std::vector<Alert> firing_;
  AlertChecks checks_ = AlertRule(AlertThresholds()).checks();
  Retentions retentions_{{core::State::failed, {}}, {core::State::dead, {}}};
};

// Of this program.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace holdfast::seeing
