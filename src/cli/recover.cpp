// holdfast recover: brings messages back from a dead-letter queue, and loses none of them.
#include "server/recover.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/option_checks.hpp"
#include "cli/recover_output.hpp"
#include "cli/recover_queues.hpp"
#include "cli/verbs.hpp"
#include "config/outside.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "io/map_file.hpp"
#include "server/broker_choice.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kRecoverExamples = R"(Examples:
  holdfast recover --from amqp://localhost/%2f/app.dlq --map map.toml --dry-run
  holdfast recover --from env:DLQ_URL --map map.toml --journal recovery.jsonl
  holdfast recover --from env:DLQ_URL --to-origin=queue --limit 10
  holdfast recover --from env:DLQ_URL --to retry.me --filter 'age>2h' \
      --filter 'error~"timed out"' --rate 100/s
  holdfast recover --from 'amqp://mq/%2f/*.dlq' --to-origin=queue --dry-run
  holdfast recover --from env:DLQ_URL --to-broker amqp://other --to-origin=queue
  holdfast recover --from sqs://eu-west-1/orders-dlq --to-origin=queue

The queue is the last part of the URL; at RabbitMQ after the vhost, whose / is
written %2f. Who you are at SQS is found as other tools of AWS find it.
It may be a pattern, in quotes for the shell: * is any text, ? one character
(in a name they are %2a and %3f). Queues are recovered one after the other;
--limit and --total are those of all of them.
A password on the command line can be seen by everybody on this machine: put
the URL into a variable or a file, and name that (env:NAME, file:PATH).

Where messages go, one of:
  --map FILE    by their type: the header MessageType, else the routing key of
                the newest death. FILE is TOML:
                  [map]
                  CollectionScan = "collection.scan"
                  LibraryScan    = { exchange = "lib", routing_key = "scan" }
  --to-origin   to the exchange and with the routing key of their first death,
                which every queue bound there gets; --to-origin=queue: into the
                queue where they first died, and no other
  --to QUEUE    all of them into one queue
With --to-broker URL they go there instead, to another vhost or another broker:
amqp://host/vhost or sqs://region. What is kept or parked stays where it is.

Filters: NAME, one of = != ~ < > <= >= =~ !~ and a value; ~ is "contains", =~
and !~ take a regular expression (RE2). Join them by and, or, not and
parentheses; of several --filter all must hold. Names: type, id, routing_key,
exchange, queue, reason, error, age, recoveries, body, header.NAME,
json.FIELD.INNER. A value with " and " or " or " in it is best put in quotes:
  --filter 'type=Scan and (age>=2h or not error~"timed out and gone")'

--canary N recovers N messages, waits --canary-wait (30s), and recovers the
rest only if none of the N came back to the queue; else it ends with code 3.

--discard removes what the filters choose instead, after it was written to
--backup FILE (or --no-backup), and asks first (or --yes).

With --backup FILE, whatever leaves the queue is written to that file first,
whole, and is on the disk before its copy is sent. To restore it:
  holdfast recover --from backup:FILE --to-broker amqp://host/%2f --to-origin
with the same targets, filters, --limit, --rate, --dry-run and --journal.

A copy is published first, and the original is removed when the broker has
confirmed that a queue has it: killed at any point, a message is there twice at
worst. What cannot be brought back stays in the queue, or goes to --park. With
--journal, a run after a kill knows what its forerunner has copied.

A quorum queue destroys messages that are returned more often than its delivery
limit. The limit is found out first, with the help of the management API, since
policies show only there. Where no run is safe it is refused, and nothing taken.

Ctrl-C lets what is under way end, and says what was done. A second one ends it
at once, without a summary, and may lose a message of a queue with a limit.

Exit codes: 0 done; 3 something was kept or left; 1 it failed: no connection,
no such queue; 2 the command line is wrong. More: docs/recovery.md)";

struct RecoverOptions {
  std::vector<std::string> from;
  std::string map;
  std::string to;
  std::string to_broker;
  std::string origin;
  std::string exchange;
  std::vector<std::string> filters;
  std::size_t window = recovery::Options().window;
  std::uint64_t limit = 0;
  std::string rate;
  bool dry = false;
  std::string park;
  int max_recoveries = recovery::Rules().max_recoveries;
  std::int64_t renew_at = recovery::Options().renew_at;
  bool persistent = false;
  bool keep_expiration = false;
  std::string management;
  std::string delivery_limit;
  std::string journal;
  std::string backup;
  std::uint64_t canary = 0;
  std::string canary_wait = "30s";
  bool discard = false;
  bool no_backup = false;
  bool yes = false;
  std::string total = "30m";
  std::string idle = "10s";
  std::string empty = "5s";
  std::string stall = "30s";
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::string endpoint;
  bool json = false;
  bool wants_origin = false;
};

// "100/s", "100", "6000/m".
Result<double> parse_message_rate(std::string_view text) {
  double seconds = 1;
  std::string_view number = text;
  if (number.ends_with("/s")) number.remove_suffix(2);
  if (number.ends_with("/m")) {
    number.remove_suffix(2);
    seconds = 60;
  }
  double count = 0;
  const char* const end = number.data() + number.size();
  const auto [at, error] = std::from_chars(number.data(), end, count);
  if (error == std::errc() && at == end && count > 0 && count <= 1e6) return count / seconds;
  return fail(ErrorCode::invalid_argument, "rate",
              holdfast::quoted(text) + R"(: a rate is a number of messages, "100/s" or "6000/m")");
}

std::string check_rate(const std::string& text) {
  const auto rate = parse_message_rate(text);
  return rate ? "" : rate.error().message;
}

std::string check_limit(const std::string& text) {
  if (text == "0") return "0 would take nothing: leave --limit out to take all";
  return text.starts_with('-') ? "a number of messages is not negative" : "";
}

// The URL itself, or what env:NAME or file:PATH stands for.
Result<std::string> resolve_url(const std::string& from) {
  constexpr std::string_view kEnv = "env:";
  constexpr std::string_view kFile = "file:";
  auto& outside = config::system_outside();
  if (from.starts_with(kEnv)) {
    const std::string name = from.substr(kEnv.size());
    auto text = outside.variable(name);
    if (text && !text->empty()) return *std::move(text);
    return fail(ErrorCode::invalid_argument, "recover",
                fmt::format("the environment variable {} is {}", holdfast::quoted(name),
                            text ? "empty" : "not set"));
  }
  if (from.starts_with(kFile)) return outside.secret_file(from.substr(kFile.size()));
  return from;
}

Result<recovery::Routes> routes_of(const RecoverOptions& asked) {
  using To = recovery::Routes::To;
  const int ways =
      (asked.map.empty() ? 0 : 1) + (asked.to.empty() ? 0 : 1) + (asked.wants_origin ? 1 : 0);
  const auto usage = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "usage", std::move(what));
  };
  if (asked.discard && (ways > 0 || !asked.park.empty() || !asked.exchange.empty()))
    return usage(
        "--discard sends messages nowhere: it goes without --map, --to-origin, --to, --park");
  if (asked.discard) return recovery::Routes{.to = To::nowhere};
  if (ways == 0 && !asked.park.empty()) return recovery::Routes{.to = To::review};
  if (ways != 1) {
    return usage(
        "say where messages go: one of --map, --to-origin and --to (or only --park, to move all of "
        "them there as they are)");
  }
  if (!asked.exchange.empty() && asked.map.empty()) {
    return usage("--exchange is where the routing keys of --map go");
  }
  if (!asked.to.empty()) return recovery::Routes{.to = To::queue, .queue = asked.to};
  if (asked.wants_origin) {
    return recovery::Routes{.to = asked.origin == "queue" ? To::origin_queue : To::origin_exchange};
  }
  auto map = io::load_type_map(asked.map, asked.exchange);
  if (!map) return std::unexpected(std::move(map).error());
  return recovery::Routes{.to = To::map, .map = *std::move(map)};
}

constexpr std::string_view kBackupScheme = "backup:";

bool is_backup(const std::string& from) {
  return from.starts_with(kBackupScheme);
}

bool restores_backup(const RecoverOptions& asked) {
  return std::ranges::any_of(asked.from, is_backup);
}

bool names_same_file(const std::string& one, const std::string& other) {
  std::error_code unknown;  // one of them is not there yet
  return one == other || std::filesystem::equivalent(one, other, unknown);
}

// What the file options ask for together.
Result<void> check_files(const RecoverOptions& asked) {
  const auto usage = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "usage", std::move(what));
  };
  const bool restores = restores_backup(asked);
  if (asked.dry && !asked.journal.empty())
    return usage("--journal has no meaning with --dry-run: nothing is recovered");
  if (asked.dry && !asked.backup.empty())
    return usage("--backup has no meaning with --dry-run: nothing leaves the queue");
  if (!asked.backup.empty() && names_same_file(asked.backup, asked.journal))
    return usage("--backup and --journal name the same file");
  if (restores && asked.from.size() > 1)
    return usage("--from backup:FILE stands alone: restore one backup at a time");
  if (restores && asked.from.front() == kBackupScheme)
    return usage("--from backup:FILE names no file");
  if (restores && asked.to_broker.empty())
    return usage("to restore a backup, say to which broker: --to-broker amqp://host/vhost");
  if (restores && !asked.backup.empty())
    return usage("--backup has no meaning with --from backup:FILE: that file stays as it is");
  return {};
}

// What --discard asks for, before anything is removed.
Result<void> check_discard(const RecoverOptions& asked, const Io& io) {
  const auto usage = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "usage", std::move(what));
  };
  if (!asked.discard) {
    if (asked.no_backup) return usage("--no-backup goes with --discard");
    return asked.yes ? usage("--yes goes with --discard") : Result<void>();
  }
  if (restores_backup(asked))
    return usage("--discard is for a queue; to discard a backup, delete its file");
  if (!asked.to_broker.empty())
    return usage("--to-broker says where messages go; --discard sends them nowhere");
  if (asked.no_backup && !asked.backup.empty())
    return usage("say --backup or --no-backup, not both");
  if (asked.dry) return {};
  if (!asked.no_backup && asked.backup.empty()) {
    return usage(
        "what is discarded is gone: write it to a file first (--backup FILE), or say --no-backup; "
        "--dry-run shows what would go");
  }
  if (!asked.yes && !io.in_is_terminal)
    return usage("there is nobody to ask: say --yes, or look first with --dry-run");
  return {};
}

// By the name of the queue, since a "y" is typed too quickly.
bool is_confirmed(const RecoverOptions& asked, const std::string& queue, Io& io) {
  if (!asked.discard || asked.dry || asked.yes) return true;
  io.err << "Messages of queue " << holdfast::quoted(queue) << " will be removed"
         << (asked.backup.empty() ? ", and are kept nowhere" : "")
         << ".\nType its name to go on: " << std::flush;
  std::string typed;
  std::getline(io.in, typed);
  return typed == queue;
}

Result<std::optional<recovery::Canary>> canary_of(const RecoverOptions& asked,
                                                  const recovery::Options& options) {
  const auto usage = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "usage", std::move(what));
  };
  if (asked.canary == 0) return std::nullopt;
  using To = recovery::Routes::To;
  const To to = options.rules.routes.to;
  if (asked.dry) return usage("--canary has no meaning with --dry-run: nothing is recovered");
  if (to == To::nowhere || to == To::review)
    return usage("--canary is for messages that go back to work: with --map, --to-origin or --to");
  if (restores_backup(asked) || !asked.to_broker.empty()) {
    return usage(
        "--canary is for a queue that messages can come back to: not for a backup, and not with "
        "--to-broker");
  }
  return recovery::Canary{.messages = asked.canary,
                          .wait = parse_duration(asked.canary_wait).value_or(Duration())};
}

Result<server::RecoverSettings> settings_of(const RecoverOptions& asked) {
  server::RecoverSettings settings{.broker = {.ca_file = asked.ca_file,
                                              .cert_file = asked.cert_file,
                                              .key_file = asked.key_file,
                                              .management = asked.management,
                                              .management_setting = "The option --management",
                                              .endpoint = asked.endpoint},
                                   .journal = asked.journal,
                                   .backup = asked.backup};
  if (auto checked = check_files(asked); !checked)
    return std::unexpected(std::move(checked).error());
  if (restores_backup(asked)) settings.restore = asked.from.front().substr(kBackupScheme.size());
  recovery::Options& options = settings.options;
  auto routes = routes_of(asked);
  if (!routes) return std::unexpected(std::move(routes).error());
  options.rules.routes = *std::move(routes);
  auto filter = recovery::Filter::parse(asked.filters);
  if (!filter) return std::unexpected(std::move(filter).error());
  options.rules.filter = *std::move(filter);
  options.rules.max_recoveries = asked.max_recoveries;
  options.window = asked.window;
  if (asked.limit > 0) options.limit = asked.limit;
  if (!asked.rate.empty()) options.rate = parse_message_rate(asked.rate).value_or(0);
  options.dry = asked.dry;
  options.park = asked.park;
  options.persistent = asked.persistent;
  options.keep_expiration = asked.keep_expiration;
  auto limit = recovery::parse_stated_limit(asked.delivery_limit);
  if (!limit) return std::unexpected(std::move(limit).error());
  options.delivery_limit = *limit;
  options.renew_at = asked.renew_at;
  if (auto canary = canary_of(asked, options); !canary) {
    return std::unexpected(std::move(canary).error());
  } else {
    settings.canary = *canary;
  }
  options.limits = {.total = parse_duration(asked.total).value_or(Duration()),
                    .idle = parse_duration(asked.idle).value_or(Duration()),
                    .empty = parse_duration(asked.empty).value_or(Duration()),
                    .stall = parse_duration(asked.stall).value_or(Duration())};
  return settings;
}

int run_recover(const RecoverOptions& asked, Io& io) {
  const auto complain = [&](const Error& error, int code) {
    io.err << "holdfast recover: " << error.message << '\n';
    return code;
  };
  if (const auto checked = check_discard(asked, io); !checked)
    return complain(checked.error(), kUsage);
  auto settings = settings_of(asked);
  if (!settings) {
    const bool usage = settings.error().code == ErrorCode::invalid_argument;
    return complain(settings.error(), usage ? kUsage : kFailed);
  }
  const bool restores = !settings->restore.empty();
  std::vector<std::string> urls;
  for (const std::string& from : restores ? std::vector{asked.to_broker} : asked.from) {
    auto url = resolve_url(from);
    if (!url) return complain(url.error(), kUsage);
    urls.push_back(*std::move(url));
  }
  if (!restores && !asked.to_broker.empty()) {
    auto url = resolve_url(asked.to_broker);
    if (!url) return complain(url.error(), kUsage);
    if (const auto to = server::broker_place(*url, false); !to) return complain(to.error(), kUsage);
    settings->to_broker = *std::move(url);
  }
  const auto is_tls = [](const std::string& url) { return url.starts_with("amqps://"); };
  if (!asked.cert_file.empty() && std::ranges::none_of(urls, is_tls) &&
      !is_tls(settings->to_broker)) {
    return complain({ErrorCode::invalid_argument, "usage", "--cert is for amqps://"}, kUsage);
  }
  const auto several = restores ? false : are_several(urls);
  if (!several) return complain(several.error(), kUsage);
  if (*several) {
    if (asked.discard && !asked.dry && !asked.yes)
      return complain({ErrorCode::invalid_argument, "usage",
                       "to discard from several queues, say --yes; --dry-run shows what would go"},
                      kUsage);
    return recover_queues(
        {.urls = std::move(urls), .settings = *std::move(settings), .json = asked.json}, io);
  }
  settings->broker.url = std::move(urls.front());
  const auto place = server::place_of(*settings);
  if (!place) return complain(place.error(), kUsage);
  if (const auto checked = server::check(*settings); !checked)
    return complain(checked.error(), kUsage);
  const auto broker = server::broker_place(settings->broker.url, !restores);
  if (!is_confirmed(asked, broker ? broker->queue : "", io)) {
    io.err << "Nothing was changed.\n";
    return kFailed;
  }
  RecoverProgress progress(io, {.dry = asked.dry, .restores = restores, .discards = asked.discard});
  const auto outcome =
      server::recover(*std::move(settings), {.observer = progress, .hears_signals = true});
  progress.wipe();
  if (!outcome) {
    const bool early = outcome.error().code == ErrorCode::canceled;
    return complain(outcome.error(), early ? kKept : kFailed);
  }
  const recovery::Summary& summary = outcome->summary;
  if (summary.error) {
    io.err << "holdfast recover: " << summary.error->message << '\n';
  }
  if (asked.json) {
    io.out << recover_json(*outcome, *place);
  } else if (summary.ended == recovery::Ended::failed && !summary.did_anything()) {
    // The error has said it all.
  } else if (asked.dry) {
    io.out << recover_plan(*outcome, *place);
  } else if (summary.found) {
    io.out << recover_summary(summary, *place);
  }
  if (!io.out.flush()) {
    io.err << "holdfast recover: cannot write to standard output\n";
    return kFailed;
  }
  return exit_code_of(summary);
}

void add_limits(CLI::App& verb, RecoverOptions& asked) {
  const auto span = [&](const char* name, std::string& value, const char* what) {
    verb.add_option(name, value, what)
        ->type_name("TIME")
        ->check(CLI::Validator(check_duration, ""))
        ->capture_default_str()
        ->group("When it ends");
  };
  span("--total", asked.total, "After so long, whatever is left");
  span("--idle", asked.idle, "Without a message for so long");
  span("--empty", asked.empty, "When the queue was empty for so long");
  span("--stall", asked.stall, "Without progress for so long");
  verb.add_option("--limit", asked.limit, "After so many messages, recovered or kept")
      ->type_name("N")
      ->check(CLI::Validator(check_limit, ""))
      ->group("When it ends");
}

void add_ways(CLI::App& verb, RecoverOptions& asked) {
  verb.add_option("--from", asked.from, "Queue or pattern, repeatable; or backup:FILE")
      ->type_name("URL")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->required();
  verb.add_option("--map", asked.map, "Where types go")->type_name("FILE");
  CLI::Option* origin = verb.add_option("--to-origin", asked.origin, "Back to where they came from")
                            ->type_name("[exchange|queue]")
                            ->expected(0, 1)
                            ->check(CLI::IsMember({"exchange", "queue"}).description(""));
  verb.parse_complete_callback([&asked, origin] { asked.wants_origin = origin->count() > 0; });
  verb.add_option("--to", asked.to, "All into one queue")->type_name("QUEUE");
  verb.add_option("--to-broker", asked.to_broker, "Another vhost or broker that they go to")
      ->type_name("URL");
  verb.add_option("--exchange", asked.exchange, "Exchange of map entries that name none")
      ->type_name("NAME");
  verb.add_option("--filter", asked.filters, "Only what meets it; may be repeated")
      ->type_name("EXPR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--park", asked.park, "Publish kept messages there, confirmed")
      ->type_name("QUEUE");
}

}  // namespace

void add_recover(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("recover", "Bring a broker's dead-letter queue back");
  verb->footer(kRecoverExamples);
  const auto asked = std::make_shared<RecoverOptions>();
  add_ways(*verb, *asked);
  verb->add_flag("--dry-run", asked->dry, "Show what would go where, and send nothing");
  verb->add_option("--window", asked->window, "Most under way at once; 1: one at a time")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{60'000}).description(""))
      ->capture_default_str();
  verb->add_option("--rate", asked->rate, "Most messages a second (100/s) or minute")
      ->type_name("N/s")
      ->check(CLI::Validator(check_rate, ""));
  verb->add_option("--max-recoveries", asked->max_recoveries,
                   "Keep messages recovered N times already")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str();
  verb->add_option("--renew-at", asked->renew_at, "After N returns, a kept message is renewed")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}).description(""))
      ->capture_default_str();
  verb->add_flag("--persistent", asked->persistent, "Make every copy persistent");
  verb->add_flag("--keep-expiration", asked->keep_expiration,
                 "Copies expire as their originals did; else never");
  verb->add_option("--management", asked->management,
                   "RabbitMQ's management API (http://HOST:15672)")
      ->type_name("URL");
  verb->add_option("--delivery-limit", asked->delivery_limit,
                   "Of a quorum queue, if that API cannot say")
      ->type_name("N|none");
  verb->add_option("--journal", asked->journal, "Write down each message's fate; continues a file")
      ->type_name("FILE");
  verb->add_option("--canary", asked->canary, "N messages first; the rest if none comes back")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}).description(""));
  verb->add_option("--canary-wait", asked->canary_wait, "How long to wait whether they come back")
      ->type_name("TIME")
      ->check(CLI::Validator(check_duration, ""))
      ->capture_default_str();
  verb->add_flag("--discard", asked->discard, "Remove what is chosen, and send it nowhere");
  verb->add_flag("--no-backup", asked->no_backup, "Of --discard: keep it nowhere");
  verb->add_flag("--yes", asked->yes, "Of --discard: do not ask");
  verb->add_option("--backup", asked->backup, "Write all that leaves the queue there first")
      ->type_name("FILE");
  add_limits(*verb, *asked);
  verb->add_option("--ca", asked->ca_file, "Trust these authorities (amqps)")->type_name("FILE");
  CLI::Option* certificate =
      verb->add_option("--cert", asked->cert_file, "Certificate by which brokers know us (amqps)")
          ->type_name("FILE");
  verb->add_option("--key", asked->key_file, "Its key, if that is in another file")
      ->type_name("FILE")
      ->needs(certificate);
  verb->add_option("--endpoint", asked->endpoint, "Where SQS is, if not at AWS")->type_name("URL");
  verb->add_flag("--json", asked->json, "One JSON object at the end");
  verb->callback([asked, &io, &exit_code] { exit_code = run_recover(*asked, io); });
}

}  // namespace holdfast::cli
