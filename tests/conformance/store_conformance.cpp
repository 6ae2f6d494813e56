#include "conformance/store_conformance.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "conformance/record_text.hpp"

namespace holdfast::conformance {
namespace {

ports::OpenStore open(const StoreKind::Place& place) {
  auto store = place();
  if (!store) throw std::runtime_error(store.error().text());
  return std::move(*store);
}

void spend(core::Spent& spent, core::Spends what) {
  switch (what) {
    case core::Spends::nothing: break;
    case core::Spends::attempt: ++spent.attempts; break;
    case core::Spends::crash: ++spent.crashes; break;
    case core::Spends::deferral: ++spent.deferrals; break;
    case core::Spends::replay: spent = {.replays = spent.replays + 1}; break;
  }
}

bool brings_failure(Event event) {
  return event == Event::error || event == Event::crash || event == Event::throttle ||
         event == Event::give_up || event == Event::ambiguous || event == Event::close;
}

}  // namespace

TaskId id_of(std::uint64_t number) {
  Uuid::Bytes bytes{0x01, 0x91, 0x2d, 0x68, 0x78, 0x3e, 0x7a, 0x03};
  for (std::size_t byte = 0; byte < 8; ++byte) {
    bytes[15 - byte] = static_cast<std::uint8_t>(number >> (8 * byte));
  }
  bytes[8] |= 0x80;
  return TaskId(Uuid(bytes));
}

Failure full_failure(std::string message) {
  Failure failure;
  failure.message = std::move(message);
  failure.kind = FailureKind::timeout;
  failure.http_status = 503;
  failure.exit_code = 75;
  failure.os_error = 104;
  failure.retry_after = 90s;
  return failure;
}

Transition transition_of(const core::Move& move, const core::Task& task, WallTime now) {
  Transition transition{.from = move.from,
                        .to = move.to,
                        .event = move.event,
                        .spent = task.spent,
                        .token = task.token,
                        .due = now,
                        .previous_wait = task.previous_wait,
                        .deadline = task.deadline,
                        .dead_reason = move.dead_reason,
                        .failure = std::nullopt};
  spend(transition.spent, move.spends);
  if (move.to == State::retrying) {
    transition.wait = 7s;
    transition.due = now + 7s;
    transition.previous_wait = task.previous_wait + 3s;
  }
  if (move.from != State::running) ++transition.token.value;
  if (move.event == Event::replay) transition.deadline = now + 1h;
  if (brings_failure(move.event)) transition.failure = full_failure();
  return transition;
}

std::vector<TaskId> ids_of(const std::vector<TaskRecord>& records) {
  std::vector<TaskId> ids;
  ids.reserve(records.size());
  for (const TaskRecord& record : records)
    ids.push_back(record.id);
  return ids;
}

StoreConformance::StoreConformance() : place_(GetParam().new_place()), store_(open(place_)) {}

void StoreConformance::TearDown() {
  if (!store_.writer) return;
  expect_sound();
  if (!is_durable()) return;
  reopen();
  expect_sound();
}

void StoreConformance::reopen() {
  if (!is_durable()) return;
  store_ = {};
  store_ = open(place_);
}

ports::NewTask StoreConformance::new_task() {
  ports::NewTask task;
  task.id = id_of(++submitted_);
  task.type = kType;
  task.queue = kQueue;
  task.payload = "to: " + std::to_string(submitted_);
  task.created = now_;
  task.due = now_;
  return task;
}

TaskId StoreConformance::submit(ports::NewTask task) {
  const auto answers = submit_all({std::move(task)});
  const auto& accepted = answers.at(0);
  if (!accepted) throw std::runtime_error(accepted.error().text());
  EXPECT_FALSE(accepted->existed);
  return accepted->id;
}

std::vector<TaskId> StoreConformance::submit_many(int count) {
  std::vector<ports::NewTask> tasks;
  tasks.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    tasks.push_back(new_task());
  std::vector<TaskId> ids;
  ids.reserve(static_cast<std::size_t>(count));
  for (const auto& answer : submit_all(std::move(tasks)))
    ids.push_back(answer.value().id);
  return ids;
}

ports::Claim::Answer StoreConformance::claim(std::size_t max, const std::string& queue) {
  return ask(
      ports::Claim{.queue = queue, .max = max, .owner = "worker 1", .lease = 30s, .now = now_});
}

std::vector<TaskId> StoreConformance::claim_ids(std::size_t max, const std::string& queue) {
  return ids_of(claim(max, queue).tasks);
}

TaskRecord StoreConformance::claim_one(const std::string& queue) {
  return claim(1, queue).tasks.at(0);
}

TaskRecord StoreConformance::find(const TaskId& id) {
  auto found = ask(ports::Find{id});
  if (!found) throw std::runtime_error("no task " + id.text());
  return std::move(*found);
}

Done StoreConformance::change(ports::Change::One one) {
  return ask(ports::Change{{std::move(one)}}).at(0);
}

Done StoreConformance::move(const TaskRecord& record, Event event, State to, Fingerprint group,
                            Failure failure) {
  const auto* row = std::ranges::find_if(core::kMoves, [&](const core::Move& move) {
    return move.from == record.task.state && move.event == event && move.to == to;
  });
  if (row == core::kMoves.end()) throw std::logic_error("there is no such move");
  Transition transition = transition_of(*row, record.task, now_);
  if (transition.failure) transition.failure = std::move(failure);
  return change({.id = record.id,
                 .token = record.task.token,
                 .transition = std::move(transition),
                 .result = to == State::succeeded ? "sent" : "",
                 .fingerprint = group});
}

TaskRecord StoreConformance::task_in(State state, Fingerprint group) {
  ports::NewTask task = new_task();
  task.queue = to_string(state);
  task.deadline = now_ + 24h;
  const TaskId id = submit(task);
  if (state == State::pending) return find(id);
  // One of this queue may be waiting already, and come first.
  TaskRecord running;
  do {
    running = claim_one(task.queue);
  } while (running.id != id);
  Done done = Done::applied;
  switch (state) {
    case State::pending:
    case State::running: break;
    case State::retrying: done = move(running, Event::error, state); break;
    case State::succeeded: done = move(running, Event::success, state); break;
    case State::failed: done = move(running, Event::give_up, state, group); break;
    case State::dead: done = move(running, Event::error, state, group); break;
    case State::canceled: done = move(running, Event::cancel, state); break;
  }
  EXPECT_EQ(done, Done::applied);
  return find(id);
}

std::vector<TaskRecord> StoreConformance::list(const ports::Filter& filter, std::size_t limit) {
  constexpr int kMostPages = 10'000;
  std::vector<TaskRecord> all;
  std::string cursor;
  for (int pages = 0; pages < kMostPages; ++pages) {
    auto page = ask(ports::List{.filter = filter, .cursor = cursor, .limit = limit});
    EXPECT_LE(page.tasks.size(), std::max<std::size_t>(limit, 1));
    std::ranges::move(page.tasks, std::back_inserter(all));
    if (page.next.empty()) return all;
    cursor = page.next;
  }
  throw std::runtime_error("the list has no end");
}

std::vector<TaskId> StoreConformance::list_ids(const ports::Filter& filter, std::size_t limit) {
  return ids_of(list(filter, limit));
}

ports::QueueCounts StoreConformance::counts(const std::string& queue) {
  for (auto& counts : ask(ports::Count())) {
    if (counts.queue == queue) return counts;
  }
  throw std::runtime_error("no queue " + queue);
}

void StoreConformance::expect_sound() {
  const auto report = ask(ports::Audit());
  EXPECT_TRUE(report.clean()) << (report.findings.empty() ? "" : report.findings.front().what);
  std::uint64_t known = 0;
  for (const auto count : report.present)
    known += count;
  for (const auto count : report.removed)
    known += count;
  EXPECT_EQ(report.accepted, known) << "N5";
  expect_right_counts();
  expect_right_groups();
}

void StoreConformance::expect_right_counts() {
  std::map<std::string, ports::QueueCounts> recounted;
  for (const TaskRecord& record : list()) {
    ports::QueueCounts& queue = recounted[record.queue];
    ++queue.by_state[static_cast<std::size_t>(record.task.state)];
    if (record.task.state != State::pending && record.task.state != State::retrying) continue;
    queue.oldest_due = std::min(queue.oldest_due.value_or(record.task.due), record.task.due);
  }
  for (const auto& told : ask(ports::Count())) {
    const ports::QueueCounts right = recounted[told.queue];
    EXPECT_EQ(told.by_state, right.by_state) << told.queue;
    EXPECT_EQ(told.oldest_due, right.oldest_due) << told.queue;
    recounted.erase(told.queue);
  }
  for (const auto& [queue, count] : recounted)
    ADD_FAILURE() << "not counted: " << queue;
}

void StoreConformance::expect_right_groups() {
  using Group = std::pair<State, Fingerprint>;
  std::map<Group, std::uint64_t> recounted;
  std::map<Group, std::map<std::pair<std::string, std::string>, std::uint64_t>> parts;
  for (const State state : {State::failed, State::dead}) {
    for (const TaskRecord& record : list({.state = state})) {
      ++recounted[{state, record.fingerprint}];
      ++parts[{state, record.fingerprint}][{record.queue, record.type}];
    }
  }
  std::map<Group, std::uint64_t> told;
  std::map<Group, std::map<std::pair<std::string, std::string>, std::uint64_t>> told_parts;
  for (const auto& group : ask(ports::Groups{.limit = 100'000}).groups) {
    told[{group.state, group.fingerprint}] = group.count;
    for (const auto& part : group.parts)
      told_parts[{group.state, group.fingerprint}][{part.queue, part.type}] = part.count;
  }
  EXPECT_EQ(told, recounted) << "N1";
  EXPECT_EQ(told_parts, parts) << "N1";
}

}  // namespace holdfast::conformance
