// What a carrier sends: new tasks, tasks that are put off, dead letters, and what is left over.
#include <algorithm>
#include <utility>

#include "engine/carried_message.hpp"
#include "engine/carrier.hpp"
#include "engine/task_log.hpp"

namespace holdfast::engine {
namespace {

// So many messages are under way at once at most, of tasks for which nobody waits: the rest is
// recorded, and follows.
constexpr std::size_t kMostUnderWay = 4096;
constexpr Duration kCatchUp = std::chrono::milliseconds(200);
constexpr Duration kLookForLost = std::chrono::minutes(1);
// What was due so long before a message that has come has been lost on the way.
constexpr Duration kOvertaken = std::chrono::minutes(10);
constexpr Duration kSendLostAgain = std::chrono::hours(1);
// RabbitMQ waits no longer than 20 days; what is delivered too early is put off again.
constexpr Duration kLongestDelay = std::chrono::days(10);

// How a task stands that the store has told of, as the transition that led there.
core::Transition standing(const ports::TaskRecord& task) {
  core::Transition transition{};
  transition.from = transition.to = task.task.state;
  transition.spent = task.task.spent;
  transition.token = task.task.token;
  transition.dead_reason = task.task.dead_reason;
  transition.due = task.task.state == core::State::dead ? task.changed : task.task.due;
  return transition;
}

}  // namespace

Burst::Item Carrier::item_for(const ports::TaskRecord& task,
                              const core::Transition& transition) const {
  const auto held = held_.find(task.id);
  const ports::Message* original = held == held_.end() ? nullptr : &held->second.message;
  Burst::Item item{.task = {task.id, transition.token}, .outgoing = {}};
  if (held != held_.end()) item.moves = held->second.tag;
  if (transition.to == core::State::dead) {
    item.outgoing.to.routing_key = carriage_.dead_letter;
    item.outgoing.message = dead_message_for(task, transition, original);
    return item;
  }
  item.outgoing.to.routing_key = carriage_.name;
  item.outgoing.message = message_for(task, original);
  ports::set_field(item.outgoing.message.headers, kAttemptHeader,
                   std::int64_t{transition.spent.attempts});
  item.outgoing.delay =
      std::clamp(transition.due - floor_.wall_now(), Duration::zero(), kLongestDelay);
  item.outgoing.delay_kind = carriage_.kind;
  set_sent_at(item.outgoing.message, floor_.wall_now() + item.outgoing.delay);
  return item;
}

bool Carrier::join(const TaskId& id, Joined& then) {
  const auto found = sending_.find(id);
  if (found == sending_.end() || !found->second.answers) return false;
  joined_.emplace(id, std::move(then));
  return true;
}

void Carrier::tell(const TaskId& id, const std::optional<Unpublished>& outcome) {
  for (auto found = joined_.find(id); found != joined_.end(); found = joined_.find(id)) {
    Joined then = std::move(found->second);
    joined_.erase(found);
    then(outcome);
  }
}

void Carrier::publish(const std::vector<ports::TaskRecord>& tasks, Published then) {
  const bool waits = carriage_.confirmed;
  std::vector<Burst::Item> items;
  if (waits || sending_.size() < kMostUnderWay) {
    for (const ports::TaskRecord& task : tasks) {
      items.push_back(item_for(task, standing(task)));
      items.back().moves.reset();
      sending_.insert_or_assign(task.id, Sending{task.task.token, std::nullopt, waits});
    }
  } else {
    behind_ = true;
    sweep_after(kCatchUp);
  }
  if (!waits) {
    if (!items.empty()) burst(std::move(items), [this](const auto& all) { failed(all); });
    return then(std::vector<std::optional<Unpublished>>(tasks.size()));
  }
  burst(std::move(items), [this, then = std::make_shared<Published>(std::move(then))](auto all) {
    answer(std::move(all), std::move(*then));
  });
}

// What cannot have been sent is taken back: the answer says that it is not there, and it is not.
// What may have been is kept, and the answer says that.
void Carrier::answer(std::vector<Burst::Item> items, Published then) {
  ports::Withdraw withdraw;
  for (const Burst::Item& item : items) {
    if (item.confirmed || item.in_doubt) continue;
    withdraw.tasks.push_back(item.task.id);
    // Until it is answered: no sweep may publish it, and who asks for it again waits.
    sending_.insert_or_assign(item.task.id, Sending{item.task.token, std::nullopt, true});
  }
  auto inform = [this, items = std::move(items),
                 then = std::move(then)](const std::vector<bool>& withdrawn) mutable {
    std::vector<std::optional<Unpublished>> answers(items.size());
    std::size_t asked = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].confirmed) continue;
      const bool gone = !items[i].in_doubt && withdrawn[asked++];
      answers[i] = Unpublished{.error = items[i].error, .is_recorded = !gone};
      if (!gone) behind_ = true;
      if (!items[i].in_doubt) sending_.erase(items[i].task.id);
    }
    if (behind_) sweep_after(carriage_.sweep_every);
    for (std::size_t i = 0; i < items.size(); ++i)
      tell(items[i].task.id, answers[i]);
    then(std::move(answers));
  };
  if (withdraw.tasks.empty()) return inform({});
  const std::size_t count = withdraw.tasks.size();
  floor_.ask(floor_.parts.writer, std::move(withdraw),
             [count, inform = std::move(inform)](ports::Asked<ports::Withdraw>& asked) mutable {
               inform(asked.answer ? *asked.answer : std::vector<bool>(count, false));
             });
}

void Carrier::moved(const Moved& moved) {
  const core::Transition& transition = moved.transition;
  const TaskId& id = moved.task.id;
  std::erase(claimed_elsewhere_, id);
  if (core::is_terminal(transition.to)) {
    // A message like the one that brought it is another one from now on.
    std::erase_if(nameless_, [&](const auto& one) { return one.second == id; });
    sent_again_.erase(id);
  }
  switch (transition.to) {
    case core::State::running: return;
    case core::State::succeeded:
    case core::State::failed:
    case core::State::canceled: return acknowledge(id);
    case core::State::dead: return send(moved.task, transition);
    case core::State::pending:
    case core::State::retrying: break;
  }
  const auto held = held_.find(id);
  const bool is_held = held != held_.end();
  if (is_message_of(id) && stopped_ && transition.to == core::State::pending) {
    // A shutdown: the message that brought it goes back, and is the one for it.
    carriage_.broker->hand_back(*consumer_, held->second.tag);
    mark({id, transition.token});
    return let_go(id);
  }
  const auto sending = sending_.find(id);
  const bool is_moving =
      is_held && sending != sending_.end() && sending->second.moves == held->second.tag;
  if (is_held && !is_moving && transition.from == core::State::dead &&
      died_with(held->second.message) == moved.task.task.token) {
    // Its dead letter came back: that is the message for it.
    mark({id, transition.token});
    tickets_.push_back(id);
    return hooks_.news();
  }
  if (moved.rescued && !is_held) {
    // Its owner is gone, and the message that the owner had comes again by itself, with all that
    // it was. If it does not, the sweep sends another.
    behind_ = true;
    return sweep_after(carriage_.sweep_every);
  }
  send(moved.task, transition);
}

void Carrier::send(const ports::TaskRecord& task, const core::Transition& transition) {
  // Rescues and the like do not have the payload.
  if (task.payload.empty() && !held_.contains(task.id)) return send_found(task.id, transition.to);
  if (transition.to == core::State::dead) {
    log_task(floor_.parts.log,
             {Level::warning, "task.dead_letter", "goes to the dead-letter queue"}, task,
             {{"dead_letter", carriage_.dead_letter},
              {"attempts", transition.spent.attempts + transition.spent.crashes}});
  }
  add(item_for(task, transition));
}

// If it still stands there.
void Carrier::send_found(const TaskId& id, core::State to) {
  ++finding_;
  floor_.ask(floor_.parts.reader, ports::Find{id}, [this, to](ports::Asked<ports::Find>& asked) {
    --finding_;
    // Behind what follows: a shutdown that waits for this looks again then.
    if (stopped_) floor_.parts.loop.post(floor_.guarded([this] { floor_.on_progress(); }));
    if (!asked.answer) {
      behind_ = true;
      return sweep_after(carriage_.sweep_every);
    }
    // It has moved on, and whoever moved it has said so.
    if (!*asked.answer || (*asked.answer)->task.state != to) return;
    add(item_for(**asked.answer, standing(**asked.answer)));
  });
}

// Delivered before its time: a clock that differs, or a wait that was too long for one queue.
void Carrier::put_off(const TaskId& id, const Held& held, const ports::Claim::Left& left) {
  Burst::Item item{.task = {id, left.token}, .outgoing = {}};
  item.outgoing.to.routing_key = carriage_.name;
  item.outgoing.message = copy_of(held.message);
  item.outgoing.message.delivery_mode = 2;
  ports::set_field(item.outgoing.message.headers, kTaskHeader, id.text());
  item.outgoing.delay = std::clamp(left.due - floor_.wall_now(), Duration::zero(), kLongestDelay);
  item.outgoing.delay_kind = carriage_.kind;
  set_sent_at(item.outgoing.message, floor_.wall_now() + item.outgoing.delay);
  item.moves = held.tag;
  add(std::move(item));
}

void Carrier::add(Burst::Item item) {
  const auto under_way = sending_.find(item.task.id);
  if (under_way != sending_.end() && under_way->second.token == item.task.token) {
    // The same is on its way already; what would be moved stays until it is looked at again.
    if (item.moves) look_again(item.task.id);
    return;
  }
  sending_.insert_or_assign(item.task.id, Sending{item.task.token, item.moves});
  gathered_.push_back(std::move(item));
  if (std::exchange(flush_posted_, true)) return;
  floor_.parts.loop.post(floor_.guarded([this] { flush(); }));
}

void Carrier::flush() {
  flush_posted_ = false;
  if (!gathered_.empty()) {
    burst(std::exchange(gathered_, {}), [this](const auto& all) { failed(all); });
  }
  mark_all();
}

void Carrier::burst(std::vector<Burst::Item> items, Ended ended) {
  Burst::Hooks hooks{
      .confirmed = [this](const Burst::Item& item) { confirmed(item); },
      .retried =
          [this](std::size_t messages) {
            Observer* const observer = floor_.options.observer;
            if (observer) observer->publish_retried(carriage_.queue, messages);
          },
      .ended =
          [this, ended = std::move(ended)](const Burst& burst, std::vector<Burst::Item> all) {
            for (const Burst::Item& item : all) {
              const auto found = sending_.find(item.task.id);
              if (found != sending_.end() && found->second.token == item.task.token)
                sending_.erase(found);
            }
            // Not before this call is over: it is the burst's own.
            const auto at = std::ranges::find(bursts_, &burst, &std::shared_ptr<Burst>::get);
            floor_.parts.loop.post([kept = std::move(*at)] {});
            bursts_.erase(at);
            ended(std::move(all));
            floor_.on_progress();
          }};
  bursts_.push_back(std::make_shared<Burst>(floor_, *carriage_.broker, carriage_.publish,
                                            std::move(items), std::move(hooks)));
  if (is_open_) bursts_.back()->start();
}

// What was to be published before there is a queue would only come back.
void Carrier::opened() {
  open_timer_.reset();
  if (std::exchange(is_open_, true)) return;
  const auto waiting = bursts_;
  for (const std::shared_ptr<Burst>& burst : waiting)
    burst->start();
}

void Carrier::confirmed(const Burst::Item& item) {
  mark(item.task);
  tell(item.task.id, std::nullopt);
  if (!item.moves || !consumer_) return;
  carriage_.broker->acknowledge(*consumer_, *item.moves);
  const auto held = held_.find(item.task.id);
  if (held != held_.end() && held->second.tag == *item.moves) let_go(item.task.id);
}

// What could not be published is in the store, and left to the sweep; what brought it is still with
// the broker.
void Carrier::failed(const std::vector<Burst::Item>& items) {
  const auto is_left = [](const Burst::Item& item) { return !item.confirmed; };
  const auto first = std::ranges::find_if(items, is_left);
  if (first == items.end()) return;
  floor_.parts.log.log(Level::error, "carrier.unpublished",
                       "recorded, but not published: tried again later",
                       {{"queue", carriage_.queue},
                        {"task", first->task.id.text()},
                        {"broker", carriage_.where},
                        {"tasks", std::ranges::count_if(items, is_left)},
                        {"wait", carriage_.sweep_every},
                        {"error", first->error.text()}});
  for (const Burst::Item& item : items) {
    if (item.confirmed || !item.moves || !consumer_) continue;
    const auto held = held_.find(item.task.id);
    if (held != held_.end() && held->second.tag == *item.moves) {
      look_again(item.task.id);
      continue;
    }
    carriage_.broker->hand_back(*consumer_, *item.moves);  // another was delivered in its place
  }
  behind_ = true;
  sweep_after(carriage_.sweep_every);
}

void Carrier::mark(ports::Held task) {
  marks_.push_back(task);
  if (std::exchange(flush_posted_, true)) return;
  floor_.parts.loop.post(floor_.guarded([this] { flush(); }));
}

// If the store cannot take it, the sweep of the next life publishes once more.
void Carrier::mark_all() {
  if (marks_.empty()) return;
  ++marking_;
  floor_.ask(floor_.parts.writer, ports::Carried{std::exchange(marks_, {})},
             [this](const ports::Asked<ports::Carried>&) {
               --marking_;
               if (stopped_) floor_.on_progress();
             });
}

// When nobody here will say what became of it.
void Carrier::look_again(const TaskId& id) {
  claimed_elsewhere_.push_back(id);
  sweep_after(carriage_.sweep_every);
}

void Carrier::sweep_after(Duration wait) {
  if (sweep_timer_ || stopped_) return;
  sweep_timer_ = floor_.parts.loop.after(wait, [this] {
    sweep_timer_.reset();
    sweep();
  });
}

void Carrier::sweep() {
  for (const TaskId& id : std::exchange(claimed_elsewhere_, {})) {
    if (held_.contains(id)) tickets_.push_back(id);
  }
  if (!tickets_.empty()) hooks_.news();
  if (sweeping_ || stopped_) return;  // at its end it looks whether there is more
  sweeping_ = true;
  behind_ = false;
  sweep_page("", std::nullopt);
}

void Carrier::sweep_page(const std::string& cursor, std::optional<WallTime> due_before) {
  floor_.ask(
      floor_.parts.reader,
      ports::Uncarried{
          .queue = carriage_.queue, .cursor = cursor, .limit = 500, .due_before = due_before},
      [this, due_before](ports::Asked<ports::Uncarried>& asked) {
        if (asked.answer && !stopped_) return swept(*asked.answer, due_before);
        sweeping_ = false;
        behind_ = true;
        sweep_after(carriage_.sweep_every);
      });
}

void Carrier::swept(const ports::Uncarried::Answer& page, std::optional<WallTime> due_before) {
  std::vector<Burst::Item> items;
  for (const ports::TaskRecord& task : page.tasks) {
    if (sending_.contains(task.id)) continue;
    const bool waits = task.task.state != core::State::dead;
    if (waits && is_message_of(task.id)) {
      mark({task.id, task.task.token});  // it has come again meanwhile
      continue;
    }
    if (due_before && waits) {
      const auto [before, is_new] = sent_again_.try_emplace(task.id, floor_.wall_now());
      if (!is_new && floor_.wall_now() - before->second < kSendLostAgain) continue;
      before->second = floor_.wall_now();
    }
    items.push_back(item_for(task, standing(task)));
    sending_.insert_or_assign(task.id, Sending{task.task.token, items.back().moves});
  }
  const auto go_on = [this, next = page.next, due_before](const std::vector<Burst::Item>& all) {
    failed(all);
    // One that the broker refuses must not keep the others; one that is away keeps them all.
    const bool is_away = std::ranges::any_of(all, [](const Burst::Item& item) {
      return !item.confirmed &&
             (item.error.code == ErrorCode::unavailable || item.error.code == ErrorCode::timeout);
    });
    if (!next.empty() && !is_away && !stopped_) return sweep_page(next, due_before);
    sweeping_ = false;
    if (behind_) sweep_after(carriage_.sweep_every);
  };
  if (items.empty()) return go_on(items);
  floor_.parts.log.log(Level::info, "carrier.sweep", "publishes what was recorded and is not there",
                       {{"queue", carriage_.queue}, {"tasks", items.size()}});
  burst(std::move(items), go_on);
}

// A broker may lose a message: somebody empties its queue, it is killed while it puts one back that
// has waited, a limit of the queue takes one away. Then what waits here would wait for ever. So now
// and then what should have come long ago is published once more: when the broker has nothing for
// us, two times in a row, or has delivered what was sent much later.
void Carrier::look_for_lost() {
  lost_timer_ = floor_.parts.loop.after(kLookForLost, [this] {
    look_for_lost();
    look_at_held();
    std::erase_if(sent_again_, [&](const auto& one) {
      return floor_.wall_now() - one.second > 2 * kSendLostAgain;
    });
    if (sweeping_ || stopped_ || behind_) return;
    carriage_.broker->depth(
        carriage_.name, floor_.guarded([this](const Result<ports::Depth>& depth) {
          const bool is_idle = held_.empty() && bursts_.empty();
          const bool is_known =
              depth && (depth->is_sure || carriage_.kind == ports::QueueWish::Kind::classic);
          const bool empty = is_idle && is_known && depth->ready == 0 && depth->consumers <= 1;
          const bool was_empty = std::exchange(was_empty_, empty);
          if (sweeping_ || stopped_) return;
          std::optional<WallTime> due_before;
          if (reached_) due_before = *reached_ - kOvertaken;
          if (empty && was_empty) due_before = floor_.wall_now() - kLookForLost;
          if (!due_before) return;
          sweeping_ = true;
          sweep_page("", due_before);
        }));
  });
}

}  // namespace holdfast::engine
