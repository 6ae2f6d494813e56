#pragma once

#include <span>
#include <string>

#include <holdfast/result.hpp>

namespace holdfast::io {

// Runs a program that talks to the user: it has this process's terminal, environment and folder,
// and is waited for. The program is looked for in PATH. Gives its exit code; 128 and the number of
// the signal if one has ended it.
[[nodiscard]] Result<int> run_in_foreground(std::span<const std::string> words);

}  // namespace holdfast::io
