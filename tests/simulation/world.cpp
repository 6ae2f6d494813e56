#include "simulation/world.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kKeptLines = 60;
// After this much simulated time without faults, everything must have ended.
constexpr Duration kPatience = minutes(30);

}  // namespace

World::World(std::uint64_t seed, const RunOptions& options)
    : random_(seed),
      plan_(Plan::draw(random_)),
      bug_(options.bug),
      trace_(options.whole_trace ? Trace::kEverything : kKeptLines),
      schedule_(clock_, random_.fork()),
      buggy_(bug_ && !is_engine_bug(*bug_)
                 ? std::optional<BuggyStore>(std::in_place, memory_, memory_, *bug_)
                 : std::nullopt),
      store_(buggy_ ? static_cast<ports::Store*>(&*buggy_) : &memory_),
      ledger_({&breach_, &stats_, &trace_, &clock_}),
      model_(
          {&breach_, &stats_, &trace_, &clock_},
          [this](Asker asker, const KnownTask& before, const ports::Claim& claim) {
            ledger_.on_claim(asker, before, claim);
          },
          [this](Asker asker, const KnownTask& before, const ports::Change::One& one) {
            ledger_.on_move(asker, before, one);
          }),
      ids_(random_) {
  ledger_.set_redrive_rounds(plan_.redrive_rounds);
  const int machines = plan_.shared ? 2 : 1;
  if (plan_.shared) stats_.count(Happening::shared_store);
  for (int i = 0; i < machines; ++i) {
    machines_.push_back(std::make_unique<Machine>());
    machines_.back()->number = i + 1;
  }
}

void World::line(std::string_view words, std::initializer_list<std::int64_t> numbers) {
  trace_.line(schedule_.elapsed(), words, numbers);
}

RunReport World::run() {
  plan_orders();
  for (auto& machine : machines_)
    boot(*machine);
  trouble();
  while (!breach_.is_found() && faults_on_)
    step_and_check();
  drain();
  shut_all_down();
  last_checks();
  ++stats_.seeds;
  stats_.events += trace_.count();
  stats_.simulated_s += std::chrono::duration<double>(schedule_.elapsed()).count();
  return {breach_.what(), trace_.hash(), trace_.text(), stats_};
}

void World::step_and_check() {
  if (!schedule_.step()) breach_.found("nothing is left to happen, though not all is done");
  if (model_.has_changed()) model_.compare(memory_, *store_);
}

// Machines.

void World::boot(Machine& machine) {
  if (machine.process || ending_) return;
  LifeFacts facts;
  const bool can_tell = !std::exchange(machine.machine_died, false);
  facts.knows_last_life = can_tell && machine.witness.left && !plan_.shared;
  facts.concurrency = plan_.concurrency;
  const int life = ledger_.new_life(std::move(facts));
  std::string owner = fmt::format("machine {}, life {}", machine.number, life);
  ledger_.life(life).owner = owner;
  machine.shutting_down = false;
  line("machine {}: life {} begins", {machine.number, life});
  machine.process = std::make_unique<Process>(
      Process::Parts{&schedule_, store_, &memory_, &model_, &ledger_, &stats_, &trace_, &faults_on_,
                     &machine.witness, can_tell, life, std::move(owner), bug_,
                     [this, &machine, life] { crash_later(machine, life); }},
      plan_, random_.fork());
}

// Not from within the engine that is to die.
void World::crash_later(Machine& machine, int life) {
  schedule_.after(Duration::zero(), [this, &machine, life] {
    if (machine.process && machine.process->life() == life) crash(machine, false);
  });
}

void World::crash(Machine& machine, bool with_machine) {
  if (!machine.process) return;
  Process& process = *machine.process;
  stats_.count(with_machine ? Happening::machine_crash : Happening::process_crash);
  line("machine {}: life {} crashes", {machine.number, process.life()});
  ledger_.life(process.life()).dead = true;
  machine.machine_died = with_machine;
  process.die();
  graves_.push_back(std::move(machine.process));
  boot_later(machine);
}

// The engine is destroyed, as it may be at any time, in a process that lives on for a while: its
// handlers go on and report to nobody.
void World::lose_engine(Machine& machine) {
  if (!machine.process || machine.process->engine() == nullptr) return;
  const int life = machine.process->life();
  stats_.count(Happening::engine_lost);
  line("machine {}: life {} loses its engine", {machine.number, life});
  machine.process->lose_engine();
  schedule_.after(random_.between(milliseconds(1), seconds(20)), [this, &machine, life] {
    if (machine.process && machine.process->life() == life) crash(machine, false);
  });
}

void World::boot_later(Machine& machine) {
  schedule_.after(random_.between(milliseconds(10), seconds(10)),
                  [this, &machine] { boot(machine); });
}

void World::shut_down(Machine& machine, bool forced) {
  if (!machine.process || !machine.process->engine() || machine.shutting_down) return;
  machine.shutting_down = true;
  Process& process = *machine.process;
  const int life = process.life();
  stats_.count(forced ? Happening::forced_shutdown : Happening::shutdown);
  line("machine {}: life {} shuts down", {machine.number, life});
  ledger_.life(life).shutting_down = true;
  // What was asked in times of trouble may still come back as an error.
  const bool well = !faults_on_ && process.is_idle();
  process.engine()->shut_down([this, &machine, life, well](const engine::ShutdownReport& report) {
    line("machine {}: life {} has shut down: {} finished, {} handed back, {} unsettled",
         {machine.number, life, static_cast<std::int64_t>(report.finished),
          static_cast<std::int64_t>(report.handed_back),
          static_cast<std::int64_t>(report.unsettled)});
    if (well && report.unsettled > 0) {
      breach_.found("a shutdown left something unsettled, though the store was well");
    }
    // Outside of the engine's own call.
    schedule_.after(Duration::zero(), [this, &machine, life] {
      if (!machine.process || machine.process->life() != life) return;
      ledger_.life(life).dead = true;
      machine.process->die();
      graves_.push_back(std::move(machine.process));
      boot_later(machine);
    });
  });
  if (forced) {
    schedule_.after(random_.between(milliseconds(1), seconds(10)), [&machine, life] {
      const bool same = machine.process && machine.process->life() == life;
      if (same && machine.process->engine() != nullptr) machine.process->engine()->hurry();
    });
  }
}

World::Machine* World::any_up() {
  std::vector<Machine*> up;
  for (auto& machine : machines_) {
    if (machine->is_up()) up.push_back(machine.get());
  }
  return up.empty() ? nullptr : up[random_.below(up.size())];
}

// Trouble, and its end.

void World::every(Duration mean, std::function<void()> what) {
  if (mean == Duration::zero()) return;
  schedule_.after(random_.between(mean / 10, mean * 2), [this, mean, what = std::move(what)] {
    if (!faults_on_) return;
    what();
    every(mean, what);
  });
}

void World::trouble() {
  every(plan_.crash_every, [this] {
    Machine& machine = *machines_[random_.below(machines_.size())];
    if (random_.chance(0.2)) {
      lose_engine(machine);
    } else {
      crash(machine, random_.chance(plan_.machine_share));
    }
  });
  every(plan_.shutdown_every, [this] {
    shut_down(*machines_[random_.below(machines_.size())], random_.chance(plan_.forced_share));
  });
  every(plan_.jump_every, [this] { jump_wall(); });
  every(plan_.person_every, [this] { person_acts(); });
  schedule_.after(plan_.trouble_lasts, [this] { calm(); });
}

void World::jump_wall() {
  const bool forward = random_.chance(0.5);
  const bool far = random_.chance(0.2);
  const Duration by = random_.between(milliseconds(1), far ? Duration(minutes(10)) : seconds(20));
  stats_.count(forward ? Happening::wall_forward : Happening::wall_backward);
  jumped_ += forward ? by : -by;
  line("the wall clock jumps by {} us",
       {std::chrono::duration_cast<std::chrono::microseconds>(forward ? by : -by).count()});
  clock_.jump_wall(forward ? by : -by);
}

void World::calm() {
  line("trouble ends");
  faults_on_ = false;
  clock_.jump_wall(-jumped_);  // somebody puts the clock right
  for (auto& machine : machines_)
    boot(*machine);
  for (const char* queue : kQueues)
    open_queue(queue);
}

// As long as it takes: a pause that was asked for before may still be on its way to the store.
void World::open_queue(const std::string& queue) {
  Machine* up = any_up();
  if (up != nullptr && !model_.is_open(queue)) {
    up->process->engine()->configure(
        {.queue = queue, .paused = false, .concurrency = 0, .backlog = 0}, [](const auto&) {});
  }
  schedule_.after(seconds(5), [this, queue] { open_queue(queue); });
}

bool World::drained() const {
  return model_.unfinished() == 0 &&
         std::ranges::all_of(orders_, [](const Order& order) { return order.done; });
}

void World::drain() {
  // What became due by a clock that was ahead comes that much later, now that the clock is right.
  const Duration ahead = std::max(jumped_, Duration::zero());
  const Duration end = schedule_.elapsed() + kPatience + plan_.lease + ahead;
  while (!breach_.is_found() && !drained()) {
    step_and_check();
    if (schedule_.elapsed() < end) continue;
    std::string left;
    for (const auto& [id, known] : model_.tasks()) {
      if (core::is_terminal(known.task.state)) continue;
      left += fmt::format(" task {} is {}", known.number, to_string(known.task.state));
      if (known.task.state == core::State::running) left += " of " + known.owner;
    }
    breach_.found("not everything came to its end after faults had ended:" +
                  (left.empty() ? " a submit has no answer" : left));
  }
}

void World::shut_all_down() {
  if (breach_.is_found()) return;
  ending_ = true;
  const Duration end = schedule_.elapsed() + minutes(10);
  const auto is_down = [](const auto& machine) { return machine->process == nullptr; };
  while (!breach_.is_found() && schedule_.elapsed() < end) {
    if (std::ranges::all_of(machines_, is_down)) return;
    for (auto& machine : machines_) {
      if (machine->process) shut_down(*machine, false);
    }
    step_and_check();
  }
  breach_.found("a shutdown came to no end");
}

void World::last_checks() {
  if (breach_.is_found()) return;
  for (const auto& machine : machines_) {
    for (const auto& [place, claim] : machine->witness.under_way) {
      if (!ledger_.has_ended({model_.number_of(claim.id), claim.token.value})) continue;
      breach_.found("a witness says that an attempt is under way, though it has ended");
    }
  }
  model_.compare(memory_, *store_);
}

RunReport simulate(std::uint64_t seed, const RunOptions& options) {
  RunReport first = World(seed, options).run();
  if (first.breach) return first;
  const RunReport second = World(seed, options).run();
  if (first.hash != second.hash) {
    first.breach = "not deterministic: a second run of the seed went another way";
    first.trace = second.trace;
  }
  return first;
}

}  // namespace holdfast::simulation
