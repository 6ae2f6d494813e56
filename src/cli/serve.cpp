// holdfast serve: a server, as its configuration says.
#include <atomic>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/verbs.hpp"
#include "cli/wanted.hpp"
#include "config/config.hpp"
#include "io/log_sink.hpp"
#include "node/open_store.hpp"
#include "server/service.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kServeExamples = R"(Examples:
  holdfast serve                          on 127.0.0.1:8080, tasks in holdfast.db
  holdfast serve --config holdfast.toml   docs/configuration.md has every key
  holdfast serve --config holdfast.toml --check

--check says what is wrong with a configuration, or prints it as it holds with
all defaults, and starts nothing.

SIGHUP reads the configuration again: tokens, queues, tasks, routes, alerts and
the log level hold at once; the log says what needs a restart. With a mistake in
it, nothing changes.

SIGINT or SIGTERM lets running tasks finish for their grace, hands back the
rest, and ends; a second one ends the grace at once.

Exit codes: 0 ended cleanly; 3 tasks were cut short and handed back; 1 it could
not start, or the store failed; 2 the command line is wrong.)";

struct ServeOptions {
  std::string path;
  bool check = false;
};

void reload(server::Service& service, const std::string& path, std::atomic<Level>& level,
            const Logger& log) {
  if (path.empty()) {
    log.log(Level::warning, "config.no_file", "there is no configuration file to read again");
    return;
  }
  const auto config = config::read(path);
  const auto done =
      config ? service.reload(*config) : Result<void>(std::unexpected(config.error()));
  if (!done) {
    log.log(Level::error, "config.refused", "the configuration stays as it was",
            {{"error", done.error().message}});
    return;
  }
  level = config->log.level;
}

LogStyle style_of(config::LogFormat format) {
  const LogStyle fitting = log_style_for(STDERR_FILENO);
  switch (format) {
    case config::LogFormat::automatic: return fitting;
    case config::LogFormat::json: return LogStyle::json;
    case config::LogFormat::text: break;
  }
  return fitting == LogStyle::json ? LogStyle::console : fitting;
}

int serve(const ServeOptions& options, Io& io) {
  const auto config =
      options.path.empty() ? Result<config::Config>(config::Config()) : config::read(options.path);
  if (!config) {
    io.err << config.error().message << '\n';
    return kFailed;
  }
  if (const auto place = node::parse_place(config->store.url.text.reveal()); !place) {
    io.err << options.path << ": store.url: " << place.error().message << '\n';
    return kFailed;
  }
  if (options.check) {
    io.out << config::describe(*config);
    return kDone;
  }
  std::atomic<Level> level(config->log.level);
  FdSink sink(STDERR_FILENO, style_of(config->log.format));
  const Logger log(sink, system_clock(), level);
  Wanted wanted;
  auto service = server::Service::start(
      *config, {.log = log,
                .on_broken = [&](const Error& error) { wanted.broken(error); },
                .on_signal = [&](int) { wanted.stop(); },
                .on_hangup = [&] { wanted.reload(); }});
  if (!service) {
    io.err << "holdfast serve: " << service.error().text() << '\n';
    return kFailed;
  }
  log.log(Level::info, "server.ready", "tasks are accepted",
          {{"url", (*service)->url()}, {"store", config->store.url.shown}});
  while (wanted.wait())
    reload(**service, options.path, level, log);
  const auto broken = wanted.why();
  const server::Service::Stopped stopped = (*service)->stop();
  if (broken || stopped.error) return kFailed;
  return stopped.cut_short > 0 ? kKept : kDone;
}

}  // namespace

void add_serve(CLI::App& program, Io& io, int& exit_code) {
  auto* verb = program.add_subcommand("serve", "Accept tasks over HTTP, and run them");
  const auto options = std::make_shared<ServeOptions>();
  verb->add_option("--config", options->path, "configuration file")->option_text("FILE");
  verb->add_flag("--check", options->check, "check the configuration, print it, and end");
  verb->footer(kServeExamples);
  verb->callback([&io, &exit_code, options] { exit_code = serve(*options, io); });
}

}  // namespace holdfast::cli
