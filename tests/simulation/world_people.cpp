// Those who submit, and those who decide.
#include <fmt/format.h>

#include "simulation/world.hpp"

namespace holdfast::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kAnswerWithin = seconds(10);

bool is_parked(const core::Task& task) {
  return task.state == core::State::dead || task.state == core::State::failed;
}

}  // namespace

void World::plan_orders() {
  const auto count = static_cast<std::size_t>(plan_.tasks);
  for (std::size_t i = 0; i < count; ++i)
    orders_.push_back(draw_order());
  // A few at once, as a producer would.
  for (std::size_t i = 0; i < count;) {
    std::vector<std::size_t> some;
    for (const auto end = std::min(count, i + 1 + random_.below(4)); i < end; ++i)
      some.push_back(i);
    schedule_.after(random_.between(milliseconds(1), plan_.trouble_lasts * 3 / 4),
                    [this, some = std::move(some)] { submit(some); });
  }
}

World::Order World::draw_order() {
  Order order;
  ports::NewTask& task = order.task;
  const auto types = task_types();
  // Few of those that nobody handles.
  const std::size_t type =
      random_.chance(0.05) ? types.size() - 1 : random_.below(types.size() - 1);
  task.type = types[type].name;
  task.queue = kQueues[random_.below(std::size(kQueues))];
  task.payload = fmt::format("payload {}", orders_.size());
  task.priority = random_.between(-2, 2);
  if (random_.chance(0.3)) task.key = fmt::format("key {}", orders_.size());
  if (random_.chance(0.1)) task.limits.attempts = random_.between(1, 3);
  if (random_.chance(0.1)) task.limits.timeout = random_.between(seconds(1), seconds(5));
  task.retry_on_failure = random_.chance(0.3);
  if (orders_.empty() || !random_.chance(0.15)) return order;

  const ports::NewTask& earlier = orders_[random_.below(orders_.size())].task;
  if (earlier.key.empty()) return order;
  const bool same = random_.chance(0.5);
  stats_.count(same ? Happening::submit_duplicate : Happening::submit_conflict);
  const std::string payload = same ? earlier.payload : task.payload;
  task = earlier;
  task.payload = payload;
  return order;
}

void World::submit(std::vector<std::size_t> orders) {
  // What was accepted, has ended and was purged would be accepted anew, and its tokens would begin
  // from the beginning: results are to be kept for longer than anybody asks again.
  for (const std::size_t i : orders)
    orders_[i].done = orders_[i].done || model_.was_purged(orders_[i].task.id);
  std::erase_if(orders, [&](std::size_t i) { return orders_[i].done; });
  if (orders.empty()) return;
  Machine* up = any_up();
  if (up != nullptr) {
    std::vector<ports::NewTask> tasks;
    for (const std::size_t i : orders) {
      Order& order = orders_[i];
      if (order.asked) {
        stats_.count(Happening::submit_retried);
      } else {
        // Only now is it known when "now" is. What is asked again is asked in the same words.
        const WallTime now = clock_.wall_now();
        order.task.id = TaskId(ids_.next(now));
        order.task.created = now;
        order.task.due = now;
        if (random_.chance(0.2)) order.task.due += random_.between(milliseconds(1), seconds(40));
        if (random_.chance(0.3)) {
          // Many of them near enough for a single wait to pass them.
          const Duration longest = random_.chance(0.5) ? seconds(6) : seconds(40);
          order.task.deadline = order.task.due + random_.between(milliseconds(100), longest);
        }
        order.asked = true;
      }
      tasks.push_back(order.task);
    }
    up->process->engine()->submit(std::move(tasks),
                                  [this, orders](const auto& answer) { answered(orders, answer); });
  }
  // Whoever hears nothing, or nothing good, asks again.
  schedule_.after(kAnswerWithin, [this, orders] { submit(orders); });
}

void World::answered(const std::vector<std::size_t>& orders,
                     const Result<ports::Submit::Answer>& answer) {
  if (!answer) return;
  if (answer->size() != orders.size()) {
    breach_.found("a submit has not one answer for each task");
    return;
  }
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const auto& one = (*answer)[i];
    Order& order = orders_[orders[i]];
    if (one) {
      if (model_.number_of(one->id) == 0) {
        breach_.found("a submit was answered with success, and the store never got it");
      }
      order.done = true;
    } else if (one.error().code == ErrorCode::conflict) {
      order.done = true;
    }
  }
}

void World::person_acts() {
  Machine* up = any_up();
  if (up == nullptr) return;
  engine::Engine& engine = *up->process->engine();
  if (random_.chance(0.2)) {
    change_queue(engine);
    return;
  }
  decide(engine, choose_task());
}

TaskId World::choose_task() {
  std::vector<TaskId> parked;
  for (const auto& [id, known] : model_.tasks()) {
    if (is_parked(known.task)) parked.push_back(id);
  }
  // Mostly people look at what needs them.
  if (!parked.empty() && random_.chance(0.6)) return parked[random_.below(parked.size())];
  if (model_.tasks().empty() || random_.chance(0.02)) {
    return TaskId(ids_.next(clock_.wall_now()));  // which nobody has
  }
  auto any = model_.tasks().begin();
  std::advance(any, random_.below(model_.tasks().size()));
  return any->first;
}

void World::decide(engine::Engine& engine, const TaskId& id) {
  const auto known = model_.tasks().find(id);
  const bool parked =
      known != model_.tasks().end() && (known->second.task.state == core::State::dead ||
                                        known->second.task.state == core::State::failed);
  const auto then = [this, id](const Result<core::Transition>& answer) {
    line("a person's wish for task {} is answered: {}",
         {model_.number_of(id), answer ? -1 : static_cast<int>(answer.error().code)});
  };
  if (!parked || random_.chance(0.1)) {
    stats_.count(Happening::cancel);
    ledger_.person_asks(core::Event::cancel, id);
    line("a person cancels task {}", {model_.number_of(id)});
    engine.cancel(id, then);
  } else if (random_.chance(0.8)) {
    core::ReplayOptions options{.reset = random_.chance(0.5), .insist = random_.chance(0.85)};
    if (random_.chance(0.7)) {
      options.deadline = clock_.wall_now() + random_.between(milliseconds(100), seconds(15));
    }
    stats_.count(Happening::replay);
    ledger_.person_asks(core::Event::replay, id);
    line("a person replays task {}", {model_.number_of(id)});
    engine.replay(id, options, then);
  } else {
    stats_.count(Happening::discard);
    ledger_.person_asks(core::Event::discard, id);
    line("a person discards task {}", {model_.number_of(id)});
    engine.discard(id, then);
  }
}

void World::change_queue(engine::Engine& engine) {
  ports::Configure configure{.queue = kQueues[random_.below(std::size(kQueues))]};
  if (random_.chance(0.5)) {
    stats_.count(Happening::pause);
    configure.paused = random_.chance(0.5);
  } else if (random_.chance(0.7)) {
    stats_.count(Happening::concurrency);
    configure.concurrency = random_.between(0, 3);
  } else {
    stats_.count(Happening::backlog);
    configure.backlog = random_.between(0, 5);
  }
  engine.configure(std::move(configure), [](const auto&) {});
}

}  // namespace holdfast::simulation
