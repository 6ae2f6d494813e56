#include <csignal>
#include <exception>
#include <iostream>

#include <unistd.h>

#include "cli/verbs.hpp"
#include "io/log_sink.hpp"

int main(int argc, char** argv) try {
  // A file that may not grow is an error of the write, like a full disk, and no reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);  // the verbs flush where someone waits for it
  holdfast::cli::Io io{
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .in_is_terminal = isatty(STDIN_FILENO) == 1,
      .colour = holdfast::log_style_for(STDOUT_FILENO) == holdfast::LogStyle::colour_console,
      .err_is_terminal = isatty(STDERR_FILENO) == 1,
  };
  return holdfast::cli::run(argc, argv, io);
} catch (const std::exception& error) {
  std::cerr << "holdfast: " << error.what() << '\n';
  return holdfast::cli::kFailed;
}
