#pragma once

#include <functional>
#include <string>

#include <holdfast/client.hpp>

#include "node/node.hpp"

namespace holdfast::node {

// Client::edit, for who is on the node's loop. `who`: for the history of the original.
void edit_task(Node& node, TaskId id, Client::Edit edit, std::string who,
               std::move_only_function<void(Result<TaskId>)> then);

}  // namespace holdfast::node
