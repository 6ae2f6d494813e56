// holdfast brokers: the dead-letter queues of a server's brokers.
#include <cmath>
#include <memory>
#include <ostream>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/server_calls.hpp"
#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "cli/verbs.hpp"
#include "wire/broker_json.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kBrokersExamples = R"(Examples:
  holdfast brokers                       the dead-letter queues of all brokers
  holdfast brokers main                  of one of them
  holdfast brokers --json | jq -r '.queues[] | select(.ready > 0).name'

Brokers are those of the server's configuration, [broker.NAME]. Numbers are as
the broker lists them, some seconds old; IN/S and OUT/S are those between the
server's last two looks. OLDEST is when the first message was published, where
that says so itself and the broker tells it.

Exit codes: 0 done; 1 it could not be done, or a broker cannot be reached;
2 the command line is wrong.)";

struct BrokersOptions {
  Target target;
  std::string name;
  bool json = false;
};

std::string number_text(const std::optional<std::uint64_t>& number) {
  return number ? grouped(*number) : "?";
}

std::string rate_text(const std::optional<double>& rate) {
  if (!rate) return "";
  return *rate > 0 && *rate < 10 ? fmt::format("{:.1f}", *rate)
                                 : grouped(static_cast<std::uint64_t>(std::llround(*rate)));
}

void show_broker(const wire::BrokerInfo& broker, WallTime now, Io& io) {
  io.out << visible(fmt::format("{}  {}", broker.name, broker.url)) << '\n';
  const std::string since = broker.since ? " since " + full_time(*broker.since, now) : "";
  if (!broker.reachable.value_or(true)) {
    std::string text;
    append_wrapped(text, "cannot be listed" + since + ": " + visible(broker.error), 2);
    io.out << toned(text, Tone::bad, io.colour);
  } else if (!broker.reachable) {
    io.out << "  has not answered yet\n";
  }
  if (broker.queues.empty()) {
    if (broker.looked)
      io.out << "  no queue matches " << fmt::format("{}", visible(broker.patterns.front()))
             << (broker.patterns.size() > 1 ? " or the other patterns\n" : "\n");
    return;
  }
  Table table({"QUEUE", "KIND", "READY", "UNACKED", "IN/S", "OUT/S", "OLDEST", "NOTE"});
  for (const wire::BrokerQueue& queue : broker.queues) {
    std::string note = queue.recovery.empty() ? "" : "being recovered";
    if (queue.delivery_limit) {
      note += fmt::format("{}delivery limit {}", note.empty() ? "" : ", ", *queue.delivery_limit);
    }
    table.add({{cut(queue.name, 24)},
               {queue.kind},
               {number_text(queue.ready), queue.ready.value_or(0) > 0 ? Tone::bad : Tone::plain},
               {number_text(queue.unacknowledged)},
               {queue.rates ? rate_text(queue.rates->in) : ""},
               {queue.rates ? rate_text(queue.rates->out) : ""},
               {queue.oldest_published ? relative_time(*queue.oldest_published, now) : ""},
               {note}});
  }
  io.out << table.text(io.colour);
}

Result<std::vector<wire::BrokerInfo>> ask_brokers(const BrokersOptions& options) {
  auto server = ServerCalls::open(options.target);
  if (!server) return std::unexpected(std::move(server).error());
  std::vector<std::string> names;
  if (!options.name.empty()) {
    names.push_back(options.name);
  } else {
    const auto answer = server->get("brokers", "/v1/brokers");
    if (!answer) return std::unexpected(answer.error());
    const auto list = wire::read_brokers(*answer);
    if (!list) return std::unexpected(list.error());
    for (const wire::BrokerInfo& broker : list->brokers)
      names.push_back(broker.name);
  }
  std::vector<wire::BrokerInfo> all;
  for (const std::string& name : names) {
    const auto answer =
        server->get("brokers", "/v1/brokers/" + node::percent_encoded(name) + "/queues");
    if (!answer) return std::unexpected(answer.error());
    auto broker = wire::read_broker(*answer);
    if (!broker) return std::unexpected(std::move(broker).error());
    all.push_back(*std::move(broker));
  }
  return all;
}

int run_brokers(const BrokersOptions& options, Io& io) {
  const auto brokers = ask_brokers(options);
  if (!brokers) return complain(io, "brokers", brokers.error());
  bool all_reachable = true;
  const char* between = "";
  for (const wire::BrokerInfo& broker : *brokers) {
    all_reachable = all_reachable && broker.reachable.value_or(true);
    if (options.json) {
      io.out << json_line([&](wire::JsonWriter& writer) { write(writer, broker); });
      continue;
    }
    io.out << std::exchange(between, "\n");
    show_broker(broker, system_clock().wall_now(), io);
  }
  if (brokers->empty() && !options.json) {
    io.out << "No broker is configured: [broker.NAME] in the server's configuration.\n";
  }
  return all_reachable ? kDone : kFailed;
}

}  // namespace

void add_brokers(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("brokers", "Dead-letter queues of the server's brokers");
  verb->footer(kBrokersExamples);
  const auto options = std::make_shared<BrokersOptions>();
  verb->add_option("NAME", options->name, "Of one broker")->type_name("");
  verb->add_flag("--json", options->json, "JSON, one broker a line");
  add_target(*verb, options->target);
  verb->callback([options, &io, &exit_code] { exit_code = run_brokers(*options, io); });
}

}  // namespace holdfast::cli
