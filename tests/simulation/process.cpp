#include "simulation/process.hpp"

namespace holdfast::simulation {
namespace {

engine::Options options_of(const Plan& plan, const std::string& owner) {
  engine::Options options;
  options.owner = owner;
  options.sole_owner = !plan.shared;
  options.lease = plan.lease;
  options.sweep_every = plan.sweep_every;
  options.janitor_every = plan.janitor_every;
  options.keep.succeeded = plan.keep;
  options.keep.canceled = plan.keep;
  options.breaker.consecutive_failures = 1;
  options.breaker.open_for = retry::fixed(std::chrono::seconds(8));
  return options;
}

}  // namespace

Process::Process(Parts parts, const Plan& plan, SimRandom random)
    : life_(parts.life),
      random_(random),
      loop_(*parts.schedule),
      watched_(*parts.store, *parts.model, parts.life),
      buggy_(parts.bug && is_engine_bug(*parts.bug)
                 ? std::optional<BuggyStore>(std::in_place, watched_, *parts.memory, *parts.bug)
                 : std::nullopt),
      writer_({parts.schedule, &loop_, buggy_ ? static_cast<ports::Store*>(&*buggy_) : &watched_,
               parts.stats, parts.faults_on},
              plan.lane, random_.fork()),
      reader_({parts.schedule, &loop_, &watched_, parts.stats, parts.faults_on}, plan.lane,
              random_.fork()),
      witness_(*parts.witness_file, parts.witness_can_tell),
      engine_random_(random_.fork()),
      handler_(std::make_shared<SimHandler>(
          SimHandler::Parts{parts.schedule, parts.ledger, parts.model, parts.stats, parts.trace,
                            parts.faults_on, parts.life, plan.backlog, plan.concurrency,
                            std::move(parts.crash)},
          plan.handler, random_.fork())),
      engine_(std::make_unique<engine::Engine>(engine::Parts{.loop = loop_,
                                                             .writer = writer_,
                                                             .reader = reader_,
                                                             .clock = parts.schedule->clock(),
                                                             .random = engine_random_,
                                                             .witness = &witness_},
                                               options_of(plan, parts.owner))) {
  for (const TaskType& type : task_types()) {
    if (!type.handled) continue;
    engine_->handle(type.name, {.handler = handler_,
                                .policy = type.policy,
                                .classifier = sim_classifier(),
                                .dependency = type.dependency});
  }
  for (const char* queue : kQueues)
    engine_->serve({.name = queue, .concurrency = plan.concurrency});
  for (const char* queue : kQueues) {
    if (plan.redrive_rounds < 0) continue;
    engine_->consume_dead_letters({.queue = queue,
                                   .rule = engine::DeadLetters::Rule::redrive,
                                   .redrive_rounds = plan.redrive_rounds,
                                   .poll = plan.dead_poll,
                                   .batch = 3});
  }
  engine_->start();
}

void Process::die() {
  loop_.die();
  witness_.die();
  writer_.die();
  reader_.die();
  engine_.reset();
  handler_->die();
}

}  // namespace holdfast::simulation
