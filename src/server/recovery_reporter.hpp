#pragma once

#include <map>
#include <string>

#include "config/config.hpp"
#include "seeing/recovery_counts.hpp"
#include "server/recoveries.hpp"

namespace holdfast::server {

// Tells of the runs of scheduled recoveries whoever looks after the server: in the metrics.
//
// Threads: the loop's. The parts must outlive it.
class RecoveryReporter final : public RecoveryListener {
 public:
  struct Parts {
    seeing::RecoveryCounts& counts;
  };
  explicit RecoveryReporter(Parts parts) : parts_(parts) {}

  // The recoveries there are from now on.
  void expect(const std::map<std::string, config::Recover>& recoveries);

  void began(const RecoveryRun& run) override;
  void ended(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome) override;

 private:
  const Parts parts_;
};

}  // namespace holdfast::server
