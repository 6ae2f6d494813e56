// The verbs of MemoryStore that change nothing, but for the audit.
#include <algorithm>
#include <charconv>
#include <tuple>

#include "ports/listing.hpp"
#include "stores/memory/memory_store.hpp"

namespace holdfast::stores {

using core::State;
using ports::TaskRecord;

namespace {

// Where a task stands in a list; the smallest comes first. What an order has no use for is zero.
struct TaskPlace {
  std::string queue;
  std::int64_t priority = 0;
  std::int64_t time = 0;
  std::int64_t number = 0;

  auto operator<=>(const TaskPlace&) const = default;
};

// As TaskPlace, these numbers put the latest first: ~a < ~b if a > b, for every a and b.
std::int64_t latest_first(WallTime time) {
  return ~time.time_since_epoch().count();
}

enum class Order : char { waiting = 'w', running = 'r', changed = 'c', submitted = 's' };

Order order_of(const ports::Filter& filter) {
  if (!filter.state) return Order::submitted;
  switch (*filter.state) {
    case State::pending:
    case State::retrying: return Order::waiting;
    case State::running: return Order::running;
    case State::succeeded:
    case State::failed:
    case State::dead:
    case State::canceled: return Order::changed;
  }
  return Order::submitted;
}

TaskPlace place_of(const MemoryStore::Kept& task, Order order) {
  const TaskRecord& record = task.record;
  switch (order) {
    case Order::waiting:
      return {record.queue, -std::int64_t{record.priority},
              record.task.due.time_since_epoch().count(), task.number};
    case Order::running: return {"", 0, 0, task.number};
    case Order::changed: return {"", 0, latest_first(record.changed), ~task.number};
    case Order::submitted: return {"", 0, 0, ~task.number};
  }
  return {};
}

// "w -5 1700000000 17 queue." The full stop tells a whole cursor from one that was cut.
std::string cursor_text(Order order, const TaskPlace& place) {
  return std::string(1, static_cast<char>(order)) + " " + std::to_string(place.priority) + " " +
         std::to_string(place.time) + " " + std::to_string(place.number) + " " + place.queue + ".";
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

Result<TaskPlace> parse_cursor(std::string_view cursor, Order order) {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "list",
                "no page of this list gave the cursor \"" + std::string(cursor) + "\"");
  };
  std::string_view rest = cursor;
  if (rest.size() < 2 || rest[0] != static_cast<char>(order) || rest[1] != ' ') return refuse();
  rest.remove_prefix(2);
  const auto priority = take_number(rest);
  const auto time = take_number(rest);
  const auto number = take_number(rest);
  if (!priority || !time || !number || !rest.ends_with('.')) return refuse();
  rest.remove_suffix(1);
  return TaskPlace{std::string(rest), *priority, *time, *number};
}

}  // namespace

Result<ports::Find::Answer> MemoryStore::run(const ports::Find& verb) {
  const auto found = tasks_.find(verb.id);
  if (found == tasks_.end()) return ports::Find::Answer();
  return found->second.record;
}

Result<ports::List::Answer> MemoryStore::run(const ports::List& verb) {
  const Order order = order_of(verb.filter);
  std::map<TaskPlace, const TaskRecord*> matching;
  for (const auto& [id, task] : tasks_) {
    if (ports::matches(task.record, verb.filter))
      matching.emplace(place_of(task, order), &task.record);
  }
  auto next = matching.cbegin();
  if (!verb.cursor.empty()) {
    const auto after = parse_cursor(verb.cursor, order);
    if (!after) return std::unexpected(after.error());
    next = matching.upper_bound(*after);
  }

  ports::List::Answer page;
  const std::size_t limit = std::max<std::size_t>(verb.limit, 1);
  for (; next != matching.cend(); ++next) {
    if (page.tasks.size() == limit) {
      page.next = cursor_text(order, std::prev(next)->first);
      break;
    }
    page.tasks.push_back(ports::for_list(*next->second, verb.payloads));
  }
  return page;
}

Result<ports::Count::Answer> MemoryStore::run(const ports::Count&) {
  std::map<std::string, ports::QueueCounts> queues;
  for (const auto& [queue, settings] : settings_) {
    queues[queue].paused = settings.paused;
    queues[queue].concurrency = settings.concurrency;
    queues[queue].backlog = settings.backlog;
  }
  for (const auto& [id, task] : tasks_) {
    const TaskRecord& record = task.record;
    ++queues[record.queue].by_state[static_cast<std::size_t>(record.task.state)];
  }

  ports::Count::Answer counts;
  for (auto& [queue, count] : queues) {
    count.queue = queue;
    count.oldest_due = next_due(queue);
    counts.push_back(std::move(count));
  }
  return counts;
}

Result<ports::Uncarried::Answer> MemoryStore::run(const ports::Uncarried& verb) {
  ports::Uncarried::Answer answer;
  const auto after = verb.cursor.empty() ? Result<TaskId>(TaskId()) : TaskId::parse(verb.cursor);
  if (!after) {
    return fail(ErrorCode::invalid_argument, "uncarried", "no page gave this cursor");
  }
  for (auto at = tasks_.upper_bound(*after); at != tasks_.end(); ++at) {
    const auto& [id, task] = *at;
    const ports::TaskRecord& record = task.record;
    const bool waits = record.task.state == State::pending || record.task.state == State::retrying;
    const bool died = record.task.state == State::dead && task.carried;
    if (record.queue != verb.queue || !(waits || died)) continue;
    const bool late = waits && verb.due_before && record.task.due < *verb.due_before;
    if (task.carried == record.task.token && !late) continue;
    if (answer.tasks.size() == std::max<std::size_t>(verb.limit, 1)) {
      answer.next = answer.tasks.back().id.text();
      break;
    }
    ports::TaskRecord& told = answer.tasks.emplace_back(record);
    told.key.clear();
    told.attempts.clear();
  }
  return answer;
}

}  // namespace holdfast::stores
