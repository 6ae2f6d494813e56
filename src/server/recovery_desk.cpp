#include "server/recovery_desk.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/json_text.hpp"
#include "recovery/filter.hpp"
#include "recovery/routes.hpp"
#include "server/queue_sampler.hpp"
#include "server/recovery_reporter.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
using wire::Recovery;
using wire::RecoveryState;

constexpr std::string_view kShelf = "recoveries";
constexpr std::size_t kMostWarnings = 20;
constexpr std::size_t kMostCounts = 50;
constexpr std::size_t kMostPlanRows = 200;
constexpr Duration kSaveEvery = 5s;
// Of a shared store: what its server has not touched for so long was left.
constexpr Duration kRecoveryLeftAfter = 30s;
constexpr Duration kLookEvery = 30s;
constexpr std::size_t kLookedThrough = 1000;
constexpr Duration kSampleTotal = 8s;
constexpr Duration kSampleIdle = 2s;
constexpr Duration kSampleEmpty = 200ms;

std::string note_text(const Recovery& recovery, const std::string& runner) {
  std::string text;
  wire::JsonWriter writer(text);
  write(writer, wire::RecoveryNote{.recovery = recovery, .runner = runner});
  return text;
}

std::unexpected<Error> no_such_recovery(const std::string& id) {
  return fail(ErrorCode::not_found, "recovery", "there is no recovery " + quoted(id));
}

AuditEntry audit_entry(const Recovery& recovery, std::string who, std::string action) {
  const wire::RecoveryProgress& progress = recovery.progress;
  return {.who = std::move(who),
          .action = std::move(action),
          .what = "dead-letter queue " + recovery.request.queue + " at " + recovery.request.broker,
          .count = progress.recovered,
          .refused = progress.failed + progress.skipped,
          .reason = recovery.request.reason,
          .operation = recovery.id};
}

recovery::Routes routes_of_request(const wire::RecoveryRequest& request) {
  using To = recovery::Routes::To;
  if (!request.to.empty()) return {.to = To::queue, .queue = request.to};
  if (request.to_origin == "exchange") return {.to = To::origin_exchange};
  if (request.to_origin == "queue") return {.to = To::origin_queue};
  if (request.map.empty()) return {.to = To::review};
  recovery::Routes routes{.to = To::map};
  for (const auto& [type, target] : request.map)
    routes.map[type] = {.exchange = target.exchange, .routing_key = target.routing_key};
  return routes;
}

void append_counts(const recovery::Counts& counts, std::vector<wire::RecoveryCount>& out) {
  for (const auto& [name, count] : counts.by_name())
    out.push_back({name, count});
}

void keep_largest(std::vector<wire::RecoveryCount>& counts) {
  std::ranges::sort(counts, [](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  if (counts.size() > kMostCounts) counts.resize(kMostCounts);
}

void take_over(const recovery::Summary& summary, Recovery& into) {
  into.run = summary.run;
  into.progress = {.found = summary.found,
                   .left = summary.left,
                   .recovered = summary.recovered.total(),
                   .failed = summary.failed.total(),
                   .skipped = summary.skipped.total(),
                   .not_chosen = summary.passed,
                   .parked = summary.parked,
                   .renewed = summary.renewed,
                   .recognised = summary.recognised,
                   .possible_duplicates = summary.duplicates,
                   .interruptions = summary.interruptions,
                   .would_recover = summary.planned,
                   .would_fail = summary.would_fail,
                   .took = summary.took};
  into.targets.clear();
  append_counts(summary.recovered, into.targets);
  keep_largest(into.targets);
  into.kept.clear();
  append_counts(summary.skipped, into.kept);
  for (const auto& [name, count] : summary.failed.by_name())
    into.kept.push_back({"not taken by " + name, count});
  keep_largest(into.kept);
}

wire::RecoveryPlanRow plan_row(const recovery::Plan::Row& row) {
  using What = recovery::Decision::What;
  const bool recovers = row.what == What::recover;
  const bool leaves = row.what == What::pass;
  return {.what = recovers ? "recover"
                  : leaves ? "leave"
                           : "keep",
          .type = row.type,
          .to = recovers ? recovery::to_text(row.to) : "",
          .why = row.why,
          .reason = row.reason,
          .example = row.example,
          .count = row.count,
          .target_missing = row.target == recovery::Plan::Row::Found::missing};
}

}  // namespace

struct RecoveryDesk::One {
  Recovery recovery;
  BrokerPlace place;
  std::string canceled_by = {};
  std::shared_ptr<QueueSampler> sampler = {};  // of one that only looks, and is no record
  SampleThen sampled = {};
  SteadyTime saved{};
  std::jthread thread = {};
};

// Tells the loop what a run says, on the run's own thread.
class RecoveryDesk::Progress final : public recovery::Observer {
 public:
  using Tell = std::function<void(std::function<void(RecoveryDesk&)>)>;
  Progress(std::string id, Tell tell, std::shared_ptr<QueueSampler> sampler)
      : id_(std::move(id)), tell_(std::move(tell)), sampler_(std::move(sampler)) {}

  void found(std::uint64_t /*messages*/) override {}
  void warned(const recovery::Warning& warning) override {
    tell_([id = id_, text = warning.text](RecoveryDesk& desk) { desk.warned(id, text); });
  }
  void looked(const recovery::Letter& letter) override {
    if (sampler_) sampler_->note(letter);
  }
  void moved(const recovery::Summary& so_far) override {
    if (sampler_) return;
    tell_([id = id_, so_far](RecoveryDesk& desk) { desk.moved(id, so_far); });
  }

 private:
  const std::string id_;
  const Tell tell_;
  const std::shared_ptr<QueueSampler> sampler_;
};

RecoveryDesk::RecoveryDesk(Parts parts) : parts_(std::move(parts)), ids_(parts_.random) {}

RecoveryDesk::~RecoveryDesk() {
  static_cast<void>(end());
}

void RecoveryDesk::start() {
  look_for_left_ones();
}

Result<RecoverSettings> RecoveryDesk::settings_of(const wire::RecoveryRequest& request) const {
  auto reached = parts_.brokers.reach(request.broker, request.queue);
  if (!reached) return std::unexpected(std::move(reached).error());
  auto filter = recovery::Filter::parse(request.filter);
  if (!filter) return std::unexpected(std::move(filter).error());
  RecoverSettings settings{.broker = *std::move(reached)};
  recovery::Options& options = settings.options;
  options.rules = {.routes = routes_of_request(request),
                   .filter = *std::move(filter),
                   .max_recoveries = request.max_recoveries};
  options.limit = request.limit;
  options.rate = request.rate.value_or(0);
  options.dry = request.dry_run;
  options.park = request.park;
  options.persistent = request.persistent;
  options.keep_expiration = request.keep_expiration;
  options.limits = {
      .total = request.total, .idle = request.idle, .empty = request.empty, .stall = request.stall};
  if (auto checked = server::check(settings); !checked)
    return std::unexpected(std::move(checked).error());
  return settings;
}

std::string RecoveryDesk::running_on(const std::string& broker, const std::string& queue) const {
  for (const auto& [id, one] : running_) {
    const wire::RecoveryRequest& request = one->recovery.request;
    if (!one->sampler && request.broker == broker && request.queue == queue) return id;
  }
  return {};
}

bool RecoveryDesk::is_running(const BrokerPlace& place) const {
  return std::ranges::any_of(running_, [&](const auto& entry) {
    const BrokerPlace& other = entry.second->place;
    return other.broker == place.broker && other.queue == place.queue;
  });
}

Result<BrokerPlace> RecoveryDesk::place_to_work(const RecoverSettings& settings) const {
  if (ending_) return fail(ErrorCode::unavailable, "recovery", "the server is ending");
  auto place = broker_place(settings.broker.url, true);
  if (!place) return place;
  if (is_running(*place) || (parts_.is_busy && parts_.is_busy(*place))) {
    return fail(ErrorCode::conflict, "recovery",
                "queue " + quoted(place->queue) +
                    " is being recovered or looked at already: wait for that to end, or cancel it");
  }
  if (running_.size() >= kMostAtOnce) {
    return fail(ErrorCode::overloaded, "recovery",
                std::to_string(kMostAtOnce) + " recoveries are under way");
  }
  return place;
}

void RecoveryDesk::begin(wire::RecoveryRequest request, std::string who, Then then) {
  auto settings = settings_of(request);
  if (!settings) return then(std::unexpected(std::move(settings).error()));
  auto place = place_to_work(*settings);
  if (!place) return then(std::unexpected(std::move(place).error()));
  const WallTime now = parts_.clock.wall_now();
  auto one = std::make_shared<One>(One{.recovery = {.id = ids_.next(now).text(),
                                                    .request = std::move(request),
                                                    .by = who,
                                                    .started = now,
                                                    .changed = now},
                                       .place = *std::move(place),
                                       .saved = parts_.clock.now()});
  running_[one->recovery.id] = one;
  ports::lane_ask(
      parts_.writer,
      ports::Jot{.shelf = std::string(kShelf),
                 .key = one->recovery.id,
                 .text = note_text(one->recovery, parts_.runner),
                 .version = 0},
      [this, alive = std::weak_ptr(alive_), one, who = std::move(who),
       settings = *std::move(settings),
       then = std::move(then)](const Result<ports::Jot::Answer>& noted) mutable {
        if (alive.expired()) return;
        if (!noted || ending_) {
          running_.erase(one->recovery.id);
          if (noted) return then(fail(ErrorCode::unavailable, "recovery", "the server is ending"));
          return then(std::unexpected(noted.error()));
        }
        const bool dry = one->recovery.request.dry_run;
        parts_.audit.note(
            audit_entry(one->recovery, std::move(who), dry ? "recover.plan" : "recover.start"));
        launch(one, std::move(settings));
        if (!one->canceled_by.empty()) one->thread.request_stop();
        then(one->recovery);
      });
}

void RecoveryDesk::launch(const std::shared_ptr<One>& one, RecoverSettings settings) {
  const auto tell = [this, &loop = parts_.loop,
                     alive = std::weak_ptr(alive_)](std::function<void(RecoveryDesk&)> work) {
    loop.post([this, alive, work = std::move(work)] {
      if (!alive.expired()) work(*this);
    });
  };
  one->thread = std::jthread([id = one->recovery.id, settings = std::move(settings), tell,
                              sampler = one->sampler, log = parts_.log,
                              run = parts_.run](const std::stop_token& stop) mutable {
    Progress progress(id, tell, sampler);
    auto outcome = run(std::move(settings), {.observer = progress, .log = log, .stop = stop});
    tell([id, outcome = std::move(outcome)](RecoveryDesk& desk) { desk.ended(id, outcome); });
  });
}

void RecoveryDesk::moved(const std::string& id, const recovery::Summary& summary) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  One& one = *found->second;
  take_over(summary, one.recovery);
  one.recovery.changed = parts_.clock.wall_now();
  const SteadyTime now = parts_.clock.now();
  if (now - one.saved < kSaveEvery) return;
  one.saved = now;
  save(one.recovery);
}

void RecoveryDesk::warned(const std::string& id, std::string text) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  std::vector<std::string>& warnings = found->second->recovery.warnings;
  if (warnings.size() < kMostWarnings) warnings.push_back(std::move(text));
}

void RecoveryDesk::ended(const std::string& id, const Result<recovery::Run::Outcome>& outcome) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  const std::shared_ptr<One> one = found->second;
  if (one->thread.joinable()) one->thread.join();  // this was the last that it had to say
  running_.erase(found);
  if (one->sampler) return sampled(*one, outcome);
  Recovery& recovery = one->recovery;
  recovery.ended = recovery.changed = parts_.clock.wall_now();
  if (!outcome) {
    recovery.state = RecoveryState::failed;
    recovery.error = outcome.error().message;
  } else {
    const recovery::Summary& summary = outcome->summary;
    take_over(summary, recovery);
    for (const recovery::Plan::Row& row : outcome->plan.rows()) {
      if (recovery.plan.size() < kMostPlanRows) recovery.plan.push_back(plan_row(row));
    }
    recovery.why = recovery::sentence_of(summary.ended);
    if (summary.error) recovery.error = summary.error->message;
    recovery.complete = summary.all_done() && !summary.is_part();
    recovery.state = summary.ended == recovery::Ended::failed  ? RecoveryState::failed
                     : summary.ended != recovery::Ended::asked ? RecoveryState::done
                     : one->canceled_by.empty()                ? RecoveryState::interrupted
                                                               : RecoveryState::canceled;
  }
  if (recovery.state == RecoveryState::interrupted) recovery.why = "its server was stopped";
  if (recovery.state == RecoveryState::canceled) recovery.why = "canceled by " + one->canceled_by;
  save(recovery);
  if (recovery.request.dry_run) return;  // nothing was changed but marks
  const bool interrupted = recovery.state == RecoveryState::interrupted;
  AuditEntry entry =
      audit_entry(recovery, recovery.by, interrupted ? "recover.interrupted" : "recover");
  if (!entry.reason.empty()) entry.reason += "; ";
  if (!recovery.run.empty()) entry.reason += "run " + recovery.run + ": ";
  entry.reason += outcome_text(outcome);
  parts_.audit.note(std::move(entry));
}

// A dry run that keeps everything: it knows how to look without a loss, and when to refuse.
void RecoveryDesk::sample(Place place, wire::SampleRequest request, std::string who,
                          SampleThen then) {
  auto settings = settings_of({.broker = place.broker,
                               .queue = place.queue,
                               .limit = request.limit,
                               .dry_run = true,
                               .total = kSampleTotal,
                               .idle = kSampleIdle,
                               .empty = kSampleEmpty,
                               .stall = kSampleTotal});
  if (!settings) return then(std::unexpected(std::move(settings).error()));
  settings->options.window = request.limit;  // nothing more is marked as redelivered
  auto at = place_to_work(*settings);
  if (!at) return then(std::unexpected(std::move(at).error()));
  const WallTime now = parts_.clock.wall_now();
  auto one = std::make_shared<One>(
      One{.recovery = {.id = ids_.next(now).text(),
                       .request = {.broker = place.broker, .queue = place.queue, .dry_run = true},
                       .by = std::move(who),
                       .started = now,
                       .changed = now},
          .place = *std::move(at),
          .sampler = std::make_shared<QueueSampler>(),
          .sampled = std::move(then)});
  running_[one->recovery.id] = one;
  launch(one, *std::move(settings));
}

void RecoveryDesk::sampled(One& one, const Result<recovery::Run::Outcome>& outcome) {
  if (!outcome) return one.sampled(std::unexpected(outcome.error()));
  const recovery::Summary& summary = outcome->summary;
  if (summary.error && !summary.did_anything()) return one.sampled(std::unexpected(*summary.error));
  Result<wire::QueueSample> sample = one.sampler->sample();
  sample->broker = one.recovery.request.broker;
  sample->queue = one.recovery.request.queue;
  sample->found = summary.found;
  if (summary.error) sample = std::unexpected(*summary.error);
  AuditEntry entry = audit_entry(one.recovery, one.recovery.by, "recover.look");
  entry.operation.clear();  // there is no record of it
  parts_.audit.note(std::move(entry),
                    [then = std::move(one.sampled), sample = std::move(sample)]() mutable {
                      then(std::move(sample));
                    });
}

void RecoveryDesk::save(const Recovery& recovery, std::move_only_function<void()> then) {
  ports::lane_ask(
      parts_.writer,
      ports::Jot{.shelf = std::string(kShelf),
                 .key = recovery.id,
                 .text = note_text(recovery, parts_.runner)},
      [log = parts_.log, then = std::move(then)](const Result<ports::Jot::Answer>& noted) mutable {
        if (!noted) {
          log.log(Level::error, "recovery.lost", "how far a recovery has come could not be kept",
                  {{"error", noted.error().text()}});
        }
        if (then) then();
      });
}

void RecoveryDesk::find(std::string id, Then then) {
  if (const auto found = running_.find(id); found != running_.end())
    return then(found->second->recovery);
  if (id.empty()) return then(no_such_recovery(id));
  ports::lane_ask(parts_.reader, ports::Notes{.shelf = std::string(kShelf), .only = id, .limit = 1},
                  [id, then = std::move(then)](Result<ports::Notes::Answer> notes) mutable {
                    if (!notes) return then(std::unexpected(std::move(notes).error()));
                    if (notes->empty()) return then(no_such_recovery(id));
                    auto note = wire::read_recovery_note(notes->front().text);
                    if (!note) return then(std::unexpected(std::move(note).error()));
                    then(std::move(note->recovery));
                  });
}

void RecoveryDesk::page(std::size_t limit, std::string cursor,
                        std::move_only_function<void(Result<wire::RecoveryPage>)> then) {
  ports::lane_ask(
      parts_.reader,
      ports::Notes{.shelf = std::string(kShelf), .beyond = std::move(cursor), .limit = limit},
      [this, alive = std::weak_ptr(alive_), limit,
       then = std::move(then)](Result<ports::Notes::Answer> notes) mutable {
        if (!notes) return then(std::unexpected(std::move(notes).error()));
        if (alive.expired()) return;
        wire::RecoveryPage page;
        for (const ports::Note& note : *notes) {
          auto read = wire::read_recovery_note(note.text);
          if (!read) return then(std::unexpected(std::move(read).error()));
          const auto live = running_.find(read->recovery.id);
          page.recoveries.push_back(live != running_.end() ? live->second->recovery
                                                           : std::move(read->recovery));
        }
        if (notes->size() == limit) page.next = notes->back().key;
        then(std::move(page));
      });
}

void RecoveryDesk::cancel(std::string id, std::string who, Then then) {
  const auto found = running_.find(id);
  if (found == running_.end()) {
    return find(std::move(id), [then = std::move(then)](Result<Recovery> known) mutable {
      if (!known) return then(std::unexpected(std::move(known).error()));
      const bool has_ended = known->state != RecoveryState::running;
      then(fail(ErrorCode::conflict, "recovery",
                has_ended ? "it has ended already: " + std::string(to_string(known->state))
                          : "it runs at another server, which has to be asked"));
    });
  }
  One& one = *found->second;
  if (one.canceled_by.empty()) {
    one.canceled_by = who.empty() ? "somebody" : who;
    parts_.audit.note(audit_entry(one.recovery, std::move(who), "recover.cancel"));
  }
  one.thread.request_stop();
  then(one.recovery);
}

// Those that another life of this server, or another server, has left.
void RecoveryDesk::look_for_left_ones() {
  ports::lane_ask(parts_.reader,
                  ports::Notes{.shelf = std::string(kShelf), .limit = kLookedThrough},
                  [this, alive = std::weak_ptr(alive_)](const Result<ports::Notes::Answer>& notes) {
                    if (alive.expired() || ending_) return;
                    if (notes) {
                      for (const ports::Note& kept : *notes) {
                        auto note = wire::read_recovery_note(kept.text);
                        if (note && is_left(*note)) interrupt(*std::move(note), kept.version);
                      }
                    }
                    // Others may leave some at any time.
                    if (notes && !parts_.is_shared) return;
                    timer_ = parts_.loop.after(kLookEvery, [this] { look_for_left_ones(); });
                  });
}

bool RecoveryDesk::is_left(const wire::RecoveryNote& note) const {
  if (note.recovery.state != RecoveryState::running || note.runner == parts_.runner) return false;
  if (!parts_.is_shared) return true;
  return parts_.clock.wall_now() - note.recovery.changed > kRecoveryLeftAfter;
}

void RecoveryDesk::interrupt(wire::RecoveryNote note, std::uint64_t version) {
  Recovery& recovery = note.recovery;
  recovery.state = RecoveryState::interrupted;
  recovery.ended = recovery.changed;
  recovery.why =
      "its server ended without saying how far it had come: the numbers are the last that were "
      "kept, and what was under way then may be there twice";
  std::string text = note_text(recovery, note.runner);
  ports::lane_ask(parts_.writer,
                  ports::Jot{.shelf = std::string(kShelf),
                             .key = recovery.id,
                             .text = std::move(text),
                             .version = version},
                  [this, alive = std::weak_ptr(alive_),
                   recovery = std::move(recovery)](const Result<ports::Jot::Answer>& noted) {
                    if (alive.expired() || !noted || !*noted) return;  // another server was first
                    parts_.audit.note(audit_entry(recovery, recovery.by, "recover.interrupted"));
                  });
}

std::vector<std::jthread> RecoveryDesk::end() {
  ending_ = true;
  timer_.reset();
  std::vector<std::jthread> threads;
  for (const auto& [id, one] : running_) {
    one->thread.request_stop();
    if (one->thread.joinable()) threads.push_back(std::move(one->thread));
  }
  return threads;
}

void RecoveryDesk::flush(std::move_only_function<void()> then) {
  ports::lane_ask(
      parts_.writer, ports::Notes{.shelf = std::string(kShelf), .limit = 1},
      [then = std::move(then)](const Result<ports::Notes::Answer>&) mutable { then(); });
}

}  // namespace holdfast::server
