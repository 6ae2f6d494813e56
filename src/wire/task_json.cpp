#include "wire/task_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/answers.hpp"
#include "wire/bytes.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

constexpr std::array kStates{TaskState::pending,   TaskState::running, TaskState::retrying,
                             TaskState::succeeded, TaskState::failed,  TaskState::dead,
                             TaskState::canceled};

using ByState = std::array<std::uint64_t, kStates.size()>;

template <std::size_t kState>
constexpr Field<ByState> state_field() {
  return {{.name = {}},
          [](const JsonValue& value, ByState& out) { return read(value, out[kState]); }};
}

[[nodiscard]] Read read_by_state(const JsonValue& value, QueueInfo& out) {
  auto fields = std::to_array<Field<ByState>>({state_field<0>(), state_field<1>(), state_field<2>(),
                                               state_field<3>(), state_field<4>(), state_field<5>(),
                                               state_field<6>()});
  for (std::size_t i = 0; i < fields.size(); ++i)
    fields.at(i).name = to_string(kStates.at(i));
  return read_object<ByState>(value, fields, Unknown::passed_over, out.by_state);
}

[[nodiscard]] Read read_event(const JsonValue& value, TaskAttempt& out) {
  Read done = read(value, out.event);
  std::ranges::replace(out.event, '_', ' ');
  return done;
}

constexpr auto kFailureFields = std::to_array<Field<Failure>>({
    field<&Failure::message>("message"),
    field<&Failure::kind>("kind"),
    field<&Failure::http_status>("http_status"),
    field<&Failure::exit_code>("exit_code"),
    field<&Failure::os_error>("os_error"),
    field<&Failure::retry_after>("retry_after"),
});

constexpr auto kAttemptFields = std::to_array<Field<TaskAttempt>>({
    field<&TaskAttempt::token>("token"),
    {{.name = "event"}, read_event},
    field<&TaskAttempt::started>("started"),
    field<&TaskAttempt::ended>("ended"),
    field<&TaskAttempt::owner>("owner"),
    field<&TaskAttempt::failure>("failure"),
});

constexpr auto kTaskFields = std::to_array<Field<TaskInfo>>({
    required<&TaskInfo::id>("id"),
    required<&TaskInfo::type>("type"),
    required<&TaskInfo::queue>("queue"),
    json_bytes<&TaskInfo::payload>(kPayloadNames.json, 1),
    text_bytes<&TaskInfo::payload>(kPayloadNames.text, 1),
    base64_bytes<&TaskInfo::payload>(kPayloadNames.base64, 1),
    field<&TaskInfo::key>("key"),
    field<&TaskInfo::priority>("priority"),
    required<&TaskInfo::state>("state"),
    field<&TaskInfo::dead_reason>("dead_reason"),
    field<&TaskInfo::created>("created"),
    field<&TaskInfo::due>("due"),
    field<&TaskInfo::changed>("changed"),
    field<&TaskInfo::deadline>("deadline"),
    field<&TaskInfo::trace>("trace"),
    field<&TaskInfo::retry_on_failure>("retry_on_failure"),
    field<&TaskInfo::attempts>("attempts"),
    field<&TaskInfo::crashes>("crashes"),
    field<&TaskInfo::deferrals>("deferrals"),
    field<&TaskInfo::replays>("replays"),
    json_bytes<&TaskInfo::result>(kResultNames.json, 2),
    text_bytes<&TaskInfo::result>(kResultNames.text, 2),
    base64_bytes<&TaskInfo::result>(kResultNames.base64, 2),
    field<&TaskInfo::last_failure>("last_failure"),
    field<&TaskInfo::group>("group"),
    field<&TaskInfo::history>("history"),
    field<&TaskInfo::edited_from>("edited_from"),
    field<&TaskInfo::edited_as>("edited_as"),
});

constexpr auto kPageFields = std::to_array<Field<TaskPage>>({
    required<&TaskPage::tasks>("tasks"),
    field<&TaskPage::next>("next"),
});

constexpr auto kQueueInfoFields = std::to_array<Field<QueueInfo>>({
    required<&QueueInfo::name>("name"),
    {{.name = "tasks", .is_required = true}, read_by_state},
    field<&QueueInfo::paused>("paused"),
    field<&QueueInfo::concurrency>("concurrency"),
    field<&QueueInfo::backlog>("backlog"),
    field<&QueueInfo::oldest_due>("oldest_due"),
});

constexpr auto kAcceptedFields = std::to_array<Field<Accepted>>({
    required<&Accepted::id>("id"),
    field<&Accepted::existed>("existed"),
    field<&Accepted::outbound>("outbound"),
});

struct Queues {
  std::vector<QueueInfo> queues;
};
constexpr auto kQueuesFields = std::to_array<Field<Queues>>({
    required<&Queues::queues>("queues"),
});

void write_attempt(JsonWriter& writer, const TaskAttempt& attempt) {
  writer.begin_object();
  writer.key("token").number(attempt.token);
  writer.key("event").word(attempt.event);
  writer.key("started").time(attempt.started);
  writer.key("ended").time(attempt.ended);
  writer.key("owner").text(attempt.owner);
  if (attempt.failure) write(writer.key("failure"), *attempt.failure);
  writer.end_object();
}

void write_details(JsonWriter& writer, const TaskInfo& task) {
  if (!task.key.empty()) writer.key("key").text(task.key);
  writer.key("retry_on_failure").boolean(task.retry_on_failure);
  if (!task.payload.empty()) write_bytes(writer, kPayloadNames, task.payload);
  // Also where it is empty: that a handler gave nothing is not the same as that there is none yet.
  if (task.result) write_bytes(writer, kResultNames, *task.result);
  writer.key("history").begin_array();
  for (const TaskAttempt& attempt : task.history)
    write_attempt(writer, attempt);
  writer.end_array();
  if (task.edited_from) writer.key("edited_from").plain(task.edited_from->text());
  if (task.edited_as) writer.key("edited_as").plain(task.edited_as->text());
}

}  // namespace

// Found by the templates of fields.hpp.
Read read(const JsonValue& value, Failure& out) {
  return read_object<Failure>(value, kFailureFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, TaskAttempt& out) {
  return read_object<TaskAttempt>(value, kAttemptFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, TaskInfo& out) {
  return read_object<TaskInfo>(value, kTaskFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, QueueInfo& out) {
  return read_object<QueueInfo>(value, kQueueInfoFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const TaskInfo& task, Detail detail) {
  writer.begin_object();
  writer.key("id").plain(task.id.text());
  writer.key("type").text(task.type);
  writer.key("queue").text(task.queue);
  writer.key("state").word(to_string(task.state));
  if (task.dead_reason) writer.key("dead_reason").word(to_string(*task.dead_reason));
  writer.key("priority").number(task.priority);
  writer.key("created").time(task.created);
  writer.key("due").time(task.due);
  writer.key("changed").time(task.changed);
  if (task.deadline) writer.key("deadline").time(*task.deadline);
  if (!task.trace.empty()) writer.key("trace").text(task.trace);
  writer.key("attempts").number(task.attempts);
  writer.key("crashes").number(task.crashes);
  writer.key("deferrals").number(task.deferrals);
  writer.key("replays").number(task.replays);
  if (task.last_failure) write(writer.key("last_failure"), *task.last_failure);
  if (!task.group.empty()) writer.key("group").text(task.group);
  if (detail == Detail::full) write_details(writer, task);
  writer.end_object();
}

void write(JsonWriter& writer, const TaskPage& page) {
  writer.begin_object().key("tasks").begin_array();
  for (const TaskInfo& task : page.tasks)
    write(writer, task, Detail::list);
  writer.end_array();
  if (!page.next.empty()) writer.key("next").text(page.next);
  writer.end_object();
}

void write(JsonWriter& writer, const QueueInfo& queue) {
  writer.begin_object();
  writer.key("name").text(queue.name);
  writer.key("paused").boolean(queue.paused);
  writer.key("concurrency").number(queue.concurrency);
  writer.key("backlog").number(queue.backlog);
  if (queue.oldest_due) writer.key("oldest_due").time(*queue.oldest_due);
  writer.key("tasks").begin_object();
  for (const TaskState state : kStates)
    writer.key(to_string(state)).number(queue.count(state));
  writer.end_object().end_object();
}

void write(JsonWriter& writer, std::span<const QueueInfo> queues) {
  writer.begin_object().key("queues").begin_array();
  for (const QueueInfo& queue : queues)
    write(writer, queue);
  writer.end_array().end_object();
}

void write(JsonWriter& writer, const Failure& failure) {
  writer.begin_object();
  writer.key("message").text(failure.message);
  writer.key("kind").word(to_string(failure.kind));
  if (failure.http_status) writer.key("http_status").number(*failure.http_status);
  if (failure.exit_code) writer.key("exit_code").number(*failure.exit_code);
  if (failure.os_error) writer.key("os_error").number(*failure.os_error);
  if (failure.retry_after) writer.key("retry_after").duration(*failure.retry_after);
  writer.end_object();
}

void write(JsonWriter& writer, const Accepted& accepted) {
  writer.begin_object().key("id").plain(accepted.id.text());
  writer.key("existed").boolean(accepted.existed);
  if (accepted.outbound) writer.key("outbound").boolean(true);
  writer.end_object();
}

Result<TaskInfo> read_task(std::string_view json) {
  return read_document<TaskInfo>(json, kTaskFields, kAnswer);
}

Result<TaskPage> read_page(std::string_view json) {
  return read_document<TaskPage>(json, kPageFields, kAnswer);
}

Result<std::vector<QueueInfo>> read_queues(std::string_view json) {
  return read_wrapped<&Queues::queues>(json, kQueuesFields);
}

Result<Accepted> read_accepted(std::string_view json) {
  return read_document<Accepted>(json, kAcceptedFields, kAnswer);
}

}  // namespace holdfast::wire
