#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>

#include "node/node.hpp"

namespace holdfast::node {

// Client::edit, for who is on the node's loop. `who`: for the history of the original.
void edit_task(Node& node, TaskId id, Client::Edit edit, std::string who,
               std::move_only_function<void(Result<TaskId>)> then);

// "alice: reason", as it stands in the history of a task.
[[nodiscard]] std::string signed_by(std::string_view who, std::string_view reason);

}  // namespace holdfast::node
