// holdfast worker: the commands and webhooks of a configuration, on as many machines as one likes.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/verbs.hpp"
#include "cli/wanted.hpp"
#include "config/config.hpp"
#include "node/open_store.hpp"
#include "server/task_worker.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kWorkerExamples = R"(Examples:
  HOLDFAST_API_TOKEN=… holdfast worker --server https://tasks.example.org \
      --config worker.toml
  holdfast worker --config worker.toml    where its store.url is on Redis
  holdfast worker --config worker.toml --store redis://tasks.example.org

The configuration is that of a server: its [task] tables with a command or a
webhook are run here, on as many machines as you like. Its [queue] concurrency
says how many at once.

With --server, tasks are pulled from a server, whose own configuration has them
as pull = true. The token needs the role "work". Where the server has a [task]
for a type, its retries and limits decide; else those of this configuration.

Without it, they are claimed from the store itself: that of --store, or the
configuration's. It must be one that many share, on Redis; a file has one owner.
A server may work on the same store, or none at all.

SIGINT or SIGTERM lets running tasks finish for their grace, hands back the
rest, and ends; a second one ends the grace at once.

Exit codes: 0 ended cleanly; 3 tasks were cut short and handed back; 1 it could
not start; 2 the command line is wrong.)";

struct WorkerOptions {
  std::string server;
  std::string store;
  std::string config;
  std::string ca_file;
  bool token_in_the_clear = false;
};

int misused(Io& io, const std::string& what) {
  io.err << "holdfast worker: " << what << '\n';
  return kUsage;
}

// Where the tasks come from; or the exit code, where that cannot be: said then.
std::expected<server::TaskWorker::Options, int> source_of(const WorkerOptions& options,
                                                          const config::Config& config, Io& io) {
  server::TaskWorker::Options source;
  if (!options.server.empty()) {
    if (!node::is_remote(options.server)) {
      return std::unexpected(misused(io, "--server is http://HOST:PORT or https://HOST:PORT"));
    }
    source.server = {.url = options.server,
                     .token = token_of_environment(),
                     .ca_file = options.ca_file,
                     .token_in_the_clear = options.token_in_the_clear};
    return source;
  }
  source.store = options.store.empty() ? config.store.url.text.reveal() : options.store;
  const auto place = node::parse_place(source.store);
  if (!place) return std::unexpected(misused(io, place.error().text()));
  if (place->is_shared()) return source;
  return std::unexpected(
      misused(io, fmt::format("{} has one owner, and cannot be shared with a worker: name the "
                              "server that has it open with --server URL, or keep tasks on Redis: "
                              "--store redis://HOST:PORT, or store.url of the configuration",
                              place->key())));
}

int work(const WorkerOptions& options, Io& io) {
  const auto config = config::read(options.config);
  if (!config) {
    io.err << config.error().message << '\n';
    return kFailed;
  }
  auto source = source_of(options, *config, io);
  if (!source) return source.error();
  const Logger log(stderr_log(), system_clock(), config->log.level);
  Wanted wanted;
  source->log = log;
  source->on_signal = [&] { wanted.stop(); };
  source->on_broken = [&](const Error& error) { wanted.broken(error); };
  auto worker = server::TaskWorker::start(*config, *source);
  if (!worker) return complain(io, "worker", worker.error());
  if (source->server) {
    log.log(Level::info, "worker.ready", "tasks are pulled", {{"server", options.server}});
  } else {
    log.log(Level::info, "worker.ready", "tasks are claimed",
            {{"store", node::shown_url(source->store)}});
  }
  while (wanted.wait()) {  // nobody asks for a reload here
  }
  const auto broken = wanted.why();
  const auto stopped = (*worker)->stop();
  if (broken) return complain(io, "worker", *broken);
  if (stopped.error) return complain(io, "worker", *stopped.error);
  return stopped.cut_short > 0 ? kKept : kDone;
}

}  // namespace

void add_worker(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("worker", "Run tasks of a server, or of a shared store");
  const auto options = std::make_shared<WorkerOptions>();
  auto* server = verb->add_option("--server", options->server,
                                  "Pull from it: http://HOST:PORT, https://HOST:PORT")
                     ->option_text("URL");
  verb->add_option("--store", options->store, "Claim from it; without it, the configuration's")
      ->option_text("URL")
      ->excludes(server);
  verb->add_option("--config", options->config, "Which commands and webhooks to run")
      ->option_text("FILE")
      ->required();
  verb->add_option("--ca-file", options->ca_file, "Who may sign the server's certificate, PEM")
      ->option_text("FILE");
  verb->add_flag("--token-in-the-clear", options->token_in_the_clear,
                 "Send the token over http:// elsewhere, too");
  verb->footer(kWorkerExamples);
  verb->callback([options, &io, &exit_code] { exit_code = work(*options, io); });
}

}  // namespace holdfast::cli
