#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

#include "wire/json_writer.hpp"

// Tasks as they stand, and what is counted of them: as the server answers and a client reads.
//
// Names are those of <holdfast/task.hpp>; what is not there is left out. Words are written with "_"
// for a space: "out_of_attempts", "hand_back". Times are cut to the microsecond. Text that is not
// UTF-8 is written visibly, and so does not come back as it was; payloads and results do.
//
// Readers pass over fields that they do not know: a server may be newer than its clients. What
// they fail with is `corrupt`: an answer that no server of ours gives.
namespace holdfast::wire {

enum class Detail : std::uint8_t {
  list,  // without key, payload, result and history
  full,
};

void write(JsonWriter& writer, const TaskInfo& task, Detail detail);
void write(JsonWriter& writer, const TaskPage& page);  // {"tasks": […], "next": …}
void write(JsonWriter& writer, const QueueInfo& queue);
void write(JsonWriter& writer, std::span<const QueueInfo> queues);  // {"queues": […]}
void write(JsonWriter& writer, const Failure& failure);

[[nodiscard]] Result<TaskInfo> read_task(std::string_view json);
[[nodiscard]] Result<TaskPage> read_page(std::string_view json);
[[nodiscard]] Result<std::vector<QueueInfo>> read_queues(std::string_view json);

// The answer to a submission.
struct Accepted {
  TaskId id = {};
  bool existed = false;   // its key stood for this task before
  bool outbound = false;  // recorded, and to be published: its broker does not have it yet

  bool operator==(const Accepted&) const = default;
};

void write(JsonWriter& writer, const Accepted& accepted);
[[nodiscard]] Result<Accepted> read_accepted(std::string_view json);

}  // namespace holdfast::wire
