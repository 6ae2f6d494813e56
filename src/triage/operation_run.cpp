#include "triage/operation_run.hpp"

#include <algorithm>
#include <utility>

#include "triage/find_each.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::triage {
namespace {

using Claim = wire::OperationNote::Claim;

constexpr std::size_t kAtOnce = 500;
constexpr std::size_t kMostWatched = 1000;  // of those that are out
constexpr std::size_t kLookedAtOnce = 200;
constexpr std::size_t kKeptWatched = 20;  // across a crash: more than a stage of known size has
constexpr Duration kLookAtWatchedEvery = std::chrono::milliseconds(250);
constexpr Duration kTellEvery = std::chrono::milliseconds(250);
constexpr Duration kSaveEvery = std::chrono::seconds(5);

using Records = std::vector<Result<ports::Find::Answer>>;

std::vector<TaskId> ids_of(const std::vector<Claim>& claims) {
  std::vector<TaskId> ids;
  ids.reserve(claims.size());
  for (const Claim& claim : claims)
    ids.push_back(claim.id);
  return ids;
}

}  // namespace

OperationRun::OperationRun(const Parts& parts, wire::OperationNote note, std::uint64_t version,
                           Hooks hooks)
    : parts_(parts), note_(std::move(note)), version_(version), hooks_(std::move(hooks)) {}

template <class Work>
auto OperationRun::next_step(Work work) {
  busy_ = true;
  return [self = weak_from_this(), work = std::move(work)](auto&&... arguments) mutable {
    const auto run = self.lock();
    if (!run || run->lost_) return;
    run->busy_ = false;
    work(*run, std::forward<decltype(arguments)>(arguments)...);
  };
}

bool OperationRun::is_moving() const {
  return holdfast::is_moving(note_.operation.state);
}

void OperationRun::steer(Change change, Stepped then) {
  orders_.push_back({std::move(change), std::move(then)});
  if (!busy_) go_on();
}

void OperationRun::go_on() {
  timer_.reset();
  if (lost_ || busy_) return;
  if (!orders_.empty()) {
    Order order = std::move(orders_.front());
    orders_.erase(orders_.begin());
    return follow(std::move(order));
  }
  if (!is_moving()) return;
  if (note_.operation.state == OperationState::planning) return plan_page();
  work();
}

void OperationRun::follow(Order order) {
  const bool was_stopped = note_.operation.state == OperationState::stopped;
  wire::OperationNote changed = note_;
  if (auto done = order.change(changed); !done) {
    order.then(std::unexpected(std::move(done).error()));
    return go_on();
  }
  note_ = std::move(changed);
  if (was_stopped && note_.operation.state == OperationState::planning) begin();
  answering_ = std::move(order.then);
  save([this] {
    std::exchange(answering_, nullptr)(note_.operation);
    tell(true);
    if (!is_moving()) hooks_.on_rest(*this);
    go_on();
  });
}

// From the beginning: as things stand now.
void OperationRun::begin() {
  Operation& operation = note_.operation;
  operation.as_of = now();
  operation.plan = {};
  operation.stage.reset();
  note_.cursor.clear();
  note_.at_end = false;
  note_.watched.clear();
  note_.start = true;
  rate_.clear();
  plan_cursor_.clear();
}

void OperationRun::plan_page() {
  auto query = query_of(note_.operation);
  if (!query) return rest(OperationState::failed, query.error().text());
  search(parts_.reader, {.query = *std::move(query), .cursor = plan_cursor_, .limit = kAtOnce},
         next_step([](OperationRun& run, Result<Found> found) {
           if (!found) return run.stumble(found.error());
           run.backoff_.reset();
           OperationPlan& plan = run.note_.operation.plan;
           if (run.plan_cursor_.empty()) plan = {};
           plan.looked += found->looked;
           const core::ReplayOptions options{.reset = run.note_.operation.options.reset,
                                             .insist = run.note_.operation.options.insist};
           for (const ports::TaskRecord& record : found->tasks) {
             std::optional<Error> refused;
             if (run.note_.operation.action == OperationAction::replay) {
               if (auto would = run.parts_.would_replay(record, options); !would) {
                 refused = std::move(would).error();
               }
             }
             add_to_plan(plan, record, refused);
           }
           run.plan_cursor_ = std::move(found->next);
           if (run.plan_cursor_.empty()) return run.planned();
           run.tell(false);
           run.go_on();
         }));
}

void OperationRun::planned() {
  ports::lane_ask(parts_.reader, ports::Count{},
                  next_step([](OperationRun& run, Result<ports::Count::Answer> queues) {
                    if (!queues) return run.stumble(queues.error());
                    Operation& operation = run.note_.operation;
                    for (OperationPlan::Part& part : operation.plan.queues) {
                      for (const ports::QueueCounts& queue : *queues)
                        if (queue.queue == part.name) part.paused = queue.paused;
                    }
                    sort_plan(operation.plan);
                    operation.plan.complete = true;
                    operation.progress.total = operation.progress.done + operation.plan.possible;
                    operation.state = OperationState::planned;
                    operation.changed = run.now();
                    if (run.note_.start) {
                      // Nothing but what is planned is asked here, so it cannot be refused.
                      static_cast<void>(take_step(operation, OperationStep::start, run.now()));
                    }
                    run.save([&run] {
                      run.tell(true);
                      if (!run.is_moving()) run.hooks_.on_rest(run);
                      run.go_on();
                    });
                  }));
}

void OperationRun::work() {
  Operation& operation = note_.operation;
  if (operation.options.canary && !operation.stage) operation.stage = stage_numbered(1);
  if (!note_.flight.empty()) {
    return settle_flight([](OperationRun& run) {
      if (run.note_.flight.empty()) return run.go_on();
      run.decide();
    });
  }
  const SteadyTime steady = parts_.clock.now();
  if (!note_.watched.empty() && steady >= look_at_) return look_at_watched();
  if (operation.options.canary) {
    if (auto why = rate_.too_high(*operation.stage, operation.options.stop_at)) {
      return rest(OperationState::stopped, *std::move(why));
    }
  }
  const bool capped = operation.options.cap && operation.progress.done >= *operation.options.cap;
  const bool all_out = note_.at_end || capped;
  const bool stage_full = operation.stage && is_full(*operation.stage);
  if (all_out || stage_full) {
    if (operation.options.canary && !note_.watched.empty()) {
      if (std::exchange(operation.state, OperationState::waiting) != OperationState::waiting) {
        tell(true);
      }
      return sleep(std::max<Duration>(look_at_ - steady, Duration::zero()));
    }
    if (all_out) return rest(OperationState::done, "");
    return stage_is_over();
  }
  operation.state = OperationState::running;
  const std::size_t most = room();
  if (most == 0) return sleep(std::max<Duration>(look_at_ - steady, Duration::zero()));
  if (steady < next_send_) return sleep(next_send_ - steady);
  send(most);
}

void OperationRun::stage_is_over() {
  Operation& operation = note_.operation;
  operation.stage = stage_numbered(std::min(operation.stage->number + 1, kStages));
  operation.state = OperationState::running;
  operation.changed = now();
  rate_.clear();
  save([this] {
    tell(true);
    go_on();
  });
}

// How many may be brought back now.
std::size_t OperationRun::room() const {
  const Operation& operation = note_.operation;
  std::size_t most = kAtOnce;
  if (const auto& rate = operation.options.rate) {
    most = std::clamp<std::size_t>(static_cast<std::size_t>(*rate / 5), 1, kAtOnce);
  }
  if (const auto& cap = operation.options.cap) {
    most = std::min<std::size_t>(most, *cap - operation.progress.done);
  }
  if (!operation.options.canary) return most;
  if (const OperationStage& stage = *operation.stage; stage.size) {
    return std::min<std::size_t>(most, *stage.size - stage.done);
  }
  // No more are out than are watched, so that what goes wrong can be seen before it is too much.
  return std::min(most, kMostWatched - std::min(kMostWatched, note_.watched.size()));
}

void OperationRun::send(std::size_t most) {
  auto query = query_of(note_.operation);
  if (!query) return rest(OperationState::failed, query.error().text());
  search(parts_.reader, {.query = *std::move(query), .cursor = note_.cursor, .limit = most},
         next_step([](OperationRun& run, Result<Found> found) {
           if (!found) return run.stumble(found.error());
           run.backoff_.reset();
           run.take_page(*std::move(found));
         }));
}

void OperationRun::take_page(Found found) {
  note_.cursor = std::move(found.next);
  note_.at_end = note_.cursor.empty();
  for (const ports::TaskRecord& record : found.tasks)
    note_.flight.push_back({record.id, record.task.token.value});
  if (note_.flight.empty()) return go_on();
  if (const auto& rate = note_.operation.options.rate) {
    const std::chrono::duration<double> takes(static_cast<double>(note_.flight.size()) / *rate);
    next_send_ =
        std::max(next_send_, parts_.clock.now()) + std::chrono::duration_cast<Duration>(takes);
  }
  save([this] { decide(); });
}

void OperationRun::decide() {
  const Operation& operation = note_.operation;
  parts_.decide(ids_of(note_.flight),
                {.action = operation.action,
                 .options = {.reset = operation.options.reset, .insist = operation.options.insist},
                 .by = signature_of(operation)},
                next_step([](OperationRun& run, const Parts::Decisions& decisions) {
                  run.decided(decisions);
                }));
}

void OperationRun::decided(const Parts::Decisions& decisions) {
  for (const auto& decision : decisions) {
    if (decision) continue;
    // What cannot be told is looked at again; what was refused is settled.
    const bool refused = decision.error().code == ErrorCode::conflict ||
                         decision.error().code == ErrorCode::not_found;
    if (!refused) return stumble(decision.error());
  }
  const auto flight = std::exchange(note_.flight, {});
  for (std::size_t at = 0; at < flight.size(); ++at) {
    if (decisions[at]) {
      count_done({flight[at].id, decisions[at]->token.value});
    } else {
      note_.flight.push_back(flight[at]);
    }
  }
  if (note_.flight.empty() || !parts_.is_shared) return refused();
  // Another server may have been at this very step when this one took over.
  settle_flight([](OperationRun& run) { run.refused(); });
}

// What is left of the flight.
void OperationRun::refused() {
  note_.operation.progress.refused += note_.flight.size();
  note_.flight.clear();
  if (auto& stage = note_.operation.stage) stage->waiting = note_.watched.size();
  tell(false);
  go_on();
}

// What was under way when it was written down last, in this life or another: what of it has
// happened is counted, the rest is left to `then`.
void OperationRun::settle_flight(void (*then)(OperationRun&)) {
  find_each(parts_.reader, ids_of(note_.flight),
            next_step([then](OperationRun& run, const Records& records) {
              for (const auto& record : records)
                if (!record) return run.stumble(record.error());
              run.backoff_.reset();
              run.settle(std::exchange(run.note_.flight, {}), records);
              then(run);
            }));
}

void OperationRun::settle(const std::vector<Claim>& flight, const Records& records) {
  const std::string by = signature_of(note_.operation);
  for (std::size_t at = 0; at < flight.size(); ++at) {
    const std::optional<ports::TaskRecord>& record = *records[at];
    const core::Token before{flight[at].token};
    if (record && record->task.token == before) {
      note_.flight.push_back(flight[at]);
    } else if (record && was_decided_by(*record, before, by)) {
      count_done({flight[at].id, flight[at].token + 1});
    } else {
      ++note_.operation.progress.refused;
    }
  }
}

// Done with: and watched, if it is a canary's. Nobody waits for what a whole replay comes to, whose
// dead letters show in their groups.
void OperationRun::count_done(const Claim& claim) {
  Operation& operation = note_.operation;
  ++operation.progress.done;
  if (operation.stage) ++operation.stage->done;
  if (!operation.options.canary || note_.watched.size() >= kMostWatched) return;
  if (note_.watched.empty()) look_at_ = parts_.clock.now() + kLookAtWatchedEvery;
  note_.watched.push_back(claim);
}

void OperationRun::look_at_watched() {
  look_at_ = parts_.clock.now() + kLookAtWatchedEvery;
  const std::size_t many = std::min(note_.watched.size(), kLookedAtOnce);
  const std::vector<Claim> some(note_.watched.begin(),
                                note_.watched.begin() + static_cast<std::ptrdiff_t>(many));
  find_each(parts_.reader, ids_of(some), next_step([some](OperationRun& run, const Records& found) {
              auto& watched = run.note_.watched;
              watched.erase(watched.begin(),
                            watched.begin() + static_cast<std::ptrdiff_t>(some.size()));
              for (std::size_t at = 0; at < some.size(); ++at) {
                // What cannot be told now is looked at again.
                const core::Token token{some[at].token};
                run.judged(some[at], found[at] ? fate_of(*found[at], token) : Fate::unknown);
              }
              if (auto& stage = run.note_.operation.stage) stage->waiting = watched.size();
              run.tell(false);
              run.go_on();
            }));
}

void OperationRun::judged(const Claim& claim, Fate fate) {
  Operation& operation = note_.operation;
  if (fate == Fate::unknown) return note_.watched.push_back(claim);
  if (fate == Fate::gone) return;
  const bool failed = fate == Fate::failed;
  ++(failed ? operation.progress.failed : operation.progress.succeeded);
  rate_.add(failed);
  if (operation.stage) ++(failed ? operation.stage->failed : operation.stage->succeeded);
}

void OperationRun::rest(OperationState state, std::string why) {
  Operation& operation = note_.operation;
  operation.state = state;
  operation.why = std::move(why);
  operation.changed = now();
  if (has_ended(state)) operation.ended = operation.changed;
  save([this] {
    tell(true);
    hooks_.on_rest(*this);
    go_on();
  });
}

void OperationRun::sleep(Duration wait) {
  // Others who share the store take what nobody has touched for long.
  if (parts_.clock.now() - saved_ >= kSaveEvery) {
    return save([this] { go_on(); });
  }
  timer_ = parts_.loop.after(std::max<Duration>(wait, std::chrono::milliseconds(1)),
                             [self = weak_from_this()] {
                               if (const auto run = self.lock()) run->go_on();
                             });
}

// The store did not answer: what was under way is settled when it does.
void OperationRun::stumble(const Error& error) {
  parts_.log.log(Level::warning, "operation.waits", "the store does not answer: tried again",
                 {{"operation", note_.operation.id}, {"error", error.text()}});
  timer_ = parts_.loop.after(backoff_.next(parts_.random), [self = weak_from_this()] {
    if (const auto run = self.lock()) run->go_on();
  });
}

void OperationRun::save(std::move_only_function<void()> then) {
  note_.operation.changed = now();
  note_.runner = parts_.runner;
  wire::OperationNote kept = note_;
  if (kept.watched.size() > kKeptWatched) kept.watched.clear();
  std::string text;
  wire::JsonWriter writer(text);
  write(writer, kept);
  ports::lane_ask(parts_.writer,
                  ports::Jot{.shelf = std::string(kOperations),
                             .key = note_.operation.id,
                             .text = std::move(text),
                             .version = version_},
                  next_step([then = std::move(then)](OperationRun& run,
                                                     Result<ports::Jot::Answer> answer) mutable {
                    run.saved(std::move(answer), std::move(then));
                  }));
}

void OperationRun::saved(Result<ports::Jot::Answer> answer, std::move_only_function<void()> then) {
  if (!answer) {
    // It may have been written: then the next one is refused, and it is read anew.
    timer_ = parts_.loop.after(backoff_.next(parts_.random),
                               [self = weak_from_this(), then = std::move(then)]() mutable {
                                 if (const auto run = self.lock()) run->save(std::move(then));
                               });
    busy_ = true;
    return;
  }
  if (!*answer) {
    lost_ = true;
    const auto refused = [&] {
      return fail(ErrorCode::conflict, "operation",
                  "operation " + note_.operation.id + " was changed elsewhere: ask again");
    };
    if (answering_) std::exchange(answering_, nullptr)(refused());
    for (Order& order : std::exchange(orders_, {}))
      order.then(refused());
    return hooks_.on_lost(*this);
  }
  version_ = **answer;
  saved_ = parts_.clock.now();
  backoff_.reset();
  then();
}

void OperationRun::tell(bool always) {
  const SteadyTime steady = parts_.clock.now();
  if (!always && steady - told_ < kTellEvery) return;
  told_ = steady;
  if (hooks_.on_change) hooks_.on_change(note_.operation);
}

}  // namespace holdfast::triage
