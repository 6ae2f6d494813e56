#include "node/bench.hpp"

#include <chrono>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/verbs.hpp"
#include "core/json_text.hpp"
#include "io/apart.hpp"

namespace holdfast::cli {
namespace {

namespace bench = node::bench;

struct Asked {
  bench::Options options;
  std::string folder = ".";
  std::vector<std::string> only;
  double seconds = 10;
  bool json = false;
};

// One figure: what, how much, and what it has to be.
struct Figure {
  std::string_view key;
  std::string_view what;
  double value = 0;
  std::string_view unit;
  double target = 0;  // 0: none
  bool least = true;  // the target is a least value, not a most one

  [[nodiscard]] bool met() const {
    return target == 0 || (least ? value >= target : value <= target);
  }
};

// A folder for the files of one run, removed with it.
class Folder {
 public:
  explicit Folder(const std::filesystem::path& parent) {
    std::string name = (parent / "holdfast-bench-XXXXXX").string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] bool made() const { return !path_.empty(); }
  [[nodiscard]] std::string url(std::string_view name) const {
    return fmt::format("sqlite:{}/{}.db", path_.string(), name);
  }

 private:
  std::filesystem::path path_;
};

class Bench {
 public:
  Bench(const Asked& asked, Io& io, const Folder& folder)
      : asked_(asked), io_(io), folder_(folder) {}

  // False: a measurement could not be made; said already.
  bool run() {
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
    options.url = folder_.url(name);
    if (!asked_.json && ::isatty(STDERR_FILENO) == 1) {
      options.progress = [name = std::string(name)](double part) {
        fmt::print(stderr, "\r{:<12} {:>3.0f} %", name, part * 100);
      };
    }
    return options;
  }

  template <class Measure>
  std::optional<std::vector<double>> apart(Measure measure) {
    auto numbers = io::run_apart(measure);
    if (!asked_.json && ::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r{:20}\r", "");
    if (numbers) return *std::move(numbers);
    io_.err << fmt::format("holdfast bench: {}\n", numbers.error().message);
    return std::nullopt;
  }

  void add(Figure figure) { figures_.push_back(figure); }

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
    const bench::Options idle = options("idle");
    const auto idle_mb = apart([&]() -> Result<std::vector<double>> {
      const auto measured = bench::idle_mb(idle);
      if (!measured) return std::unexpected(measured.error());
      return std::vector{*measured};
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
      return std::vector{measured->seconds, measured->mb};
    });
    if (!numbers) return false;
    add({"start_s", "start with all waiting", numbers->at(0), "s", 2, false});
    add({"waiting_mb", "memory with all waiting", numbers->at(1), "MB", 150, false});
    return true;
  }

  const Asked& asked_;
  Io& io_;
  const Folder& folder_;
  std::vector<Figure> figures_;
};

std::string number(double value) {
  if (value < 100) return fmt::format("{:.2f}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

void print_table(std::ostream& out, const std::vector<Figure>& figures) {
  out << fmt::format("{:<30} {:>12} {:<8} {}\n", "", "measured", "", "to reach");
  for (const Figure& figure : figures) {
    std::string target;
    if (figure.target != 0) {
      target = fmt::format("{} {}{}", figure.least ? "≥" : "≤", number(figure.target),
                           figure.met() ? "" : "   MISSED");
    }
    out << fmt::format("{:<30} {:>12} {:<8} {}\n", figure.what, number(figure.value), figure.unit,
                       target);
  }
}

void print_json(std::ostream& out, const Asked& asked, const std::vector<Figure>& figures) {
  out << fmt::format(R"({{"tasks":{},"batch":{},"payload_bytes":{},"figures":{{)",
                     asked.options.tasks, asked.options.batch, asked.options.payload_bytes);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    out << fmt::format(R"({}"{}":{{"value":{:.3f},"unit":"{}","met":{}}})", i == 0 ? "" : ",",
                       figures[i].key, figures[i].value, figures[i].unit, figures[i].met());
  }
  out << "}}\n";
}

int run_bench(Asked asked, Io& io) {
  asked.options.steady =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(asked.seconds));
  const Folder folder(asked.folder);
  if (!folder.made()) {
    io.err << fmt::format("holdfast bench: cannot make a folder in {}; choose one with --folder\n",
                          holdfast::quoted(asked.folder));
    return kFailed;
  }
  Bench bench(asked, io, folder);
  if (!bench.run()) return kFailed;
  if (asked.json) {
    print_json(io.out, asked, bench.figures());
  } else {
    print_table(io.out, bench.figures());
  }
  return kDone;
}

}  // namespace

void add_bench(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("bench", "Measure what the embedded store can do here");
  const auto asked = std::make_shared<Asked>();
  bench::Options& options = asked->options;
  verb->add_option("what", asked->only, "throughput, latency, failures, memory; all of them")
      ->check(CLI::IsMember({"throughput", "latency", "failures", "memory"}));
  verb->add_option("--tasks", options.tasks, "tasks of throughput")->capture_default_str();
  verb->add_option("--batch", options.batch, "tasks in one submit")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb->add_option("--producers", options.producers, "threads that submit")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--threads", options.threads, "threads that run handlers")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  verb->add_option("--payload", options.payload_bytes, "bytes in each task")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  verb->add_option("--rate", options.rate, "tasks a second, of latency")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb->add_option("--seconds", asked->seconds, "how long, of latency")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  verb->add_option("--failing", options.failing, "tasks of failures")->capture_default_str();
  verb->add_option("--waiting", options.waiting, "tasks that wait, of memory")
      ->capture_default_str();
  verb->add_option("--folder", asked->folder,
                   "where its files go meanwhile: on the disk to measure")
      ->capture_default_str();
  verb->add_flag("--json", asked->json, "one JSON object");
  verb->footer(
      "Everything is durable: each batch is synced to the disk before it is answered. The handler\n"
      "does nothing, so the figures are Holdfast's own. Each measurement is a process of its own.\n"
      "\n"
      "  holdfast bench                           all of it, about a minute\n"
      "  holdfast bench latency --rate 200        one part, with other numbers\n"
      "  holdfast bench --folder /mnt/ssd --json  another disk; for a program to read");
  verb->callback([asked, &io, &exit_code] { exit_code = run_bench(*asked, io); });
}

}  // namespace holdfast::cli
