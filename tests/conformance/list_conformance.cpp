// Lists: filters, orders, and pages that miss nothing.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_P(StoreConformance, list_of_an_empty_store_is_one_empty_page) {
  const auto page = ask(ports::List());
  EXPECT_THAT(page.tasks, IsEmpty());
  EXPECT_EQ(page.next, "");
  for (const State state : kAllStates)
    EXPECT_THAT(list({.state = state}), IsEmpty());
}

TEST_P(StoreConformance, list_tells_all_but_payload_key_result_and_history) {
  for (const State state : kAllStates) {
    TaskRecord expected = task_in(state, Fingerprint(3));
    expected.payload.clear();
    expected.key.clear();
    expected.result.reset();
    expected.attempts.clear();
    const auto listed = list({.state = state});
    ASSERT_THAT(listed, SizeIs(1));
    EXPECT_EQ(text_of(listed[0]), text_of(expected));
  }
  EXPECT_THAT(list(), SizeIs(7));
}

TEST_P(StoreConformance, list_filters_by_each_and_by_all_together) {
  std::vector<ports::NewTask> tasks;
  for (int i = 0; i < 16; ++i) {
    ports::NewTask task = new_task();
    task.queue = i & 1 ? "q1" : "q0";
    task.type = i & 2 ? "t1" : "t0";
    task.created = kStart + (i & 4 ? 10s : 0s);
    if (i & 8) task.queue += "x";
    tasks.push_back(task);
  }
  submit_all(tasks);
  const auto expect_list = [&](const ports::Filter& filter, auto matches) {
    std::vector<TaskId> expected;
    for (const auto& task : tasks) {
      if (matches(task)) expected.push_back(task.id);
    }
    EXPECT_THAT(list_ids(filter, 3), ::testing::UnorderedElementsAreArray(expected));
  };
  using Task = const ports::NewTask&;
  for (const std::optional<State> state : {std::optional<State>(), std::optional(State::pending)}) {
    expect_list({.state = state}, [](Task) { return true; });
    expect_list({.state = state, .queue = "q1"}, [](Task task) { return task.queue == "q1"; });
    expect_list({.state = state, .type = "t0"}, [](Task task) { return task.type == "t0"; });
    expect_list({.state = state, .created_from = kStart + 10s},
                [](Task task) { return task.created == kStart + 10s; });
    expect_list({.state = state, .created_from = kStart + 10s + 1us}, [](Task) { return false; });
    expect_list({.state = state, .created_until = kStart + 10s},
                [](Task task) { return task.created == kStart; });
    expect_list({.state = state, .queue = "q0", .type = "t1", .created_from = kStart + 5s},
                [](Task task) {
                  return task.queue == "q0" && task.type == "t1" && task.created != kStart;
                });
    expect_list({.state = state, .queue = "q0", .created_until = kStart},
                [](Task) { return false; });
  }
  EXPECT_THAT(list({.state = State::dead, .queue = "q0"}), IsEmpty());
  EXPECT_THAT(list({.queue = "q"}), IsEmpty()) << "names are whole";
}

// N1
TEST_P(StoreConformance, list_filters_by_group) {
  const Fingerprint huge(0xffff'0000'0000'0001U);
  const TaskRecord dead = task_in(State::dead, huge);
  const TaskRecord failed = task_in(State::failed, huge);
  const TaskRecord other = task_in(State::dead, Fingerprint(1));
  const TaskRecord nameless = task_in(State::dead, Fingerprint());
  (void)task_in(State::succeeded);
  EXPECT_THAT(list_ids({.group = huge}), UnorderedElementsAre(dead.id, failed.id));
  EXPECT_THAT(list_ids({.state = State::dead, .group = huge}), ElementsAre(dead.id));
  EXPECT_THAT(list_ids({.state = State::dead, .queue = "dead", .group = Fingerprint(1)}),
              ElementsAre(other.id));
  EXPECT_THAT(list_ids({.state = State::dead, .queue = "failed", .group = huge}), IsEmpty());
  EXPECT_THAT(list_ids({.group = Fingerprint()}), ElementsAre(nameless.id));
  EXPECT_THAT(list_ids({.state = State::pending, .group = huge}), IsEmpty());
}

TEST_P(StoreConformance, waiting_tasks_are_listed_queue_by_queue_in_the_order_of_claims) {
  std::vector<ports::NewTask> tasks;
  for (const auto& [queue, priority, due] :
       {std::tuple("b", 0, 0s), std::tuple("a", 0, 5s), std::tuple("a", 0, 1s),
        std::tuple("a", 9, 8s), std::tuple("b", 1, 0s), std::tuple("a", 0, 1s)}) {
    tasks.push_back(new_task());
    tasks.back().queue = queue;
    tasks.back().priority = priority;
    tasks.back().due = now_ + due;
  }
  submit_all(tasks);
  const std::vector<TaskId> of_a = {tasks[3].id, tasks[2].id, tasks[5].id, tasks[1].id};
  const std::vector<TaskId> of_b = {tasks[4].id, tasks[0].id};
  for (const std::size_t limit : {1U, 2U, 4U, 100U}) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(list_ids({.state = State::pending, .queue = "a"}, limit), of_a);
    EXPECT_EQ(list_ids({.state = State::pending, .queue = "b"}, limit), of_b);
    auto all = list_ids({.state = State::pending}, limit);
    if (all.at(0) == of_b[0]) std::ranges::rotate(all, all.begin() + 2);  // any queue may be first
    EXPECT_THAT(all, ElementsAre(of_a[0], of_a[1], of_a[2], of_a[3], of_b[0], of_b[1]));
  }
}

TEST_P(StoreConformance, ended_tasks_are_listed_latest_change_first) {
  submit_many(6);
  auto running = claim(6).tasks;
  std::vector<TaskId> latest_first;
  for (const int i : {3, 0, 5, 1, 4, 2}) {
    now_ += 1us;
    const TaskRecord& record = running[static_cast<std::size_t>(i)];
    ASSERT_EQ(move(record, Event::error, State::dead), Done::applied);
    latest_first.insert(latest_first.begin(), record.id);
  }
  for (const std::size_t limit : {1U, 2U, 5U, 6U, 7U}) {
    EXPECT_EQ(list_ids({.state = State::dead}, limit), latest_first) << limit;
    EXPECT_EQ(list_ids({.state = State::dead, .queue = kQueue}, limit), latest_first) << limit;
  }
}

TEST_P(StoreConformance, without_a_state_the_latest_submitted_is_first) {
  std::vector<ports::NewTask> tasks(6);
  std::ranges::generate(tasks, [&] { return new_task(); });
  std::swap(tasks[1].id, tasks[4].id);  // ids do not matter
  submit_all(tasks);
  claim(3);
  std::vector<TaskId> expected;
  for (const auto& task : tasks)
    expected.insert(expected.begin(), task.id);
  for (const std::size_t limit : {1U, 2U, 6U})
    EXPECT_EQ(list_ids({}, limit), expected) << limit;
}

TEST_P(StoreConformance, pages_of_equal_times_hold_each_task_once) {
  for (int i = 0; i < 4; ++i) {
    for (const State state : kAllStates)
      (void)task_in(state);
  }
  for (const State state : kAllStates) {
    auto ids = list_ids({.state = state}, 1);
    EXPECT_THAT(ids, SizeIs(4)) << to_string(state);
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 4U) << to_string(state);
  }
  const auto all = list_ids({}, 3);
  EXPECT_THAT(all, SizeIs(28));
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 28U);
}

TEST_P(StoreConformance, a_limit_of_nothing_is_one_so_that_walks_end) {
  const auto ids = submit_many(3);
  EXPECT_THAT(list_ids({.state = State::pending}, 0), ElementsAre(ids[0], ids[1], ids[2]));
}

// Others come, go and move while somebody turns the pages; those that stay are seen once. The task
// that a cursor stands on goes first.
TEST_P(StoreConformance, pages_miss_no_task_that_stays_while_others_change) {
  for (const std::optional<State> state :
       {std::optional<State>(), std::optional(State::pending), std::optional(State::dead)}) {
    SCOPED_TRACE(state ? to_string(*state) : "any state");
    const std::string queue = "while " + std::to_string(state ? static_cast<int>(*state) : -1);
    const auto add = [&] {
      now_ += 1us;
      ports::NewTask task = new_task();
      task.queue = queue;
      submit(task);
      if (state == State::dead) move(claim_one(queue), Event::error, State::dead);
      return task.id;
    };
    std::set<TaskId> staying;
    for (int i = 0; i < 20; ++i)
      staying.insert(add());

    std::multiset<TaskId> seen;
    std::string cursor;
    do {
      const auto page = ask(
          ports::List{.filter = {.state = state, .queue = queue}, .cursor = cursor, .limit = 3});
      for (const TaskRecord& record : page.tasks)
        seen.insert(record.id);
      cursor = page.next;
      if (page.tasks.empty()) continue;
      const TaskRecord last = find(page.tasks.back().id);
      staying.erase(last.id);
      const Event leave = state == State::dead ? Event::discard : Event::cancel;
      ASSERT_EQ(move(last, leave, State::canceled), Done::applied);
      if (add(); seen.size() > 200) FAIL() << "the list has no end";
    } while (!cursor.empty());
    EXPECT_GE(staying.size(), 10U);
    for (const TaskId& id : staying)
      EXPECT_EQ(seen.count(id), 1U) << id.text();
  }
}

TEST_P(StoreConformance, lists_have_payloads_only_where_they_are_asked_for) {
  std::map<TaskId, std::string> payloads;
  for (int i = 0; i < 12; ++i) {
    ports::NewTask task = new_task();
    task.type = i % 2 == 0 ? "even" : "odd";
    task.payload = i == 0 ? std::string() : std::string(std::size_t(1000) * i, 'a' + i);
    task.trace = "trace";
    payloads[submit(task)] = task.payload;
  }
  (void)claim(3);
  for (const std::optional<State> state :
       {std::optional<State>(), std::optional(State::pending), std::optional(State::running)}) {
    for (const char* type : {"", "odd"}) {
      ports::List verb{.filter = {.state = state, .type = type}, .limit = 5, .payloads = true};
      std::size_t told = 0;
      do {
        const auto page = ask(verb);
        for (const TaskRecord& record : page.tasks) {
          EXPECT_EQ(record.payload, payloads.at(record.id));
          EXPECT_EQ(record.trace, "") << "nothing else comes along";
          EXPECT_THAT(record.attempts, IsEmpty());
        }
        told += page.tasks.size();
        verb.cursor = page.next;
      } while (!verb.cursor.empty());
      EXPECT_EQ(told, list(verb.filter).size());
      EXPECT_GE(told, 1U);
    }
  }
  for (const TaskRecord& record : list())
    EXPECT_EQ(record.payload, "");
}

TEST_P(StoreConformance, cursors_outlive_the_store_that_gave_them) {
  const auto ids = submit_many(4);
  const ports::Filter filter{.state = State::pending};
  const auto first = ask(ports::List{.filter = filter, .limit = 2});
  reopen();
  const auto second = ask(ports::List{.filter = filter, .cursor = first.next, .limit = 2});
  EXPECT_THAT(ids_of(second.tasks), ElementsAre(ids[2], ids[3]));
}

TEST_P(StoreConformance, a_cursor_that_no_page_gave_is_refused_by_name) {
  submit_many(5);
  for (const std::optional<State> state :
       {std::optional<State>(), std::optional(State::pending), std::optional(State::running),
        std::optional(State::dead)}) {
    for (const std::string& cursor :
         {std::string("nonsense"), std::string("-"), std::string("\0\xff", 2), std::string("0"),
          std::string(" "), std::string("99999999999999999999999999")}) {
      const auto page = try_ask(ports::List{.filter = {.state = state}, .cursor = cursor});
      ASSERT_FALSE(page) << cursor;
      EXPECT_EQ(page.error().code, ErrorCode::invalid_argument);
      EXPECT_NE(page.error().message.find("cursor"), std::string::npos) << page.error().message;
    }
  }
  const std::string given = ask(ports::List{.filter = {}, .limit = 2}).next;
  for (const std::string& spoilt : {given.substr(1), given.substr(0, given.size() - 1)}) {
    EXPECT_FALSE(try_ask(ports::List{.filter = {}, .cursor = spoilt})) << spoilt;
  }
}

}  // namespace
}  // namespace holdfast::conformance
