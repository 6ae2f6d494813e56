// holdfast bench: what this machine and its disk can do.
#include "node/bench.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/bench_output.hpp"
#include "cli/bench_part.hpp"
#include "cli/bench_store.hpp"
#include "cli/folder.hpp"
#include "cli/verbs.hpp"
#include "core/json_text.hpp"
#include "io/resident_memory.hpp"
#include "server/bench.hpp"
#include "server/carrying.hpp"

namespace holdfast::cli {
namespace {

namespace bench = node::bench;
using Figure = BenchFigure;

constexpr const char* kBenchExamples = R"(Examples:
  holdfast bench
  holdfast bench latency --rate 200 --seconds 30
  holdfast bench --folder /mnt/ssd --json
  holdfast bench failures --check && echo fast enough
  holdfast bench --http
  holdfast bench --broker amqp://guest:guest@127.0.0.1/
  holdfast bench --store redis://127.0.0.1:6379 --concurrency 200

Parts:
  throughput  tasks in batches, from their submit until they are done
  latency     tasks one by one at a steady rate, from submit to done
  failures    tasks that fail three times, until they are dead letters
  memory      of an idle worker, and of one with a great many tasks waiting

With --broker, of throughput, latency and failures: the same with RabbitMQ as
carrier, beside the embedded store. Uses its queues holdfast.bench and
holdfast.bench.dlq, which stay there, and holdfast.bench.retry.*.

With --store, on that store: enqueue (while nobody works), process (a full queue),
and throughput, latency, failures and memory. On Redis those who submit and those
who work are processes of their own, in a space of their own, which is removed at
the end; for sqlite: the files go to --folder, and the file that is named is left
alone.

Parts of --http, over loopback:
  submits     requests with one task each
  arrays      requests with 100 tasks each
  webhooks    tasks that a webhook runs, from submit to done
  slow        2,000 webhooks at once that take a second each

Everything is durable: each batch is synced to the disk before it is answered.
The handler does nothing, so the figures are Holdfast's own. Each part is a
process of its own; all of them take about a minute. The files are removed at
the end, and on Ctrl-C.

Exit codes: 0 measured, also where a target is missed; 1 it could not be
measured, or with --check a target is missed; 2 the command line is wrong.)";

// Of --store, unless said otherwise: over a network fewer are enough to tell, and more are under
// way at once.
constexpr std::size_t kStoreTasks = 100'000;
constexpr std::size_t kStoreConcurrency = 200;

struct BenchOptions {
  bench::Options options;
  std::string folder = ".";
  std::vector<std::string> only;
  double seconds = 10;
  bool http = false;
  std::string broker;
  std::string store;
  std::size_t workers = 1;
  server::bench::Options over_http = {};
  bool check = false;
  bool json = false;
};

class Bench {
 public:
  Bench(const BenchOptions& asked, Io& io, const Folder& folder, const io::HeldSignals& signals)
      : asked_(asked), io_(io), folder_(folder), signals_(signals) {}

  // False: a measurement could not be made; said already, unless a signal has ended it.
  bool run() {
    if (!asked_.store.empty()) return store();
    if (asked_.http) {
      return (!wanted("submits") || submits()) && (!wanted("arrays") || arrays()) &&
             (!wanted("webhooks") || webhooks()) && (!wanted("slow") || slow());
    }
    if (!asked_.broker.empty()) {
      return (!wanted("throughput") || beside("throughput")) &&
             (!wanted("latency") || beside("latency")) &&
             (!wanted("failures") || beside("failures"));
    }
    return (!wanted("throughput") || throughput()) && (!wanted("latency") || latency()) &&
           (!wanted("failures") || failures()) && (!wanted("memory") || memory());
  }

  [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }

 private:
  [[nodiscard]] bool wanted(std::string_view name) const {
    return asked_.only.empty() || std::ranges::find(asked_.only, name) != asked_.only.end();
  }

  [[nodiscard]] bench::Options options(std::string_view name) const {
    bench::Options options = asked_.options;
    options.url = fmt::format("sqlite:{}/{}.db", folder_.path(), name);
    options.progress = progress_of(name, io_);
    return options;
  }

  template <class Measure>
  std::optional<std::vector<double>> apart(Measure measure) {
    return measure_apart(measure, io_, signals_);
  }

  void add(Figure figure) { figures_.push_back(figure); }

  bool store() {
    StoreBench chosen{.options = {},
                      .folder = folder_.path(),
                      .wanted = [this](std::string_view part) { return wanted(part); }};
    static_cast<bench::Options&>(chosen.options) = asked_.options;
    chosen.options.url = asked_.store;
    chosen.options.workers = asked_.workers;
    auto measured = measure_store(chosen, io_, signals_);
    if (!measured) return false;
    figures_ = *std::move(measured);
    return true;
  }

  bool throughput() {
    const bench::Options chosen = options("throughput");
    const auto numbers = apart([&]() -> Result<std::vector<double>> {
      const auto measured = bench::throughput(chosen);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{measured->enqueued_per_s, measured->done_per_s};
    });
    if (!numbers) return false;
    add({"enqueued_per_s", "enqueued, while others run", numbers->at(0), "tasks/s"});
    add({"done_per_s", "enqueue to done, in batches", numbers->at(1), "tasks/s", 100'000});
    return true;
  }

  bool latency() {
    const bench::Options chosen = options("latency");
    const auto numbers = apart([&]() -> Result<std::vector<double>> {
      const auto measured = bench::latency(chosen);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{measured->p50_ms, measured->p99_ms, measured->most_ms,
                         measured->done_per_s};
    });
    if (!numbers) return false;
    add({"steady_per_s", "one by one, at a steady rate", numbers->at(3), "tasks/s"});
    add({"p50_ms", "  enqueue to done, median", numbers->at(0), "ms", 1.5, false});
    add({"p99_ms", "  99 of 100", numbers->at(1), "ms", 8, false});
    add({"max_ms", "  the slowest", numbers->at(2), "ms"});
    return true;
  }

  bool failures() {
    const bench::Options chosen = options("failures");
    const auto numbers = apart([&]() -> Result<std::vector<double>> {
      const auto measured = bench::failures(chosen);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{*measured};
    });
    if (!numbers) return false;
    add({"dead_per_s", "fail 3 times, to dead letter", numbers->at(0), "tasks/s", 20'000});
    return true;
  }

  bool memory() {
    const auto ours = io::FilePages::of_this_process();
    const bench::Options idle = options("idle");
    const auto idle_mb = apart([&]() -> Result<std::vector<double>> {
      const auto measured = bench::idle_mb(idle);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{ours.with_ours(*measured)};
    });
    if (!idle_mb) return false;
    add({"idle_mb", "memory of an idle worker", idle_mb->at(0), "MB", 30, false});
    const bench::Options full = options("waiting");
    const auto filled = apart([&]() -> Result<std::vector<double>> {
      const auto done = bench::fill(full);
      if (!done) return std::unexpected(done.error());
      return std::vector<double>();
    });
    if (!filled) return false;
    const auto numbers = apart([&]() -> Result<std::vector<double>> {
      const auto measured = bench::start(full);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{measured->seconds, ours.with_ours(measured->mb)};
    });
    if (!numbers) return false;
    add({"start_s", "start with all waiting", numbers->at(0), "s", 2, false});
    add({"waiting_mb", "memory with all waiting", numbers->at(1), "MB", 150, false});
    return true;
  }

  // A part once more, with a broker as the carrier.
  bool beside(std::string_view part) {
    for (const bool carried : {false, true}) {
      const std::string name = std::string(part) + (carried ? "-carried" : "");
      bench::Options chosen = options(name);
      if (carried) {
        chosen.carry = [url = asked_.broker](ports::Loop& loop, const std::string& queue) {
          return server::carriage_at(url, queue, loop);
        };
      }
      const auto numbers = apart([&]() -> Result<std::vector<double>> {
        if (part == "failures") {
          const auto measured = bench::failures(chosen);
          if (!measured) return std::unexpected(measured.error());
          return std::vector{*measured};
        }
        if (part == "latency") {
          const auto measured = bench::latency(chosen);
          if (!measured) return std::unexpected(measured.error());
          return std::vector{measured->p50_ms, measured->p99_ms};
        }
        const auto measured = bench::throughput(chosen);
        if (!measured) return std::unexpected(measured.error());
        return std::vector{measured->done_per_s};
      });
      if (!numbers) return false;
      add_beside(part, carried, *numbers);
    }
    return true;
  }

  void add_beside(std::string_view part, bool carried, const std::vector<double>& numbers) {
    if (part == "throughput") {
      return carried ? add({"carried_done_per_s", "  carried by RabbitMQ", numbers[0], "tasks/s"})
                     : add({"done_per_s", "enqueue to done, in batches", numbers[0], "tasks/s"});
    }
    if (part == "failures") {
      return carried ? add({"carried_dead_per_s", "  carried by RabbitMQ", numbers[0], "tasks/s"})
                     : add({"dead_per_s", "fail 3 times, to dead letter", numbers[0], "tasks/s"});
    }
    add(carried ? Figure{"carried_p50_ms", "  carried by RabbitMQ, median", numbers[0], "ms"}
                : Figure{"p50_ms", "at a steady rate, median", numbers[0], "ms"});
    add(carried ? Figure{"carried_p99_ms", "    99 of 100", numbers[1], "ms"}
                : Figure{"p99_ms", "  99 of 100", numbers[1], "ms"});
  }

  // One figure of the server.
  bool over_http(std::string_view name, Result<double> (*measure)(const server::bench::Options&),
                 Figure figure) {
    const server::bench::Options chosen = http_options(name);
    const auto numbers = apart([&]() -> Result<std::vector<double>> {
      const auto measured = measure(chosen);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{*measured};
    });
    if (!numbers) return false;
    figure.value = numbers->at(0);
    add(figure);
    return true;
  }

  [[nodiscard]] server::bench::Options http_options(std::string_view name) const {
    server::bench::Options chosen = asked_.over_http;
    const bench::Options common = options(name);
    chosen.url = common.url;
    chosen.payload_bytes = common.payload_bytes;
    chosen.progress = common.progress;
    return chosen;
  }

  bool submits() {
    return over_http("submits", server::bench::submits,
                     {"http_submits_per_s", "one task to a request", 0, "requests/s", 15'000});
  }

  bool arrays() {
    return over_http("arrays", server::bench::arrays,
                     {"http_arrays_per_s", "100 tasks to a request", 0, "tasks/s", 60'000});
  }

  bool webhooks() {
    return over_http("webhooks", server::bench::webhooks,
                     {"webhooks_per_s", "webhooks, submit to done", 0, "tasks/s", 8'000});
  }

  bool slow() {
    const server::bench::Options chosen = http_options("slow");
    const auto numbers = apart([&]() -> Result<std::vector<double>> {
      const auto measured = server::bench::slow_webhooks(chosen);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{measured->at_once, measured->mb};
    });
    if (!numbers) return false;
    add({"slow_at_once", "slow webhooks at once", numbers->at(0), "", 2'000});
    add({"slow_mb", "  memory of the server", numbers->at(1), "MB", 120, false});
    return true;
  }

  const BenchOptions& asked_;
  Io& io_;
  const Folder& folder_;
  const io::HeldSignals& signals_;
  std::vector<Figure> figures_;
};

int run_bench(BenchOptions asked, Io& io) {
  asked.options.steady =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(asked.seconds));
  const io::HeldSignals signals;  // outlives the folder, which is to be removed first
  const Folder folder(asked.folder, "bench");
  if (!folder.made()) {
    io.err << fmt::format("holdfast bench: cannot make a folder in {}; choose one with --folder\n",
                          holdfast::quoted(asked.folder));
    return kFailed;
  }
  Bench bench(asked, io, folder, signals);
  if (!bench.run()) return kFailed;
  if (asked.json) {
    print_bench_json(io.out, asked.options, bench.figures());
  } else {
    print_bench_table(io.out, bench.figures());
  }
  if (!io.out.flush()) {
    io.err << "holdfast bench: cannot write to standard output\n";
    return kFailed;
  }
  const bool missed = std::ranges::any_of(bench.figures(), &Figure::missed);
  return asked.check && missed ? kFailed : kDone;
}

}  // namespace

void add_bench(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("bench", "Measure what the embedded store can do here");
  verb->footer(kBenchExamples);
  const auto asked = std::make_shared<BenchOptions>();
  bench::Options& options = asked->options;
  const auto number = [&](const char* name, auto& value, const char* what, auto least, auto most) {
    return verb->add_option(name, value, what)
        ->type_name("N")
        ->check(CLI::Range(least, most).description(""))
        ->capture_default_str();
  };
  verb->add_option("PART", asked->only, "Parts to measure (below); default: all")
      ->type_name("")
      ->check(CLI::IsMember({"throughput", "latency", "failures", "memory", "enqueue", "process",
                             "submits", "arrays", "webhooks", "slow"})
                  .description(""));
  constexpr int kMostTasks = 1'000'000'000;
  const CLI::Option* const tasks =
      number("--tasks", options.tasks, "Tasks of throughput", 1, kMostTasks);
  number("--batch", options.batch, "Tasks in one submit, but of latency", 1, 100'000);
  number("--producers", options.producers, "Threads that submit, of throughput and failures", 1,
         64);
  number("--threads", options.threads, "Threads that run handlers", 1, 256);
  const CLI::Option* const concurrency = number(
      "--concurrency", options.concurrency, "Tasks under way at once; 0: as threads", 0, 10'000);
  number("--payload", options.payload_bytes, "Bytes in each task", 0, 1 << 20);
  number("--rate", options.rate, "Tasks a second, of latency", 1, 100'000);
  number("--seconds", asked->seconds, "How long, of latency", 0.1, 3600.0);
  number("--failing", options.failing, "Tasks of failures", 1, kMostTasks);
  number("--waiting", options.waiting, "Tasks that wait, of memory", 1, kMostTasks);
  verb->add_option("--folder", asked->folder, "Where its files go: on the disk to measure")
      ->type_name("FOLDER")
      ->capture_default_str();
  verb->add_flag("--http", asked->http, "Measure the server instead");
  verb->add_option("--broker", asked->broker, "Measure with this RabbitMQ, too")->type_name("URL");
  verb->add_option("--store", asked->store, "Measure on this store, with parts of its own")
      ->type_name("URL");
  number("--workers", asked->workers, "Processes that work, of --store on Redis", 1, 64);
  number("--requests", asked->over_http.requests, "Requests of submits", 1, kMostTasks);
  number("--connections", asked->over_http.connections, "That send them", 1, 10'000);
  number("--hooks", asked->over_http.hooks, "Tasks of webhooks", 1, kMostTasks);
  verb->add_flag("--check", asked->check, "End with 1 if a target is missed; default: 0");
  verb->add_flag("--json", asked->json, "One JSON object");
  verb->callback([=, &io, &exit_code] {
    if (!asked->store.empty()) {
      if (tasks->count() == 0) asked->options.tasks = kStoreTasks;
      if (concurrency->count() == 0) asked->options.concurrency = kStoreConcurrency;
    }
    exit_code = run_bench(*asked, io);
  });
}

}  // namespace holdfast::cli
