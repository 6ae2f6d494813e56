#pragma once

#include "cli/io.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

// Runs the program: picks the verb that the command line names and returns its exit code.
[[nodiscard]] int run(int argc, const char* const* argv, Io& io);

// One function for each verb, in a file of its own. It adds the verb to the program; when the
// command line names it, it runs and sets `exit_code`.
void add_audit(CLI::App& program, Io& io, int& exit_code);
void add_classify(CLI::App& program, Io& io, int& exit_code);
void add_bench(CLI::App& program, Io& io, int& exit_code);
void add_dead(CLI::App& program, Io& io, int& exit_code);
void add_demo(CLI::App& program, Io& io, int& exit_code);
void add_migrate(CLI::App& program, Io& io, int& exit_code);
void add_operations(CLI::App& program, Io& io, int& exit_code);
void add_queues(CLI::App& program, Io& io, int& exit_code);
void add_brokers(CLI::App& program, Io& io, int& exit_code);
void add_recoveries(CLI::App& program, Io& io, int& exit_code);
void add_recover(CLI::App& program, Io& io, int& exit_code);
void add_serve(CLI::App& program, Io& io, int& exit_code);
void add_submit(CLI::App& program, Io& io, int& exit_code);
void add_tasks(CLI::App& program, Io& io, int& exit_code);
void add_top(CLI::App& program, Io& io, int& exit_code);
void add_verify(CLI::App& program, Io& io, int& exit_code);
void add_worker(CLI::App& program, Io& io, int& exit_code);

}  // namespace holdfast::cli
