#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include <holdfast/operation.hpp>
#include <holdfast/time.hpp>

#include "config/config.hpp"
#include "seeing/recovery_counts.hpp"
#include "server/recoveries.hpp"

namespace holdfast::server {

// "no progress for too long (--stall); 7 recovered, 0 failed, 2 skipped, 2 left"; or why it could
// not begin.
[[nodiscard]] std::string outcome_text(const Result<recovery::Run::Outcome>& outcome);

// What a webhook is told of a run that has ended. `server`: its public URL; empty: it has none.
[[nodiscard]] std::string recovery_message(const RecoveryRun& run,
                                           const Result<recovery::Run::Outcome>& outcome,
                                           WallTime now, std::string_view server);

// Tells of the runs of scheduled recoveries whoever looks after the server: in the metrics, in the
// audit, and by the webhook for alerts. The audit has those that had something to do.
//
// Threads: the loop's. The parts must outlive it.
class RecoveryReporter final : public RecoveryListener {
 public:
  struct Parts {
    seeing::RecoveryCounts& counts;
    const Clock& clock;
    std::function<void(std::string json)> notify = {};
    std::function<void(AuditEntry)> audit = {};
    std::string server = {};  // its public URL
  };
  explicit RecoveryReporter(Parts parts) : parts_(std::move(parts)) {}

  // The recoveries there are from now on.
  void expect(const std::map<std::string, config::Recover>& recoveries);

  void began(const RecoveryRun& run) override;
  void found(const RecoveryRun& run, std::uint64_t messages) override;
  void ended(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome) override;

 private:
  void audit(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome);
  void count(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome);

  const Parts parts_;
  std::set<const RecoveryRun*> noted_;  // that the audit knows the beginning of
};

}  // namespace holdfast::server
