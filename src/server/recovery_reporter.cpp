#include "server/recovery_reporter.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast::server {

using recovery::Ended;

void RecoveryReporter::expect(const std::map<std::string, config::Recover>& recoveries) {
  std::map<std::string, std::string> queues;
  for (const auto& [name, recover] : recoveries) {
    const auto place = broker_place(std::string(recover.from.text.reveal()), true);
    if (place) queues.emplace(name, place->queue);
  }
  constexpr std::array kAll = {Ended::empty, Ended::caught_up, Ended::limit, Ended::idle,
                               Ended::total, Ended::stall,     Ended::asked, Ended::failed};
  std::array<std::string_view, kAll.size()> outcomes;
  std::ranges::transform(kAll, outcomes.begin(), recovery::to_string);
  parts_.counts.expect(queues, outcomes);
}

void RecoveryReporter::began(const RecoveryRun& run) {
  parts_.counts.started(run.name);
}

void RecoveryReporter::ended(const RecoveryRun& run,
                             const Result<recovery::Run::Outcome>& outcome) {
  if (!outcome) return parts_.counts.ended(run.name, to_string(Ended::failed), {});
  const recovery::Summary& summary = outcome->summary;
  parts_.counts.ended(run.name, to_string(summary.ended),
                      {summary.recovered.total(), summary.failed.total(), summary.skipped.total()});
}

}  // namespace holdfast::server
