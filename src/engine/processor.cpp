#include "engine/processor.hpp"

#include <algorithm>
#include <utility>

#include "core/rules.hpp"
#include "engine/carrier.hpp"

namespace holdfast::engine {
namespace {

constexpr Duration kSayAgain = std::chrono::minutes(1);
constexpr std::size_t kMostSaid = 100;
constexpr int kMostRepeats = 3;

}  // namespace

Processor::Processor(Floor& floor, Roles roles, std::shared_ptr<Inbox> inbox, QueueOptions options)
    : floor_(floor), roles_(roles), inbox_(std::move(inbox)), options_(std::move(options)) {}

void Processor::start() {
  if (std::exchange(claiming_, true)) return;
  measured_at_ = floor_.now();
  dry_ = false;
  run_once();
}

void Processor::set_concurrency(std::size_t concurrency) {
  options_.concurrency = concurrency;
  hand_over_kept();
  run_once();
}

void Processor::stop() {
  claiming_ = false;
  wake_.reset();
  retry_.reset();
}

std::size_t Processor::free_places() const {
  const std::size_t target = std::max<std::size_t>(options_.concurrency, 1) + ahead_;
  const std::size_t taken = started_ + kept_.size() + asked_ + again_;
  const std::size_t all_taken = floor_.runs.size() + floor_.places_asked;
  const std::size_t most = floor_.options.most_claimed;
  if (taken >= target || all_taken >= most) return 0;
  const std::size_t free = std::min(target - taken, most - all_taken);
  // One claim at a time, however small; another beside it only if it is worth it.
  return asked_ > 0 && free * 4 < target ? 0 : free;
}

void Processor::run_once() {
  if (!claiming_ || dry_ || retry_ || floor_.broken()) return;
  if (const std::size_t free = free_places(); free > 0) claim(free);
}

void Processor::claim(std::size_t max) {
  ports::Claim claim{.queue = options_.name,
                     .max = max,
                     .owner = floor_.options.owner,
                     .lease = floor_.options.lease,
                     .now = floor_.wall_now()};
  Carrier* const carrier = floor_.carrier_of(options_.name);
  if (carrier && !carrier->fill(claim)) {
    dry_ = true;  // until something is delivered
    return;
  }
  asked_ += max;
  floor_.places_asked += max;
  noted_due_ = WallTime::max();
  asked_at_ = floor_.now();
  const Round round{max, news_, asked_at_};
  floor_.ask(floor_.parts.writer, std::move(claim),
             [this, round, carrier](ports::Asked<ports::Claim>& asked) {
               if (carrier) carrier->answered(asked);
               answered(asked, round);
             });
}

void Processor::answered(ports::Asked<ports::Claim>& asked, Round round) {
  asked_ -= round.max;
  floor_.places_asked -= round.max;
  if (!asked.answer) {
    failed(asked.answer.error());
    floor_.on_progress();
    return;
  }
  backoff_.reset();
  const SteadyTime now = floor_.now();
  const WallTime wall_now = floor_.wall_now();
  const std::size_t given = asked.answer->tasks.size();
  for (ports::TaskRecord& record : asked.answer->tasks)
    admit(std::move(record), wall_now, now);
  measure(round, now);
  if (given < round.max) ran_short(*asked.answer, round);
  roles_.settler.flush();
  floor_.on_progress();
}

void Processor::failed(const Error& error) {
  if (!claiming_ || floor_.broken() || retry_) return;
  const Duration wait = backoff_.next(floor_.parts.random);
  floor_.parts.log.log(Level::warning, "store.unavailable",
                       "the store did not answer a claim: asked again",
                       {{"operation", "claim"},
                        {"queue", options_.name},
                        {"attempt", backoff_.failures()},
                        {"wait", wait},
                        {"error", error.text()}});
  retry_ = floor_.parts.loop.after(wait, [this] {
    retry_.reset();
    run_once();
  });
}

void Processor::ran_short(const ports::Claim::Answer& answer, const Round& round) {
  blocked_ = answer.blocked;
  if (news_ != round.news) return;  // it may have more by now
  dry_ = true;
  const SteadyTime now = floor_.now();
  Duration wait = floor_.has_news() ? Duration::max() : floor_.look_every();
  const WallTime due = std::min(noted_due_, answer.next_due.value_or(WallTime::max()));
  if (!answer.blocked && due != WallTime::max()) {
    wait = std::min(wait, std::max(due - floor_.wall_now(), kLeastClaimWait));
  }
  wake_at(saturating_add(now, wait));
}

void Processor::wake_at(SteadyTime at) {
  if (!claiming_) return;
  wake_at_ = at;
  wake_.reset();
  if (at == SteadyTime::max()) return;  // somebody will say when
  const Duration wait = std::max(at - floor_.now(), Duration::zero());
  wake_ = floor_.parts.loop.after(wait, [this] { news(); });
}

void Processor::news() {
  ++news_;
  dry_ = false;
  wake_.reset();
  run_once();
}

bool Processor::look(SteadyTime since) {
  if (!claiming_ || !dry_ || retry_ || asked_at_ > since || free_places() == 0) return false;
  news();
  return true;
}

void Processor::due_at(WallTime due) {
  const WallTime wall_now = floor_.wall_now();
  if (due <= wall_now) {
    // No claim yet: whoever tells asks the store first.
    ++news_;
    dry_ = false;
    return;
  }
  noted_due_ = std::min(noted_due_, due);
  if (!dry_) return;
  const SteadyTime at = saturating_add(floor_.now(), due - wall_now);
  if (at < wake_at_) wake_at(at);
}

void Processor::settled_one() {
  if (!blocked_) return;
  blocked_ = false;
  ++news_;
  dry_ = false;
}

// Ahead: twice what ends in the time that a claim takes. Where everything at hand has ended before
// the answer came, that doubles with each claim.
void Processor::measure(const Round& round, SteadyTime now) {
  const Duration took = now - round.at;
  const Duration since = now - measured_at_;
  if (since < took || since <= Duration::zero()) return;  // too short a time to tell
  const std::uint64_t ended = ended_ - std::exchange(measured_ended_, ended_);
  measured_at_ = now;
  const double share = static_cast<double>(took.count()) / static_cast<double>(since.count());
  if (!floor_.options.claims_ahead) return;
  ahead_ = std::min(static_cast<std::size_t>(2 * share * static_cast<double>(ended)), most_ahead());
}

// When nothing is at hand, what comes next will be like what came before.
std::size_t Processor::most_ahead() {
  if (started_ == 0 && kept_.empty()) return most_ahead_;
  most_ahead_ = floor_.options.most_claimed;
  const auto ask = [&](const TaskType& type) {
    most_ahead_ = std::min(most_ahead_, type.options.handler->backlog());
  };
  for (const auto& run : kept_)
    ask(run->type());
  started_of_type_.resize(floor_.index_count());
  floor_.for_each_type([&](const TaskType& type) {
    if (started_of_type_[type.index] > 0) ask(type);
  });
  return most_ahead_;
}

bool Processor::keep_place(LiveRun& run, const core::Transition& transition) {
  const bool may = claiming_ && run.has_begun() && run.on_loop.ended &&
                   run.on_loop.fate == Fate::open && run.on_loop.repeats < kMostRepeats &&
                   !floor_.carrier_of(options_.name);
  if (!may || transition.to != core::State::retrying || transition.wait > Duration::zero()) {
    return false;
  }
  run.on_loop.again = true;
  ++again_;
  return true;
}

void Processor::free_place(LiveRun& run) {
  if (std::exchange(run.on_loop.again, false)) --again_;
}

void Processor::run_again(const LiveRun& run, const core::Transition& transition) {
  ports::TaskRecord record = run.task();
  record.waited_as = transition.to;
  record.was_due = transition.due;
  record.changed = transition.due - transition.wait;
  core::apply(transition, record.task);
  core::apply(core::claim(record.task, record.changed).value(), record.task);
  admit(std::move(record), floor_.wall_now(), floor_.now(), run.on_loop.repeats + 1);
}

void Processor::admit(ports::TaskRecord record, WallTime wall_now, SteadyTime now, int repeats) {
  const TaskType* type = floor_.find_type(record.type);
  const bool handled = type && type->options.handler;
  auto run = std::make_shared<LiveRun>(
      std::move(record), LiveRun::Setup{.type = type ? *type : floor_.type_or_default(""),
                                        .processor = *this,
                                        .inbox = inbox_,
                                        .clock = floor_.parts.clock,
                                        .witness = floor_.parts.witness,
                                        .now = wall_now});
  run->on_loop.repeats = repeats;
  floor_.runs.add(run);
  if (!claiming_) return refuse(run, core::HandedBack{});
  if (core::is_late(run->task().task, wall_now)) return refuse(run, core::Expired{});
  if (!handled) {
    say_unknown(run->task().type, now);
    return refuse(run,
                  Failure{.message = "no handler for tasks of type '" + run->task().type + "'"});
  }
  if (type->breaker) {
    run->on_loop.permit = type->breaker->try_acquire();
    if (!run->on_loop.permit) return refuse(run, roles_.breakers.put_off(*type->breaker));
  }
  const std::size_t most = options_.concurrency + type->options.handler->backlog();
  if (started_ < std::max<std::size_t>(most, 1)) {
    hand_over(run, now);
  } else {
    kept_.push_back(std::move(run));
  }
}

// Settled without a handler.
void Processor::refuse(const std::shared_ptr<LiveRun>& run, core::Outcome outcome) {
  run->on_loop.ended = true;
  roles_.settler.settle(run, std::move(outcome));
}

void Processor::hand_over(const std::shared_ptr<LiveRun>& run, SteadyTime now) {
  const WallTime wall_now = floor_.wall_now();
  run->on_loop.started = true;
  run->on_loop.started_at = now;
  ++started_;
  started_of_type_.resize(floor_.index_count());
  ++started_of_type_[run->type().index];
  roles_.timeouts.watch(run->time_out_at(now, wall_now) - now, now);
  if (floor_.options.observer) floor_.options.observer->started(run->task(), wall_now);
  run->type().options.handler->start(LiveRun::for_handler(run));
}

void Processor::hand_over_kept() {
  while (!kept_.empty()) {
    const std::shared_ptr<LiveRun> run = kept_.front();
    if (run->on_loop.settled) {  // canceled, or its claim lost, while it waited here
      kept_.pop_front();
      run->on_loop.ended = true;
      floor_.runs.release(*run);
      continue;
    }
    const std::size_t most = options_.concurrency + run->type().options.handler->backlog();
    if (started_ >= std::max<std::size_t>(most, 1)) return;
    kept_.pop_front();
    hand_over(run, floor_.now());
  }
}

void Processor::end(const std::shared_ptr<LiveRun>& run) {
  auto& state = run->on_loop;
  state.ended = true;
  --started_;
  --started_of_type_[run->type().index];
  ++ended_;
  if (!state.settled && !state.settling) {
    const bool is_own_word = state.fate == Fate::open;
    core::Outcome outcome = is_own_word ? run->take_outcome() : outcome_of(*run);
    // The only way that a handler has to say that begin() was refused for the deadline.
    const bool not_begun = std::holds_alternative<core::HandedBack>(outcome) && !run->has_begun();
    if (not_begun && core::is_late(run->task().task, floor_.wall_now())) {
      outcome = core::Expired{};
    }
    roles_.settler.settle(run, std::move(outcome), is_own_word ? run->said() : nullptr);
  }
  state.permit = {};
  floor_.runs.release(*run);
  hand_over_kept();
}

bool Processor::take_back(const std::shared_ptr<LiveRun>& run, core::Outcome outcome) {
  auto& state = run->on_loop;
  if (state.settled || state.settling || !run->revoke()) return false;
  state.fate = Fate::handed_back;
  if (!state.started) {
    std::erase(kept_, run);
    state.ended = true;
  }
  run->request_stop();
  roles_.settler.settle(run, std::move(outcome));
  return true;
}

void Processor::say_unknown(const std::string& type, SteadyTime now) {
  if (said_unknown_.size() >= kMostSaid) said_unknown_.clear();
  const auto [said, is_new] = said_unknown_.try_emplace(type, now);
  if (!is_new && now - said->second < kSayAgain) return;
  said->second = now;
  floor_.parts.log.log(Level::error, "task.unknown_type", "nobody handles tasks of this type",
                       {{"type", type}, {"queue", options_.name}});
}

}  // namespace holdfast::engine
