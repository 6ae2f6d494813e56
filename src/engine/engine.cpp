#include "engine/engine.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "engine/breakers.hpp"
#include "engine/carrier.hpp"
#include "engine/dead_letter_consumer.hpp"
#include "engine/decisions.hpp"
#include "engine/expiry.hpp"
#include "engine/floor.hpp"
#include "engine/janitor.hpp"
#include "engine/lease_keeper.hpp"
#include "engine/lending.hpp"
#include "engine/patrol.hpp"
#include "engine/processor.hpp"
#include "engine/rescuer.hpp"
#include "engine/settler.hpp"
#include "engine/shutdown.hpp"
#include "engine/timeouts.hpp"

namespace holdfast::engine {

struct Engine::Roles {
  Roles(Parts parts, Options options)
      : floor(parts, std::move(options)),
        inbox(std::make_shared<Inbox>(floor.parts.loop, [this] { drain(); })) {
    floor.on_progress = [this] {
      refill();
      shutdown.run_once();
    };
  }

  ~Roles() {
    listen_no_more();
    inbox->close();
    for (const auto& run : floor.runs) {
      run->on_loop.permit = {};  // handlers may hold the run for longer than there are breakers
      (void)run->revoke();
      run->request_stop();
    }
  }

  Processor* processor_of(std::string_view queue) const {
    const auto found = std::ranges::find_if(
        processors, [&](const auto& processor) { return processor->name() == queue; });
    return found == processors.end() ? nullptr : found->get();
  }

  // What handlers have reported since the last time: one Change, and the claims right behind it.
  void drain() {
    for (const auto& run : inbox->take())
      run->processor().end(run);
    settler.flush();
    floor.on_progress();
  }

  // What was claimed before a breaker opened and has not begun would only fail, and pay for it.
  void hold_back(const Breaker& breaker) {
    const std::vector<std::shared_ptr<LiveRun>> runs(floor.runs.begin(), floor.runs.end());
    for (const auto& run : runs) {
      if (run->type().breaker == &breaker) {
        run->processor().take_back(run, breakers.put_off(breaker));
      }
    }
    settler.flush();
    floor.on_progress();
  }

  void refill() {
    for (const auto& processor : processors)
      processor->run_once();
    lending.run_once();
  }

  // There may be tasks of it that are due.
  void news(const std::string& queue) {
    if (Processor* processor = processor_of(queue)) processor->news();
    lending.news(queue);
  }

  // What others do to a store that is shared. Told on a thread of its own, heard on the loop.
  void listen() {
    if (!floor.has_news()) return;
    auto heard = floor.guarded([this](const ports::News::One& one) {
      if (floor.shutting_down || floor.broken()) return;
      if (!one.any) return news(one.queue);
      for (const auto& processor : processors)
        processor->news();
      lending.any_news();
    });
    floor.parts.news->listen([&loop = floor.parts.loop, heard](ports::News::One one) {
      loop.post([heard, one = std::move(one)]() mutable { heard(one); });
    });
    listening = true;
  }
  void listen_no_more() {
    if (std::exchange(listening, false)) floor.parts.news->listen({});
  }

  [[nodiscard]] DeadLetterConsumer* consumer_of(std::string_view queue) const {
    const auto found = std::ranges::find_if(dead_letter_consumers, [&](const auto& consumer) {
      return !consumer->is_stopping() && consumer->rule().queue == queue;
    });
    return found == dead_letter_consumers.end() ? nullptr : found->get();
  }
  void stop_consumer_of(std::string_view queue) {
    if (DeadLetterConsumer* const consumer = consumer_of(queue)) consumer->stop();
    std::erase_if(dead_letter_consumers, [](const auto& consumer) { return consumer->may_go(); });
  }

  void submitted(const std::vector<ports::NewTask>& tasks);
  void start_all();
  void carried(const ports::TaskRecord& record, const core::Transition& transition);

  Floor floor;
  const std::shared_ptr<Inbox> inbox;
  // Outlive the permits that runs hold.
  Breakers breakers{floor, [this](const Breaker& breaker) { hold_back(breaker); }};
  Settler settler{floor};
  Timeouts timeouts{floor, settler};
  std::vector<std::unique_ptr<Processor>> processors;
  LeaseKeeper lease_keeper{floor, timeouts};
  Rescuer rescuer{floor, settler.judge(), [this](const std::string& queue) { news(queue); }};
  Patrol patrol{floor, processors};
  Janitor janitor{floor};
  Expiry expiry{floor, settler};
  Decisions decisions{
      floor, [this](const auto& record, const auto& transition) { carried(record, transition); }};
  Lending lending{floor, settler.judge(), [this](const auto& record, const auto& transition) {
                    if (transition.to == core::State::pending) news(record.queue);
                  }};
  DeadLetterConsumers dead_letter_consumers;
  Shutdown shutdown{floor, settler, timeouts, processors, lending, dead_letter_consumers};
  UuidSource ids{floor.parts.random};
  std::vector<std::unique_ptr<Carrier>> carriers;
  bool running = false;    // started, and what dead owners left is rescued
  bool listening = false;  // to what others do
};

// The claims go right behind what they may find: both are one batch for the store.
void Engine::Roles::submitted(const std::vector<ports::NewTask>& tasks) {
  Processor* processor = nullptr;
  std::string_view queue;
  for (const ports::NewTask& task : tasks) {
    if (!processor || task.queue != queue) {
      queue = task.queue;
      processor = processor_of(queue);
    }
    if (processor) processor->due_at(task.due);
    lending.due_at(task.queue, task.due);
  }
}

void Engine::Roles::carried(const ports::TaskRecord& record, const core::Transition& transition) {
  ++floor.stats.settled[static_cast<std::size_t>(transition.event)];
  floor.tell({.task = record, .transition = transition});
  if (transition.to == core::State::pending) {
    news(record.queue);
  } else if (transition.from == core::State::running) {
    const auto run = floor.runs.find({record.id, record.task.token});
    if (run && !run->on_loop.settled) lease_keeper.drop(*run);
  }
}

void Engine::Roles::start_all() {
  running = true;
  for (const auto& consumer : dead_letter_consumers) {
    floor.parts.log.log(Level::info, "engine.consumers",
                        "Starting Main Consumer and DLQ Consumer together",
                        {{"queue", consumer->rule().queue}});
  }
  for (const auto& processor : processors)
    processor->start();
  for (const auto& carrier : carriers)
    carrier->start();
  for (const auto& consumer : dead_letter_consumers)
    consumer->start();
  patrol.start();
  janitor.start();
  expiry.start();
}

Engine::Engine(Parts parts, Options options)
    : roles_(std::make_unique<Roles>(parts, std::move(options))) {}

Engine::~Engine() = default;

void Engine::handle(std::string type, TypeOptions options) {
  const std::string dependency = options.dependency;
  TaskType& added = roles_->floor.add_type(std::move(type), std::move(options));
  if (!dependency.empty()) added.breaker = &roles_->breakers.of(dependency);
}

void Engine::forget(const std::string& type) {
  roles_->floor.remove_type(type);
}

void Engine::serve(QueueOptions queue) {
  Roles& roles = *roles_;
  if (Processor* const processor = roles.processor_of(queue.name)) {
    processor->set_concurrency(queue.concurrency);
    if (roles.running && !roles.floor.shutting_down) processor->start();
    return;
  }
  roles.processors.push_back(std::make_unique<Processor>(
      roles.floor, Processor::Roles{roles.settler, roles.breakers, roles.timeouts}, roles.inbox,
      std::move(queue)));
  if (roles.running && !roles.floor.shutting_down) roles.processors.back()->start();
}

void Engine::leave(const std::string& queue) {
  Roles& roles = *roles_;
  Processor* const processor = roles.processor_of(queue);
  if (!processor) return;
  processor->stop();
  const std::vector<std::shared_ptr<LiveRun>> runs(roles.floor.runs.begin(),
                                                   roles.floor.runs.end());
  for (const auto& run : runs) {
    if (&run->processor() == processor) processor->take_back(run, core::HandedBack{});
  }
  roles.settler.flush();
}

void Engine::start(std::move_only_function<void()> ready) {
  Roles& roles = *roles_;
  roles.floor.parts.log.log(Level::info, "engine.start", "the engine starts",
                            {{"store", roles.floor.options.store},
                             {"owner", roles.floor.options.owner},
                             {"queues", roles.processors.size()},
                             {"types", roles.floor.type_count()}});
  auto first_done = [&roles, ready = std::make_shared<decltype(ready)>(std::move(ready))] {
    if (!roles.floor.shutting_down) roles.start_all();
    if (*ready) (*ready)();
  };
  roles.listen();
  roles.lease_keeper.start();
  roles.rescuer.start(std::move(first_done));
}

namespace {

void tell_of(const ports::Asked<ports::Submit>& asked, Observer& observer) {
  if (!asked.answer) return;
  for (std::size_t i = 0; i < asked.answer->size(); ++i) {
    const auto& one = (*asked.answer)[i];
    if (one && !one->existed) observer.submitted(one->id, asked.verb.tasks[i]);
  }
}

ports::TaskRecord record_of(const ports::NewTask& task, const TaskId& id) {
  ports::TaskRecord record;
  record.id = id;
  record.type = task.type;
  record.queue = task.queue;
  record.payload = task.payload;
  record.trace = task.trace;
  record.retry_on_failure = task.retry_on_failure;
  record.task.created = task.created;
  record.task.due = task.due;
  record.task.spent.attempts = task.attempts;
  return record;
}

// Tasks that the store has accepted, until the brokers of their queues have, too.
struct Submission : std::enable_shared_from_this<Submission> {
  ports::Submit::Answer answers;
  Engine::Submitted then;
  std::size_t open = 1;

  static void publish(Floor& floor, ports::Asked<ports::Submit>& asked, Engine::Submitted then) {
    const auto self = std::make_shared<Submission>();
    self->answers = *std::move(asked.answer);
    self->then = std::move(then);
    std::map<Carrier*, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < self->answers.size(); ++i) {
      Carrier* const carrier = floor.carrier_of(asked.verb.tasks[i].queue);
      if (!carrier || !self->answers[i]) continue;
      if (!self->answers[i]->existed) {
        places[carrier].push_back(i);
        continue;
      }
      Carrier::Joined joined = [self, i](const std::optional<Carrier::Unpublished>& unpublished) {
        if (unpublished) self->fail_one(i, *unpublished);
        self->end_one();
      };
      if (carrier->join(self->answers[i]->id, joined)) ++self->open;
    }
    self->open += places.size();
    for (const auto& [carrier, of_carrier] : places) {
      std::vector<ports::TaskRecord> records;
      for (const std::size_t i : of_carrier) {
        records.push_back(record_of(asked.verb.tasks[i], self->answers[i]->id));
        self->answers[i]->outbound = !carrier->carriage().confirmed;
      }
      carrier->publish(records, [self, of_carrier](const auto& unpublished) {
        for (std::size_t i = 0; i < of_carrier.size(); ++i) {
          if (unpublished[i]) self->fail_one(of_carrier[i], *unpublished[i]);
        }
        self->end_one();
      });
    }
    self->end_one();
  }

  void fail_one(std::size_t index, const Carrier::Unpublished& why) {
    const std::string id = answers[index]->id.text();
    answers[index] =
        fail(ErrorCode::unavailable, "publish",
             why.error.text() + (why.is_recorded ? ": task " + id +
                                                       " is recorded, and will be published when "
                                                       "the broker takes it"
                                                 : ": the task was not accepted, and is not "
                                                   "recorded"));
  }
  void end_one() {
    if (--open == 0) then(std::move(answers));
  }
};

}  // namespace

void Engine::submit(std::vector<ports::NewTask> tasks, Submitted then) {
  Floor& floor = roles_->floor;
  if (floor.shutting_down || floor.broken()) {
    auto refusal = floor.broken() ? std::unexpected(*floor.stats.broken)
                                  : fail(ErrorCode::unavailable, "submit", "shutting down");
    floor.parts.loop.post(floor.guarded(
        [then = std::move(then), refusal = std::move(refusal)]() mutable { then(refusal); }));
    return;
  }
  const WallTime now = floor.wall_now();
  for (ports::NewTask& task : tasks) {
    if (task.id == TaskId()) task.id = TaskId(roles_->ids.next(now));
    floor.complete(task);
  }
  roles_->submitted(tasks);
  floor.ask(floor.parts.writer, ports::Submit{std::move(tasks)},
            [&floor, then = std::move(then)](ports::Asked<ports::Submit>& asked) mutable {
              if (floor.options.observer) tell_of(asked, *floor.options.observer);
              if (floor.carriers.empty() || !asked.answer) return then(std::move(asked.answer));
              Submission::publish(floor, asked, std::move(then));
            });
  roles_->refill();
}

void Engine::carry(Carriage carriage) {
  Roles& roles = *roles_;
  const std::string queue = carriage.queue;
  roles.carriers.push_back(std::make_unique<Carrier>(
      roles.floor, std::move(carriage),
      Carrier::Hooks{.news = [&roles, queue] { roles.news(queue); },
                     .replay =
                         [&roles](TaskId id, Decided then) {
                           roles.decisions.replay(id, {}, std::move(then), {});
                         }}));
  roles.floor.carriers[queue] = roles.carriers.back().get();
}

void Engine::consume_dead_letters(DeadLetters rule) {
  Roles& roles = *roles_;
  roles.stop_consumer_of(rule.queue);
  roles.dead_letter_consumers.push_back(std::make_unique<DeadLetterConsumer>(
      roles.floor, std::move(rule),
      DeadLetterConsumer::Hooks{
          .carried = [&roles](const auto& record,
                              const auto& transition) { roles.carried(record, transition); },
          .rule_of = [&roles](const std::string& queue) -> const DeadLetters* {
            const DeadLetterConsumer* const other = roles.consumer_of(queue);
            return other ? &other->rule() : nullptr;
          }}));
  if (roles.running && !roles.floor.shutting_down) roles.dead_letter_consumers.back()->start();
}

void Engine::keep_dead_letters(const std::string& queue) {
  roles_->stop_consumer_of(queue);
}

std::string Engine::queue_of(std::string_view type) const {
  return roles_->floor.type_or_default(type).options.queue;
}

void Engine::cancel(TaskId id, Decided then, std::string by) {
  roles_->decisions.cancel(id, std::move(then), std::move(by));
}

void Engine::replay(TaskId id, core::ReplayOptions options, Decided then, std::string by) {
  roles_->decisions.replay(id, options, std::move(then), std::move(by));
}

void Engine::discard(TaskId id, Decided then, std::string by) {
  roles_->decisions.discard(id, std::move(then), std::move(by));
}

Result<core::Transition> Engine::would_replay(const ports::TaskRecord& record,
                                              const core::ReplayOptions& options) const {
  return roles_->decisions.would_replay(record, options);
}

void Engine::configure(ports::Configure configure, Configured then) {
  Floor& floor = roles_->floor;
  const std::string queue = configure.queue;
  floor.ask(floor.parts.writer, std::move(configure),
            [&floor, then = std::move(then)](ports::Asked<ports::Configure>& asked) mutable {
              Observer* const observer = floor.options.observer;
              if (observer && asked.answer) observer->configured(asked.verb);
              Carrier* const carrier = floor.carrier_of(asked.verb.queue);
              if (carrier && asked.answer && asked.verb.paused) carrier->pause(*asked.verb.paused);
              then(std::move(asked.answer));
            });
  roles_->news(queue);
}

Engine::Ticket Engine::lend(Loan loan, Lent then) {
  return roles_->lending.lend(std::move(loan), std::move(then));
}

void Engine::withdraw(Ticket ticket) {
  roles_->lending.withdraw(ticket);
}

std::size_t Engine::withdraw(const std::string& worker) {
  return roles_->lending.withdraw(worker);
}

void Engine::settle(ports::Held claim, core::Outcome outcome, std::optional<Ruled> ruled,
                    Decided then) {
  roles_->lending.settle(claim, std::move(outcome), ruled, std::move(then));
}

void Engine::extend(ports::Held claim, Duration lease, Extended then) {
  roles_->lending.extend(claim, lease, std::move(then));
}

void Engine::shut_down(std::move_only_function<void(ShutdownReport)> then) {
  Roles& roles = *roles_;
  roles.rescuer.stop();
  roles.patrol.stop();
  roles.janitor.stop();
  roles.expiry.stop();
  roles.lending.stop();
  roles.listen_no_more();
  roles.shutdown.start(std::move(then), [&roles] {
    roles.lease_keeper.stop();
    roles.timeouts.stop();
  });
}

void Engine::hurry() {
  roles_->shutdown.hurry();
}

Stats Engine::stats() const {
  const Floor& floor = roles_->floor;
  Stats stats = floor.stats;
  stats.claimed = floor.runs.size();
  stats.running = static_cast<std::size_t>(std::ranges::count_if(
      floor.runs, [](const auto& run) { return run->has_begun() && !run->on_loop.ended; }));
  return stats;
}

Breaker* Engine::breaker(const std::string& dependency) {
  return roles_->breakers.find(dependency);
}

std::vector<const Breaker*> Engine::breakers() const {
  return roles_->breakers.all();
}

}  // namespace holdfast::engine
