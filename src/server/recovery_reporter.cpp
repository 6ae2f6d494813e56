#include "server/recovery_reporter.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/json_text.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::server {

using recovery::Ended;
using recovery::Summary;

namespace {

void write_counts(wire::JsonWriter& writer, const Summary& summary) {
  const auto number = [&](std::string_view key, std::uint64_t value) {
    writer.key(key).number(value);
  };
  writer.key("run").text(summary.run);
  if (summary.found) number("found", *summary.found);
  number("recovered", summary.recovered.total());
  number("failed", summary.failed.total());
  number("skipped", summary.skipped.total());
  number("not_chosen", summary.passed);
  number("parked", summary.parked);
  number("possible_duplicates", summary.duplicates);
  if (summary.left) number("left", *summary.left);
  writer.key("took_seconds").number(std::chrono::duration<double>(summary.took).count());
}

std::string text_of(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome) {
  return "recovery " + quoted(run.name) + " of " + run.queue +
         (outcome ? " has ended: " : " could not begin: ") + outcome_text(outcome);
}

AuditEntry entry_of(const RecoveryRun& run, std::string action) {
  return {.who = "schedule " + run.name,
          .action = std::move(action),
          .what = "dead-letter queue " + run.queue + " at " + run.broker};
}

}  // namespace

std::string outcome_text(const Result<recovery::Run::Outcome>& outcome) {
  if (!outcome) return outcome.error().text();
  const Summary& summary = outcome->summary;
  std::string text(recovery::sentence_of(summary.ended));
  if (summary.error) text += " (" + summary.error->text() + ")";
  text += "; " + std::to_string(summary.recovered.total()) + " recovered, " +
          std::to_string(summary.failed.total()) + " failed, " +
          std::to_string(summary.skipped.total()) + " skipped, ";
  return text + (summary.left ? std::to_string(*summary.left) + " left" : "unknown how many left");
}

std::string recovery_message(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome,
                             WallTime now, std::string_view server) {
  const bool failed = !outcome || outcome->summary.error;
  std::string ended(to_string(outcome ? outcome->summary.ended : Ended::failed));
  std::ranges::replace(ended, ' ', '_');
  std::string json;
  wire::JsonWriter writer(json);
  writer.begin_object().key("type").text("holdfast.recovery").key("timestamp").time(now);
  if (!server.empty()) writer.key("server").text(server);
  writer.key("data").begin_object().key("recovery").text(run.name).key("broker").text(run.broker);
  writer.key("queue").text(run.queue).key("ended").text(ended);
  writer.key("all_done").boolean(outcome && outcome->summary.all_done());
  if (outcome) write_counts(writer, outcome->summary);
  if (failed) {
    writer.key("error").text(outcome ? outcome->summary.error->text() : outcome.error().text());
  }
  writer.key("text").text(text_of(run, outcome)).end_object().end_object();
  return json;
}

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

void RecoveryReporter::found(const RecoveryRun& run, std::uint64_t messages) {
  if (messages == 0 || !parts_.audit) return;
  noted_.insert(&run);
  AuditEntry entry = entry_of(run, "recover.start");
  entry.count = messages;
  parts_.audit(std::move(entry));
}

void RecoveryReporter::ended(const RecoveryRun& run,
                             const Result<recovery::Run::Outcome>& outcome) {
  count(run, outcome);
  audit(run, outcome);
  const bool is_well = outcome && outcome->summary.all_done();
  const config::Notify notify = run.config.notify;
  const bool tells =
      notify == config::Notify::always || (notify == config::Notify::problems && !is_well);
  if (tells && parts_.notify) {
    parts_.notify(recovery_message(run, outcome, parts_.clock.wall_now(), parts_.server));
  }
}

void RecoveryReporter::audit(const RecoveryRun& run,
                             const Result<recovery::Run::Outcome>& outcome) {
  const bool was_noted = noted_.erase(&run) > 0;
  const bool did_anything = outcome && outcome->summary.did_anything();
  // It has begun, and waited in vain.
  const bool tried = outcome && !outcome->summary.error && outcome->summary.found.value_or(0) > 0;
  if (!parts_.audit || (!was_noted && !did_anything && !tried)) return;
  AuditEntry entry = entry_of(run, "recover");
  if (outcome) {
    entry.count = outcome->summary.recovered.total();
    entry.refused = outcome->summary.kept();
    entry.reason = "run " + outcome->summary.run + ": ";
  }
  entry.reason += outcome_text(outcome);
  parts_.audit(std::move(entry));
}

void RecoveryReporter::count(const RecoveryRun& run,
                             const Result<recovery::Run::Outcome>& outcome) {
  if (!outcome) return parts_.counts.ended(run.name, to_string(Ended::failed), {});
  const recovery::Summary& summary = outcome->summary;
  parts_.counts.ended(run.name, to_string(summary.ended),
                      {summary.recovered.total(), summary.failed.total(), summary.skipped.total()});
}

}  // namespace holdfast::server
