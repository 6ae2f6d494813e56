#include "cli/verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"

namespace holdfast::cli {
namespace {

std::vector<std::string_view> verbs_of(const CLI::App& program) {
  std::vector<std::string_view> names;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

// As --help shows them.
void group_verbs(CLI::App& program) {
  const auto group = [&](const char* name, std::initializer_list<const char*> verbs) {
    for (const char* verb : verbs)
      program.get_subcommand(verb)->group(name);
  };
  group("Running tasks", {"serve", "worker"});
  group("Handing in, and looking after", {"submit", "tasks", "dead", "queues"});
  group("Dead letters of a broker", {"recover"});
  group("Finding out", {"classify", "verify", "migrate", "bench", "demo"});
}

}  // namespace

int run(int argc, const char* const* argv, Io& io) {
  CLI::App program("Holdfast: work that must not get lost.", "holdfast");
  program.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
  program.require_subcommand(0, 1);
  program.footer(
      "Each verb has a --help of its own with examples: holdfast classify --help\n"
      "Exit codes: 0 done, 1 the work failed, 2 the command line is wrong,\n"
      "3 something was kept or left.");

  int exit_code = kDone;
  add_serve(program, io, exit_code);
  add_worker(program, io, exit_code);
  add_submit(program, io, exit_code);
  add_tasks(program, io, exit_code);
  add_dead(program, io, exit_code);
  add_queues(program, io, exit_code);
  add_recover(program, io, exit_code);
  add_classify(program, io, exit_code);
  add_verify(program, io, exit_code);
  add_bench(program, io, exit_code);
  add_demo(program, io, exit_code);
  add_migrate(program, io, exit_code);
  group_verbs(program);

  program.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("holdfast: {}\nSee holdfast --help, and --help of each verb.\n",
                       error.what());
  });
  const auto verbs = verbs_of(program);
  const std::string_view word = argc > 1 ? argv[1] : "-";
  if (word == "help" && argc == 2) {
    io.out << program.help();
    return kDone;
  }
  if (!word.starts_with('-') && std::ranges::find(verbs, word) == verbs.end()) {
    io.err << fmt::format("holdfast: unknown verb {}{}\n", quoted(word), did_you_mean(word, verbs));
    return kUsage;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for = program.exit(error, io.out, io.err) == 0;
    return asked_for ? kDone : kUsage;
  }
  if (program.get_subcommands().empty()) {
    io.err << program.help();
    return kUsage;
  }
  return exit_code;
}

}  // namespace holdfast::cli
