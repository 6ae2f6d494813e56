// holdfast recoveries: bring dead-letter queues back by a server that knows their brokers.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/option_checks.hpp"
#include "cli/recovery_output.hpp"
#include "cli/server_calls.hpp"
#include "cli/task_output.hpp"
#include "cli/verbs.hpp"
#include "io/map_file.hpp"
#include "wire/recovery_json.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kRecoveriesExamples =
    R"(A recovery that a server runs, with a record of who started it and what came
of it. Brokers and queues are those of holdfast brokers.

  holdfast recoveries start main app.dlq --to-origin=queue --dry-run
  holdfast recoveries start main app.dlq --map map.toml --limit 10
  holdfast recoveries start main app.dlq --to app.work --rate 50/s --detach
  holdfast recoveries ls                 running and past, latest first
  holdfast recoveries show ID            what it was to do, and what came of it
  holdfast recoveries watch ID           a bar, until it has ended
  holdfast recoveries cancel ID          what was done stays done

holdfast recover does the same without a server, and has more options.

Exit codes of start and watch: 0 done; 3 something was kept or left; 1 it
failed; 2 the command line is wrong. Of the others: 0 done; 1 it could not be
done.)";

struct RecoveriesVerbOptions {
  Target target;
  std::string id;
  std::size_t limit = 50;
  bool json = false;
  // start
  wire::RecoveryRequest request;
  std::string map_file;
  std::string exchange;
  std::string rate;
  std::uint64_t most = 0;
  bool wants_origin = false;
  bool detach = false;
};

std::string recovery_line(const wire::Recovery& recovery) {
  return json_line([&](wire::JsonWriter& writer) { write(writer, recovery); });
}

std::string recovery_path(const std::string& id) {
  return "/v1/recoveries/" + node::percent_encoded(id);
}

Result<wire::Recovery> ask_recovery(const ServerCalls& server, const std::string& id) {
  const auto answer = server.get("recovery", recovery_path(id));
  if (!answer) return std::unexpected(answer.error());
  return wire::read_recovery(*answer);
}

int list_recoveries(const RecoveriesVerbOptions& options, Io& io) {
  const auto server = ServerCalls::open(options.target);
  if (!server) return complain(io, "recoveries ls", server.error());
  const auto answer =
      server->get("recoveries", fmt::format("/v1/recoveries?limit={}", options.limit));
  if (!answer) return complain(io, "recoveries ls", answer.error());
  const auto page = wire::read_recoveries(*answer);
  if (!page) return complain(io, "recoveries ls", page.error());
  if (options.json) {
    for (const wire::Recovery& recovery : page->recoveries)
      io.out << recovery_line(recovery);
  } else if (page->recoveries.empty()) {
    io.out << "No recovery yet: holdfast recoveries start begins one.\n";
  } else {
    io.out << recoveries_for_people(page->recoveries, system_clock().wall_now(), io.colour);
  }
  return kDone;
}

int show_recovery(const RecoveriesVerbOptions& options, Io& io) {
  const auto server = ServerCalls::open(options.target);
  if (!server) return complain(io, "recoveries show", server.error());
  const auto found = ask_recovery(*server, options.id);
  if (!found) return complain(io, "recoveries show", found.error());
  io.out << (options.json ? recovery_line(*found)
                          : recovery_for_people(*found, system_clock().wall_now(), io.colour));
  return kDone;
}

int cancel_recovery(const RecoveriesVerbOptions& options, Io& io) {
  const auto server = ServerCalls::open(options.target);
  if (!server) return complain(io, "recoveries cancel", server.error());
  const auto answer = server->post("cancel", recovery_path(options.id) + "/cancel", "");
  if (!answer) return complain(io, "recoveries cancel", answer.error());
  const auto found = wire::read_recovery(*answer);
  if (!found) return complain(io, "recoveries cancel", found.error());
  io.out << (options.json ? recovery_line(*found)
                          : "It ends as soon as what is under way has ended.\n");
  return kDone;
}

int watch_to_end(const ServerCalls& server, wire::Recovery seen, const std::string& verb,
                 bool as_json, Io& io) {
  const std::string id = seen.id;
  const auto end = follow_recovery(std::move(seen), [&] { return ask_recovery(server, id); }, io);
  if (!end) return complain(io, verb, end.error());
  io.out << (as_json ? recovery_line(*end) : recovery_result(*end, io.colour));
  return exit_code_of(*end);
}

int watch_recovery(const RecoveriesVerbOptions& options, Io& io) {
  const auto server = ServerCalls::open(options.target);
  if (!server) return complain(io, "recoveries watch", server.error());
  auto found = ask_recovery(*server, options.id);
  if (!found) return complain(io, "recoveries watch", found.error());
  return watch_to_end(*server, *std::move(found), "recoveries watch", options.json, io);
}

Result<wire::RecoveryRequest> request_of(const RecoveriesVerbOptions& options) {
  wire::RecoveryRequest request = options.request;
  if (options.wants_origin && request.to_origin.empty()) request.to_origin = "exchange";
  if (options.most > 0) request.limit = options.most;
  if (!options.rate.empty()) {
    const auto rate = parse_rate(options.rate);
    if (!rate) return std::unexpected(rate.error());
    request.rate = *rate;
  }
  if (options.map_file.empty()) return request;
  const auto map = io::load_type_map(options.map_file, options.exchange);
  if (!map) return std::unexpected(map.error());
  for (const auto& [type, address] : *map)
    request.map[type] = {address.exchange, address.routing_key};
  return request;
}

int start_recovery(const RecoveriesVerbOptions& options, Io& io) {
  const std::string verb = "recoveries start";
  const auto request = request_of(options);
  if (!request) {
    complain(io, verb, request.error());
    return kUsage;
  }
  const auto server = ServerCalls::open(options.target);
  if (!server) return complain(io, verb, server.error());
  std::string body;
  wire::JsonWriter writer(body);
  write(writer, *request);
  const auto answer = server->post("start", "/v1/recoveries", std::move(body));
  if (!answer) return complain(io, verb, answer.error());
  auto begun = wire::read_recovery(*answer);
  if (!begun) return complain(io, verb, begun.error());
  if (!options.detach) return watch_to_end(*server, *std::move(begun), verb, options.json, io);
  io.out << (options.json ? recovery_line(*begun)
                          : fmt::format("Recovery {} has begun: holdfast recoveries watch {}\n",
                                        begun->id, begun->id));
  return kDone;
}

CLI::App* add_recoveries_verb(CLI::App& recoveries, const char* name, const char* what,
                              const std::shared_ptr<RecoveriesVerbOptions>& options,
                              bool takes_id) {
  CLI::App* verb = recoveries.add_subcommand(name, what);
  if (takes_id) verb->add_option("ID", options->id, "Of the recovery")->type_name("")->required();
  verb->add_flag("--json", options->json, "JSON, one object a line");
  add_target(*verb, options->target);
  verb->footer(kRecoveriesExamples);
  return verb;
}

void add_start_options(CLI::App& verb, RecoveriesVerbOptions& options) {
  wire::RecoveryRequest& request = options.request;
  verb.add_option("BROKER", request.broker, "Its name at the server")->type_name("")->required();
  verb.add_option("QUEUE", request.queue, "The dead-letter queue")->type_name("")->required();
  verb.add_option("--map", options.map_file, "Where types go")->option_text("FILE");
  CLI::Option* origin =
      verb.add_option("--to-origin", request.to_origin, "Back to where they came from")
          ->option_text("[exchange|queue]")
          ->expected(0, 1)
          ->check(CLI::IsMember({"exchange", "queue"}).description(""));
  verb.parse_complete_callback([&options, origin] { options.wants_origin = origin->count() > 0; });
  verb.add_option("--to", request.to, "All into one queue")->option_text("QUEUE");
  verb.add_option("--exchange", options.exchange, "Exchange of map entries that name none")
      ->option_text("NAME");
  verb.add_option("--park", request.park, "Publish kept messages there, confirmed")
      ->option_text("QUEUE");
  verb.add_option("--filter", request.filter, "Only what meets it; may be repeated")
      ->option_text("EXPR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_flag("--dry-run", request.dry_run, "Show what would go where, and send nothing");
  verb.add_option("--limit", options.most, "After so many messages, recovered or kept")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
  verb.add_option("--rate", options.rate, "Most messages a second (100/s)")->option_text("N/s");
  verb.add_option("--reason", request.reason, "Why, for the audit")->option_text("TEXT");
  verb.add_flag("--detach", options.detach, "Begin it, and do not wait for its end");
}

}  // namespace

void add_recoveries(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* recoveries =
      program.add_subcommand("recoveries", "Bring dead-letter queues back by a server");
  recoveries->require_subcommand(1);
  recoveries->footer(kRecoveriesExamples);
  const auto options = std::make_shared<RecoveriesVerbOptions>();
  CLI::App* start = add_recoveries_verb(*recoveries, "start", "Begin one", options, false);
  add_start_options(*start, *options);
  start->callback([options, &io, &exit_code] { exit_code = start_recovery(*options, io); });
  CLI::App* list =
      add_recoveries_verb(*recoveries, "ls", "List them, latest first", options, false);
  list->add_option("--limit", options->limit, "At most so many")
      ->option_text("COUNT")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}).description(""));
  list->callback([options, &io, &exit_code] { exit_code = list_recoveries(*options, io); });
  add_recoveries_verb(*recoveries, "show", "One with what came of it", options, true)
      ->callback([options, &io, &exit_code] { exit_code = show_recovery(*options, io); });
  add_recoveries_verb(*recoveries, "watch", "Follow one until it has ended", options, true)
      ->callback([options, &io, &exit_code] { exit_code = watch_recovery(*options, io); });
  add_recoveries_verb(*recoveries, "cancel", "End one; what was done stays done", options, true)
      ->callback([options, &io, &exit_code] { exit_code = cancel_recovery(*options, io); });
}

}  // namespace holdfast::cli
