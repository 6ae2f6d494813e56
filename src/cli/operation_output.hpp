#pragma once

#include <string>

#include <holdfast/client.hpp>
#include <holdfast/operation.hpp>

#include "cli/io.hpp"

// Operations as the verbs show them.
namespace holdfast::cli {

// What would be done, and what not and why; at most 80 columns.
[[nodiscard]] std::string plan_for_people(const Operation& operation, bool colour);
// How it stands, in full.
[[nodiscard]] std::string operation_for_people(const Operation& operation, WallTime now,
                                               bool colour);
// How it has ended, or why it stands still, in a few lines.
[[nodiscard]] std::string end_for_people(const Operation& operation, bool colour);

// Waits until it is planned, or stands still, with a bar on a terminal. `seen` is how it stood
// last.
[[nodiscard]] Result<Operation> follow(Client& client, Operation seen, Io& io);

}  // namespace holdfast::cli
