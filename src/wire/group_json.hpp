#pragma once

#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

#include "wire/json_writer.hpp"

// Groups of failures, as the server answers and a client reads. What readers fail with is
// `corrupt`.
namespace holdfast::wire {

void write(JsonWriter& writer, const FailureGroup& group);
void write(JsonWriter& writer, const GroupPage& page);  // {"groups": […], "next": …}

[[nodiscard]] Result<GroupPage> read_groups(std::string_view json);

}  // namespace holdfast::wire
