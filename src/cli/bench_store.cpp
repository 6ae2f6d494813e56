#include "cli/bench_store.hpp"

#include <utility>

#include "cli/bench_part.hpp"
#include "io/resident_memory.hpp"
#include "node/bench_place.hpp"

namespace holdfast::cli {
namespace {

namespace store_bench = node::store_bench;
using Numbers = std::vector<double>;

class Measuring {
 public:
  Measuring(const StoreBench& asked, Io& io, const io::HeldSignals& signals)
      : asked_(asked), io_(io), signals_(signals) {}

  bool run() {
    return (!wanted("enqueue") || enqueue()) && (!wanted("process") || process()) &&
           (!wanted("throughput") || throughput()) && (!wanted("latency") || latency()) &&
           (!wanted("failures") || failures()) && (!wanted("memory") || memory());
  }

  std::vector<BenchFigure> take_figures() { return std::move(figures_); }

 private:
  [[nodiscard]] bool wanted(std::string_view part) const { return asked_.wanted(part); }
  void add(BenchFigure figure) { figures_.push_back(figure); }

  // What `measure` finds in a place of its own, and with `weigh` what the server holds more than
  // before, which is -1 where there is none.
  template <class Measure>
  std::optional<Numbers> in_own_place(std::string_view name, Measure measure, bool weigh = false) {
    const auto place = store_bench::OwnPlace::beside(asked_.options.url, name, asked_.folder);
    if (!place) return failed(place.error());
    store_bench::Options options = asked_.options;
    options.url = place->url();
    options.progress = progress_of(name, io_);
    const auto before = weighed(*place, weigh);
    if (!before) return failed(before.error());
    auto numbers = measure_apart([&] { return measure(std::as_const(options)); }, io_, signals_);
    const auto after = weighed(*place, weigh);
    const auto cleared = place->clear();
    if (!numbers) return std::nullopt;
    if (!after) return failed(after.error());
    if (!cleared) return failed(cleared.error());
    if (weigh) numbers->push_back(*before && *after ? **after - **before : -1);
    return numbers;
  }

  static Result<std::optional<double>> weighed(const store_bench::OwnPlace& place, bool weigh) {
    if (!weigh) return std::nullopt;
    return place.used_memory();
  }

  std::nullopt_t failed(const Error& error) {
    say_bench_failed(io_, error.message);
    return std::nullopt;
  }

  static Result<Numbers> numbers(const Result<double>& one) {
    if (!one) return std::unexpected(one.error());
    return Numbers{*one};
  }

  bool enqueue() {
    const auto found = in_own_place(
        "enqueue",
        [](const store_bench::Options& options) { return numbers(store_bench::enqueue(options)); },
        /*weigh=*/true);
    if (!found) return false;
    add({"enqueue_per_s", "enqueue, while nobody works", found->at(0), "tasks/s"});
    if (found->at(1) >= 0) {
      add({"task_bytes", "  memory of each in Redis",
           found->at(1) / static_cast<double>(asked_.options.tasks), "bytes", 700, false});
    }
    return true;
  }

  bool process() {
    const auto ours = io::FilePages::of_this_process();
    const auto found =
        in_own_place("process", [&](const store_bench::Options& options) -> Result<Numbers> {
          const auto measured = store_bench::drain(options);
          if (!measured) return std::unexpected(measured.error());
          return Numbers{measured->per_s, ours.with_ours(measured->peak_mb)};
        });
    if (!found) return false;
    add({"process_per_s", "process a full queue", found->at(0), "tasks/s"});
    add({"peak_mb", "  the most memory of a worker", found->at(1), "MB"});
    return true;
  }

  bool throughput() {
    const auto found = in_own_place("throughput", [](const store_bench::Options& options) {
      return numbers(store_bench::end_to_end(options));
    });
    if (!found) return false;
    add({"end_to_end_per_s", "enqueue to done, in batches", found->at(0), "tasks/s"});
    return true;
  }

  bool latency() {
    const auto found =
        in_own_place("latency", [](const store_bench::Options& options) -> Result<Numbers> {
          const auto measured = store_bench::latency(options);
          if (!measured) return std::unexpected(measured.error());
          return Numbers{measured->p50_ms, measured->p99_ms, measured->most_ms};
        });
    if (!found) return false;
    add({"p50_ms", "at a steady rate, median", found->at(0), "ms"});
    add({"p99_ms", "  99 of 100", found->at(1), "ms"});
    add({"max_ms", "  the slowest", found->at(2), "ms"});
    return true;
  }

  bool failures() {
    const auto found = in_own_place("failures", [](const store_bench::Options& options) {
      return numbers(store_bench::failing(options));
    });
    if (!found) return false;
    add({"failing_per_s", "fail 3 times, to dead letter", found->at(0), "tasks/s"});
    return true;
  }

  bool memory() {
    const auto ours = io::FilePages::of_this_process();
    const auto found =
        in_own_place("memory", [&](const store_bench::Options& options) -> Result<Numbers> {
          const auto measured = node::bench::idle_mb(options);
          if (!measured) return std::unexpected(measured.error());
          return Numbers{ours.with_ours(*measured)};
        });
    if (!found) return false;
    add({"idle_mb", "memory of an idle worker", found->at(0), "MB"});
    return true;
  }

  const StoreBench& asked_;
  Io& io_;
  const io::HeldSignals& signals_;
  std::vector<BenchFigure> figures_;
};

}  // namespace

std::optional<std::vector<BenchFigure>> measure_store(const StoreBench& asked, Io& io,
                                                      const io::HeldSignals& signals) {
  Measuring measuring(asked, io, signals);
  if (!measuring.run()) return std::nullopt;
  return measuring.take_figures();
}

}  // namespace holdfast::cli
