#include "wire/task_json.hpp"

#include <array>
#include <chrono>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/states.hpp"
#include "wire/wire_testing.hpp"

namespace holdfast::wire::task_json_test {
namespace {

using namespace std::chrono_literals;
using testing::written;

constexpr std::string_view kId = "01912d68-783e-7a03-8467-5661c1243ad4";

TaskState any_state() {
  return static_cast<TaskState>(*rc::gen::inRange(0, 7));
}

TaskAttempt any_attempt() {
  constexpr int kEvents = static_cast<int>(core::Event::discard) + 1;
  const auto event = static_cast<core::Event>(*rc::gen::inRange(0, kEvents));
  return {.token = *rc::gen::arbitrary<std::uint64_t>(),
          .event = std::string(core::to_string(event)),
          .started = *testing::any_time(),
          .ended = *testing::any_time(),
          .owner = *testing::any_text(),
          .failure = testing::maybe(rc::gen::exec(testing::any_failure))};
}

// Without what only the full form has.
TaskInfo any_listed_task() {
  using testing::maybe;
  const auto reason = rc::gen::map(rc::gen::inRange(0, 6),
                                   [](int index) { return static_cast<DeadReason>(index); });
  return {.id = testing::any_id(),
          .type = *testing::any_text(),
          .queue = *testing::any_text(),
          .priority = *rc::gen::arbitrary<int>(),
          .state = any_state(),
          .dead_reason = maybe<DeadReason>(reason),
          .created = *testing::any_time(),
          .due = *testing::any_time(),
          .changed = *testing::any_time(),
          .deadline = maybe(testing::any_time()),
          .trace = *testing::any_text(),
          .attempts = *rc::gen::arbitrary<int>(),
          .crashes = *rc::gen::arbitrary<int>(),
          .deferrals = *rc::gen::arbitrary<int>(),
          .replays = *rc::gen::arbitrary<int>(),
          .last_failure = maybe(rc::gen::exec(testing::any_failure)),
          .group = *testing::any_text()};
}

TaskInfo any_task() {
  TaskInfo task = any_listed_task();
  task.payload = *testing::any_payload();
  task.key = *testing::any_text();
  task.retry_on_failure = *rc::gen::arbitrary<bool>();
  task.result = testing::maybe(testing::any_payload());
  task.history.resize(*rc::gen::inRange<std::size_t>(0, 3));
  for (TaskAttempt& attempt : task.history)
    attempt = any_attempt();
  return task;
}

TEST(TaskJson, a_task_has_the_names_of_the_public_header) {
  const TaskInfo task{
      .id = TaskId::parse(kId).value(),
      .type = "mail.send",
      .queue = "mails",
      .payload = "{\"to\": 1.50}",
      .key = "k",
      .state = TaskState::dead,
      .dead_reason = DeadReason::out_of_attempts,
      .created = WallTime(1s),
      .due = WallTime(2s),
      .changed = WallTime(3s + 1us),
      .attempts = 4,
      .result = "",
      .last_failure = Failure{.message = "no", .http_status = 503, .retry_after = 1500ms},
      .group = "00000000deadbeef",
      .history = {{.token = 7,
                   .event = "hand back",
                   .started = WallTime(2s),
                   .ended = WallTime(3s),
                   .owner = "w"}}};
  const std::string listed =
      R"({"id":"01912d68-783e-7a03-8467-5661c1243ad4","type":"mail.send","queue":"mails",)"
      R"("state":"dead","dead_reason":"out_of_attempts","priority":0,)"
      R"("created":"1970-01-01T00:00:01.000000Z","due":"1970-01-01T00:00:02.000000Z",)"
      R"("changed":"1970-01-01T00:00:03.000001Z",)"
      R"("attempts":4,"crashes":0,"deferrals":0,"replays":0,)"
      R"("last_failure":{"message":"no","kind":"error","http_status":503,"retry_after":"1.5s"},)"
      R"("group":"00000000deadbeef")";
  EXPECT_EQ(written(task, Detail::list), listed + "}");
  EXPECT_EQ(
      written(task, Detail::full),
      listed +
          R"(,"key":"k","retry_on_failure":false,"payload":{"to": 1.50},"result_text":"","history":[{"token":7,)"
          R"("event":"hand_back","started":"1970-01-01T00:00:02.000000Z",)"
          R"("ended":"1970-01-01T00:00:03.000000Z","owner":"w"}]})");
}

RC_GTEST_PROP(TaskJson, a_written_task_reads_back_as_itself, ()) {
  const TaskInfo task = any_task();
  RC_ASSERT(read_task(written(task, Detail::full)).value() == task);
}

RC_GTEST_PROP(TaskJson, a_written_page_reads_back_as_itself, ()) {
  TaskPage page{.tasks = {}, .next = *testing::any_text()};
  page.tasks.resize(*rc::gen::inRange<std::size_t>(0, 3));
  for (TaskInfo& task : page.tasks)
    task = any_listed_task();
  RC_ASSERT(read_page(written(page)).value() == page);
}

RC_GTEST_PROP(TaskJson, written_queues_read_back_as_themselves, ()) {
  std::vector<QueueInfo> queues(*rc::gen::inRange<std::size_t>(0, 3));
  for (QueueInfo& queue : queues) {
    queue = {.name = *testing::any_text(),
             .paused = *rc::gen::arbitrary<bool>(),
             .concurrency = *rc::gen::arbitrary<int>(),
             .backlog = *rc::gen::arbitrary<int>(),
             .oldest_due = testing::maybe(testing::any_time())};
    for (std::uint64_t& count : queue.by_state)
      count = *rc::gen::arbitrary<std::uint64_t>();
  }
  RC_ASSERT(read_queues(written(std::span<const QueueInfo>(queues))).value() == queues);
}

TEST(TaskJson, an_accepted_task_has_its_id_and_whether_it_existed) {
  const Accepted accepted{.id = TaskId::parse(kId).value(), .existed = true};
  EXPECT_EQ(written(accepted), R"({"id":"01912d68-783e-7a03-8467-5661c1243ad4","existed":true})");
  EXPECT_EQ(read_accepted(written(accepted)), accepted);
}

TEST(TaskJson, a_reader_passes_over_what_a_newer_server_says) {
  const auto read = read_accepted(
      R"({"links":{"self":"/v1"},"id":"01912d68-783e-7a03-8467-5661c1243ad4","existed":false})");
  EXPECT_TRUE(read) << read.error().text();
}

TEST(TaskJson, an_answer_that_is_none_of_ours_is_corrupt_and_says_where) {
  const auto error = read_page("<html>").error();
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_EQ(error.text(), "read answer: line 1, column 1: unexpected \"<\"");
  EXPECT_EQ(read_page(R"({"tasks":[{"id":"01912d68-783e-7a03-8467-5661c1243ad4","type":"t",
                         "queue":"q","state":"dead","history":[{},{"failure":{"kind":"crush"}}]}]})")
                .error()
                .message,
            "tasks[0].history[1].failure.kind: \"crush\" is not a kind of failure; did you mean "
            "\"crash\"?");
  EXPECT_EQ(read_queues(R"({"queues":[{"name":"q","tasks":{"dead":-1}}]})").error().message,
            "queues[0].tasks.dead: a whole number from 0 to 18446744073709551615 is expected, "
            "not -1");
  EXPECT_EQ(read_task("{}").error().message, "id: is missing");
}

}  // namespace
}  // namespace holdfast::wire::task_json_test
