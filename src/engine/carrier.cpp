#include "engine/carrier.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/carried_message.hpp"

namespace holdfast::engine {
namespace {

// A broker that has not made sure of the queues by then is away: publishing finds that out itself.
constexpr Duration kOpenWithin = std::chrono::seconds(1);
constexpr Duration kFirstSweep = std::chrono::seconds(2);

// What a nameless message is known again by, before its content is compared.
std::string content_of(const ports::Message& message) {
  return std::to_string(message.body.size()) + ":" +
         std::to_string(std::hash<std::string>()(message.body));
}

}  // namespace

Carrier::Carrier(Floor& floor, Carriage carriage, Hooks hooks)
    : floor_(floor),
      carriage_(std::move(carriage)),
      hooks_(std::move(hooks)),
      ids_(floor.parts.random) {}

Carrier::~Carrier() {
  if (consumer_ && !closing_) carriage_.broker->close(*consumer_, [] {});
}

void Carrier::start() {
  if (consumer_ || stopped_) return;
  open();
  consumer_ = carriage_.broker->consume(
      {.queue = carriage_.name, .prefetch = std::max<std::size_t>(carriage_.prefetch, 1)}, *this);
  // A queue that stands still would only have its messages taken from others.
  floor_.ask(floor_.parts.reader, ports::Count{}, [this](const ports::Asked<ports::Count>& asked) {
    if (!asked.answer) return;
    for (const ports::QueueCounts& queue : *asked.answer) {
      if (queue.queue == carriage_.queue && queue.paused) pause(true);
    }
  });
  // Later: what a life before had at hand comes again by itself, with all that it was.
  behind_ = true;
  sweep_after(kFirstSweep);
  look_for_lost();
}

// The dead-letter queue first: the broker would drop what it dead-letters to one that is not there.
void Carrier::open() {
  const ports::Topology topology{
      .queues = {{.name = carriage_.dead_letter, .kind = carriage_.kind},
                 {.name = carriage_.name,
                  .kind = carriage_.kind,
                  .dead_letter = ports::Address{.routing_key = carriage_.dead_letter}}}};
  open_timer_ = floor_.parts.loop.after(kOpenWithin, [this] { opened(); });
  carriage_.broker->open(topology, floor_.guarded([this](const Result<ports::Opened>& answer) {
    opened();
    if (!answer) {
      floor_.parts.log.log(Level::warning, "carrier.not_open",
                           "the queue could not be made sure of: tried again with the connection",
                           {{"queue", carriage_.queue},
                            {"broker", carriage_.where},
                            {"error", answer.error().text()}});
      return;
    }
    for (const ports::Opened::One& one : answer->queues) {
      if (one.found == ports::QueueFound::ready || !warned_.insert(one.queue).second) continue;
      floor_.parts.log.log(
          Level::warning, "carrier.queue_otherwise",
          "the queue exists with other arguments and is used as it is: what is given up goes to "
          "the dead-letter queue by a confirmed publish",
          {{"queue", one.queue},
           {"broker", carriage_.where},
           {"dead_letter", carriage_.dead_letter},
           {"error", one.detail}});
    }
  }));
}

void Carrier::pause(bool paused) {
  if (!consumer_ || stopped_) return;
  if (paused) {
    carriage_.broker->pause(*consumer_);
    give_tickets_back();
  } else {
    carriage_.broker->resume(*consumer_);
  }
}

void Carrier::stop() {
  if (std::exchange(stopped_, true)) return;
  sweep_timer_.reset();
  adopt_timer_.reset();
  lost_timer_.reset();
  if (!consumer_) return;
  carriage_.broker->pause(*consumer_);
  // A message that does not name its task would become another one in the next life.
  for (const auto& [id, held] : held_) {
    if (task_of(held.message) != id) send_found(id, core::State::pending);
  }
}

void Carrier::give_tickets_back() {
  for (const TaskId& id : std::exchange(tickets_, {})) {
    const auto found = held_.find(id);
    if (found == held_.end()) continue;
    if (!is_message_of(id)) {
      tickets_.push_back(id);
      continue;
    }
    carriage_.broker->hand_back(*consumer_, found->second.tag);
    let_go(id);
  }
}

// Whether what was delivered names the task, so that it is known again.
bool Carrier::is_message_of(const TaskId& id) const {
  const auto found = held_.find(id);
  return found != held_.end() && task_of(found->second.message) == id;
}

bool Carrier::finish() {
  if (!consumer_ || closed_) {
    // Somebody may wait for what was never begun.
    for (const std::shared_ptr<Burst>& burst : std::vector(bursts_))
      burst->abandon();
    return true;
  }
  if (!close_timer_) {
    close_timer_ = floor_.parts.loop.after(kCloseWait, [this] {
      out_of_time_ = true;
      floor_.on_progress();
    });
  }
  const bool busy =
      !gathered_.empty() || !bursts_.empty() || !marks_.empty() || marking_ > 0 || finding_ > 0;
  if (closing_ || (busy && !out_of_time_)) return closing_ && out_of_time_;
  closing_ = true;
  for (const std::shared_ptr<Burst>& burst : std::vector(bursts_))
    burst->abandon();
  out_of_time_ = false;
  close_timer_ = floor_.parts.loop.after(kCloseWait, [this] {
    out_of_time_ = true;  // what was not given back is given back by the broker
    floor_.on_progress();
  });
  carriage_.broker->close(*consumer_, floor_.guarded([this] {
    closed_ = true;
    close_timer_.reset();
    floor_.on_progress();
  }));
  return false;
}

void Carrier::received(std::vector<ports::Delivery> deliveries) {
  if (stopped_) return;
  std::vector<Foreign> foreign;
  for (ports::Delivery& delivery : deliveries) {
    if (const auto id = task_of(delivery.message)) {
      if (const auto sent = sent_at(delivery.message); sent && !delivery.redelivered) {
        reached_ = std::max(reached_.value_or(*sent), *sent);
      }
      hold(*id, std::move(delivery));
    } else {
      foreign.push_back({.delivery = std::move(delivery), .id = std::nullopt});
    }
  }
  if (!foreign.empty()) adopt(std::move(foreign));
  if (!tickets_.empty()) hooks_.news();
}

void Carrier::hold(const TaskId& id, ports::Delivery delivery) {
  const auto found = held_.find(id);
  // A second message of one task: while a copy of the first is on its way, this may be that copy,
  // and the first goes when the copy is confirmed. Otherwise it is one too many.
  const auto sending = sending_.find(id);
  const bool is_copied = found != held_.end() && sending != sending_.end() &&
                         sending->second.moves == found->second.tag;
  if (found != held_.end() && !is_copied) {
    // Of two dead letters of one task the later one counts.
    const bool is_later = died_with(delivery.message) > died_with(found->second.message);
    carriage_.broker->acknowledge(*consumer_, is_later ? found->second.tag : delivery.tag);
    if (!is_later) return;
    std::erase(tickets_, id);
  }
  held_.insert_or_assign(id, Held{delivery.tag, std::move(delivery.message)});
  tickets_.push_back(id);
}

void Carrier::interrupted(const Error& why) {
  floor_.parts.log.log(Level::warning, "carrier.interrupted",
                       "the broker is away: what it had delivered will come again",
                       {{"queue", carriage_.queue},
                        {"broker", carriage_.where},
                        {"deliveries", held_.size()},
                        {"error", why.text()}});
  ++line_;
  nameless_.clear();  // those of the time before have come again, or never will
  for (const auto& [id, content] : nameless_held_)
    nameless_.emplace(content, id);
  nameless_held_.clear();
  held_.clear();
  tickets_.clear();
  claimed_elsewhere_.clear();
  to_adopt_.clear();
}

void Carrier::consuming() {
  floor_.parts.log.log(Level::info, "carrier.consuming", "the broker delivers",
                       {{"queue", carriage_.queue}, {"broker", carriage_.where}});
  if (behind_) sweep();
}

void Carrier::adopt(std::vector<Foreign> foreign) {
  ports::Submit submit;
  for (const Foreign& one : foreign) {
    ports::NewTask task = adopted(one.delivery, carriage_.queue, carriage_.foreign_type);
    task.id = one.id.value_or(TaskId());
    if (one.id) {
      task.key.clear();
      task.carried = true;
    }
    if (!one.id && task.key.empty() && one.delivery.redelivered) {
      // It may be one that was adopted before the connection was lost.
      const auto known = nameless_.find(content_of(one.delivery.message));
      if (known != nameless_.end()) {
        task.id = known->second;
        nameless_.erase(known);
      }
    }
    if (task.id == TaskId()) task.id = TaskId(ids_.next(floor_.wall_now()));
    task.delivered = true;
    floor_.complete(task);
    submit.tasks.push_back(std::move(task));
  }
  floor_.ask(floor_.parts.writer, std::move(submit),
             [this, line = line_,
              foreign = std::move(foreign)](ports::Asked<ports::Submit>& asked) mutable {
               if (stopped_) return;
               if (line != line_) return adopted_in_vain(foreign, asked);
               if (!asked.answer) return adopt_later(std::move(foreign), asked.answer.error());
               const bool all_well = std::ranges::all_of(
                   *asked.answer, [](const auto& one) { return one.has_value(); });
               if (all_well) backoff_.reset();
               for (std::size_t i = 0; i < foreign.size(); ++i)
                 adopted_one(std::move(foreign[i]), asked.verb.tasks[i], (*asked.answer)[i]);
               if (!tickets_.empty()) hooks_.news();
             });
}

// Until then the broker has them: they are not acknowledged.
void Carrier::adopt_later(std::vector<Foreign> foreign, const Error& error) {
  std::ranges::move(foreign, std::back_inserter(to_adopt_));
  if (adopt_timer_ || floor_.broken()) return;
  const Duration wait = backoff_.next(floor_.parts.random);
  floor_.parts.log.log(Level::warning, "carrier.adopt",
                       "messages could not be recorded: they stay with the broker, tried again",
                       {{"operation", "adopt"},
                        {"queue", carriage_.queue},
                        {"messages", to_adopt_.size()},
                        {"attempt", backoff_.failures()},
                        {"wait", wait},
                        {"error", error.text()}});
  adopt_timer_ = floor_.parts.loop.after(wait, [this] {
    adopt_timer_.reset();
    if (!to_adopt_.empty()) adopt(std::exchange(to_adopt_, {}));
  });
}

// The connection was lost meanwhile: they come again, and those without an id must be known then.
void Carrier::adopted_in_vain(const std::vector<Foreign>& foreign,
                              const ports::Asked<ports::Submit>& asked) {
  if (!asked.answer) return;
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    const auto& accepted = (*asked.answer)[i];
    if (!accepted) continue;
    if (!accepted->existed && floor_.options.observer) {
      floor_.options.observer->submitted(accepted->id, asked.verb.tasks[i]);
    }
    const ports::Message& message = foreign[i].delivery.message;
    if (asked.verb.tasks[i].key.empty() && !task_of(message)) {
      nameless_.emplace(content_of(message), accepted->id);
    }
  }
}

void Carrier::adopted_one(Foreign foreign, const ports::NewTask& task,
                          const Result<ports::Submit::Accepted>& accepted) {
  if (!accepted && accepted.error().code == ErrorCode::conflict) {
    // Another message had this id: this one gets one of its own.
    foreign.id = TaskId(ids_.next(floor_.wall_now()));
    std::vector<Foreign> again;
    again.push_back(std::move(foreign));
    return adopt(std::move(again));
  }
  if (!accepted) {
    std::vector<Foreign> later;
    later.push_back(std::move(foreign));
    return adopt_later(std::move(later), accepted.error());
  }
  if (!accepted->existed && floor_.options.observer) {
    floor_.options.observer->submitted(accepted->id, task);
  }
  if (task.key.empty() && !task_of(foreign.delivery.message)) {
    nameless_held_.insert_or_assign(accepted->id, content_of(foreign.delivery.message));
  }
  hold(accepted->id, std::move(foreign.delivery));
}

bool Carrier::fill(ports::Claim& claim) {
  const std::size_t count = std::min(claim.max, tickets_.size());
  const auto end = tickets_.begin() + static_cast<std::ptrdiff_t>(count);
  claim.only.emplace(tickets_.begin(), end);
  tickets_.erase(tickets_.begin(), end);
  return count > 0;
}

void Carrier::answered(const ports::Asked<ports::Claim>& asked) {
  if (!asked.verb.only) return;
  if (!asked.answer) {
    tickets_.insert(tickets_.begin(), asked.verb.only->begin(), asked.verb.only->end());
    return;
  }
  // From the last, so that those without room stand in their old order.
  for (auto left = asked.answer->left.rbegin(); left != asked.answer->left.rend(); ++left)
    judge(*left, asked.verb.now);
}

// Why a task that was delivered was not claimed, and so what becomes of its message.
void Carrier::judge(const ports::Claim::Left& left, WallTime now) {
  const auto found = held_.find(left.id);
  if (found == held_.end() || stopped_) return;
  if (!left.state) {
    // One of ours without a record: of another store, or of one that was lost. Never dropped.
    std::vector<Foreign> foreign;
    foreign.push_back({.delivery = {.tag = found->second.tag,
                                    .message = std::move(found->second.message),
                                    .from = {},
                                    .redelivered = true},
                       .id = left.id});
    held_.erase(found);
    return adopt(std::move(foreign));
  }
  switch (*left.state) {
    case core::State::pending:
    case core::State::retrying:
      if (left.due > now) return put_off(left.id, found->second, left);
      tickets_.push_front(left.id);
      return;
    case core::State::running:
      // Ours: it is settled here. Another's: looked at again.
      return look_again(left.id);
    case core::State::dead: return judge_dead(left, found->second);
    case core::State::succeeded:
    case core::State::failed:
    case core::State::canceled: return acknowledge(left.id);
  }
}

void Carrier::judge_dead(const ports::Claim::Left& left, const Held& held) {
  const auto died = died_with(held.message);
  if (died && *died == left.token) return bring_back(left.id);
  if (left.carried) return acknowledge(left.id);  // a message from before its death
  send_found(left.id, core::State::dead);
}

// Somebody has put its dead letter back into its queue, by hand or by `holdfast recover`: that is a
// replay. One that may not be replayed any more (N3) goes to the dead letters again.
void Carrier::bring_back(const TaskId& id) {
  hooks_.replay(id, floor_.guarded([this, id](const Result<core::Transition>& replayed) {
    if (replayed || stopped_) return;  // moved() has seen to it
    floor_.parts.log.log(
        Level::warning, "carrier.not_replayed",
        "its dead letter came back, and goes to the dead letters again",
        {{"task", id.text()}, {"queue", carriage_.queue}, {"error", replayed.error().text()}});
    send_found(id, core::State::dead);
  }));
}

void Carrier::acknowledge(const TaskId& id) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  carriage_.broker->acknowledge(*consumer_, found->second.tag);
  let_go(id);
}

void Carrier::let_go(const TaskId& id) {
  held_.erase(id);
  nameless_held_.erase(id);
}

// What is at hand and neither waits to be claimed nor is about to be sent is looked at once more:
// nobody may have said what became of it.
void Carrier::look_at_held() {
  const std::set<TaskId> waiting(tickets_.begin(), tickets_.end());
  for (const auto& [id, held] : held_) {
    if (!waiting.contains(id) && !sending_.contains(id)) tickets_.push_back(id);
  }
  if (!tickets_.empty()) hooks_.news();
}

}  // namespace holdfast::engine
