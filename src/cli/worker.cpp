// holdfast worker: the commands and webhooks of a configuration, on another machine.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/verbs.hpp"
#include "cli/wanted.hpp"
#include "config/config.hpp"
#include "server/pull_worker.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  HOLDFAST_API_TOKEN=… holdfast worker --server https://tasks.example.org \
      --config worker.toml

The configuration is that of a server: its [task] tables with a command or a
webhook are run here, and their tasks pulled from the server, whose own
configuration has them as pull = true. Its [queue] concurrency says how many at
once. The token needs the role "work".

Where the server has a [task] for a type, its retries and limits decide; else
those of this configuration.

SIGINT or SIGTERM lets running tasks finish for their grace, hands back the
rest, and ends; a second one ends the grace at once.

Exit codes: 0 ended cleanly; 3 tasks were cut short and handed back; 1 it could
not start; 2 the command line is wrong.)";

struct Options {
  std::string server;
  std::string config;
  std::string ca_file;
  bool token_in_the_clear = false;
};

int work(const Options& options, Io& io) {
  const auto config = config::read(options.config);
  if (!config) {
    io.err << config.error().message << '\n';
    return kFailed;
  }
  if (!node::is_remote(options.server)) {
    io.err << "holdfast worker: --server is http://HOST:PORT or https://HOST:PORT\n";
    return kUsage;
  }
  const Logger log(stderr_log(), system_clock(), config->log.level);
  Wanted wanted;
  auto worker = server::PullWorker::start(
      *config, {.server = {.url = options.server,
                           .token = token_of_environment(),
                           .ca_file = options.ca_file,
                           .token_in_the_clear = options.token_in_the_clear},
                .log = log,
                .on_signal = [&] { wanted.stop(); }});
  if (!worker) return complain(io, "worker", worker.error());
  log.log(Level::info, "worker.ready", "tasks are pulled", {{"server", options.server}});
  while (wanted.wait()) {  // nobody asks for a reload here
  }
  const auto stopped = (*worker)->stop();
  if (stopped.error) return complain(io, "worker", *stopped.error);
  return stopped.cut_short > 0 ? kKept : kDone;
}

}  // namespace

void add_worker(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("worker", "Run tasks that a server elsewhere has");
  const auto options = std::make_shared<Options>();
  verb->add_option("--server", options->server, "http://HOST:PORT or https://HOST:PORT")
      ->option_text("URL")
      ->required();
  verb->add_option("--config", options->config, "Which commands and webhooks to run")
      ->option_text("FILE")
      ->required();
  verb->add_option("--ca-file", options->ca_file, "Who may sign the server's certificate, PEM")
      ->option_text("FILE");
  verb->add_flag("--token-in-the-clear", options->token_in_the_clear,
                 "Send the token over http:// elsewhere, too");
  verb->footer(kExamples);
  verb->callback([options, &io, &exit_code] { exit_code = work(*options, io); });
}

}  // namespace holdfast::cli
