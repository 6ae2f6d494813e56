#include "cli/verbs.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"

namespace holdfast::cli {
namespace {

struct Verb {
  std::string_view name;
  const char* group;  // as --help shows it
  void (*add)(CLI::App& program, Io& io, int& exit_code);
};

constexpr const char* kRunning = "Running tasks";
constexpr const char* kLooking = "Handing in, and looking after";
constexpr const char* kBrokers = "Dead letters of a broker";
constexpr const char* kFinding = "Finding out";

constexpr Verb kVerbs[] = {
    {"serve", kRunning, add_serve},
    {"worker", kRunning, add_worker},
    {"submit", kLooking, add_submit},
    {"tasks", kLooking, add_tasks},
    {"dead", kLooking, add_dead},
    {"queues", kLooking, add_queues},
    {"operations", kLooking, add_operations},
    {"audit", kLooking, add_audit},
    {"top", kLooking, add_top},
    {"brokers", kBrokers, add_brokers},
    {"recoveries", kBrokers, add_recoveries},
    {"recover", kBrokers, add_recover},
    {"classify", kFinding, add_classify},
    {"verify", kFinding, add_verify},
    {"bench", kFinding, add_bench},
    {"demo", kFinding, add_demo},
    {"migrate", kFinding, add_migrate},
};

bool is_verb(std::string_view word) {
  return std::ranges::any_of(kVerbs, [&](const Verb& verb) { return verb.name == word; });
}

// Only the one that is asked for, if it is one: hundreds of options of the others would stay in the
// memory of a worker for as long as it runs.
void add_verbs(std::string_view word, CLI::App& program, Io& io, int& exit_code) {
  const bool alone = is_verb(word);
  for (const Verb& verb : kVerbs) {
    if (alone && word != verb.name) continue;
    verb.add(program, io, exit_code);
    program.get_subcommand(std::string(verb.name))->group(verb.group);
  }
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
  const std::string_view word = argc > 1 ? argv[1] : "-";
  add_verbs(word, program, io, exit_code);

  program.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("holdfast: {}\nSee holdfast --help, and --help of each verb.\n",
                       error.what());
  });
  if (word == "help" && argc == 2) {
    io.out << program.help();
    return kDone;
  }
  if (!word.starts_with('-') && !is_verb(word)) {
    std::vector<std::string_view> verbs;
    for (const Verb& verb : kVerbs)
      verbs.push_back(verb.name);
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
