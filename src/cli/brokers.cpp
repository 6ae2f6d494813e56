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
#include "wire/json_syntax.hpp"
#include "wire/json_view.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kBrokersExamples = R"(Examples:
  holdfast brokers                       the dead-letter queues of all brokers
  holdfast brokers main                  of one of them
  holdfast brokers main app.dlq          the first messages of a queue
  holdfast brokers --json | jq -r '.queues[] | select(.ready > 0).name'

Brokers are those of the server's configuration, [broker.NAME]. Numbers are as
the broker lists them, some seconds old; IN/S and OUT/S are those between the
server's last two looks. OLDEST is when the first message was published, where
that says so itself and the broker tells it.

To look at messages needs a token that may operate: the broker marks what it
showed as redelivered, and a quorum queue counts one return of each. Where that
could be the end of a message it is refused.

Exit codes: 0 done; 1 it could not be done, or a broker cannot be reached;
2 the command line is wrong.)";

constexpr std::size_t kDeepestSample = 16;

struct BrokersOptions {
  Target target;
  std::string name;
  std::string queue;
  std::size_t limit = 50;
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

void append_groups(std::string& out, const wire::JsonView& sample, const char* member,
                   const char* label, const char* heading) {
  const auto groups = sample.find(member);
  if (!groups || groups->elements().empty()) return;
  out += fmt::format("{}\n", heading);
  for (const wire::JsonView& group : groups->elements()) {
    const std::string name = group.text_of(label);
    out += fmt::format("{:>12}  {}\n", group.text_of("count"),
                       cut(visible(name.empty() ? "unknown" : name), kColumns - 14));
  }
}

std::string sample_for_people(const wire::JsonView& sample, bool colour) {
  std::string out = fmt::format("A sample: the first {} of {} messages\n", sample.text_of("seen"),
                                sample.find("found") ? sample.text_of("found") : "?");
  append_groups(out, sample, "types", "name", "by type");
  append_groups(out, sample, "reasons", "name", "by what they died of");
  append_groups(out, sample, "origins", "name", "by the queue they first died in");
  append_groups(out, sample, "errors", "example", "by error");
  const auto messages = sample.find("messages");
  if (!messages || messages->elements().empty()) return out;
  Table table({"MESSAGE", "TYPE", "BODY"});
  for (const wire::JsonView& message : messages->elements())
    table.add({{cut(message.text_of("id"), 24)},
               {cut(message.text_of("type"), 20)},
               {message.text_of("body")}});
  return out + table.text(colour);
}

int look_at_queue(const BrokersOptions& options, Io& io) {
  const auto server = ServerCalls::open(options.target);
  if (!server) return complain(io, "brokers", server.error());
  const auto answer =
      server->post("look",
                   "/v1/brokers/" + node::percent_encoded(options.name) + "/queues/" +
                       node::percent_encoded(options.queue) + "/sample",
                   fmt::format(R"({{"limit":{}}})", options.limit));
  if (!answer) return complain(io, "brokers", answer.error());
  if (wire::syntax_fault(*answer, kDeepestSample)) {
    return complain(io, "brokers", {ErrorCode::corrupt, "look", "the answer is not JSON"});
  }
  io.out << (options.json ? *answer + '\n' : sample_for_people(wire::JsonView(*answer), io.colour));
  return kDone;
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
  verb->add_option("QUEUE", options->queue, "Look at its first messages")->type_name("");
  verb->add_option("--limit", options->limit, "At so many of them")
      ->option_text("COUNT")
      ->check(CLI::Range(std::size_t{1}, std::size_t{500}).description(""));
  verb->add_flag("--json", options->json, "JSON, one broker a line");
  add_target(*verb, options->target);
  verb->callback([options, &io, &exit_code] {
    exit_code = options->queue.empty() ? run_brokers(*options, io) : look_at_queue(*options, io);
  });
}

}  // namespace holdfast::cli
