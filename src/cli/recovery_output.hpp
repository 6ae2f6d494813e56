#pragma once

#include <functional>
#include <string>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "cli/io.hpp"
#include "wire/recovery_json.hpp"

// Recoveries that a server runs, as the verbs show them.
namespace holdfast::cli {

// What it came to, or how far it has come.
[[nodiscard]] std::string recovery_result(const wire::Recovery& recovery, bool colour);
[[nodiscard]] std::string recovery_for_people(const wire::Recovery& recovery, WallTime now,
                                              bool colour);
[[nodiscard]] std::string recoveries_for_people(const std::vector<wire::Recovery>& recoveries,
                                                WallTime now, bool colour);

// Asks again and again until it has ended, and shows how far it is.
[[nodiscard]] Result<wire::Recovery> follow_recovery(
    wire::Recovery seen, const std::function<Result<wire::Recovery>()>& look, Io& io);

// As of `holdfast recover`: kKept if something was kept or left.
[[nodiscard]] int exit_code_of(const wire::Recovery& recovery);

}  // namespace holdfast::cli
