#include "engine/shutdown.hpp"

#include <algorithm>
#include <utility>

#include "engine/carrier.hpp"

namespace holdfast::engine {

void Shutdown::start(Then then, std::function<void()> last) {
  if (done_) {
    floor_.parts.loop.post(
        floor_.guarded([this, then = std::move(then)]() mutable { then(report_); }));
    return;
  }
  waiting_.push_back(std::move(then));
  if (std::exchange(started_, true)) return;
  last_ = std::move(last);
  before_ = floor_.stats;
  floor_.shutting_down = true;
  floor_.parts.log.log(Level::info, "engine.stopping", "nothing is claimed any more",
                       {{"tasks", floor_.runs.size()}, {"grace", floor_.options.shutdown_grace}});
  for (const auto& consumer : dead_letter_consumers_)
    consumer->stop();
  for (const auto& [queue, carrier] : floor_.carriers)
    carrier->stop();
  for (const auto& processor : processors_)
    processor->stop();
  const std::vector<std::shared_ptr<LiveRun>> runs(floor_.runs.begin(), floor_.runs.end());
  for (const auto& run : runs)
    run->processor().take_back(run, core::HandedBack{});
  settler_.flush();
  give_up_at_ = saturating_add(
      floor_.now(), saturating_add(floor_.options.shutdown_grace, floor_.options.stop_grace));
  timer_ = floor_.parts.loop.after(floor_.options.shutdown_grace, [this] { stop_the_rest(); });
  floor_.parts.loop.post(floor_.guarded([this] { run_once(); }));
  if (hurried_) hurry();
}

void Shutdown::hurry() {
  hurried_ = true;
  if (!started_ || done_ || stopping_) return;
  floor_.parts.log.log(Level::warning, "engine.hurry", "running tasks are asked to stop now");
  give_up_at_ = saturating_add(floor_.now(), floor_.options.stop_grace);
  stop_the_rest();
}

void Shutdown::stop_the_rest() {
  stopping_ = true;
  const std::vector<std::shared_ptr<LiveRun>> runs(floor_.runs.begin(), floor_.runs.end());
  for (const auto& run : runs) {
    // What has finished is on its way here, and counts.
    if (run->on_loop.ended || run->has_finished() || run->on_loop.fate != Fate::open) continue;
    timeouts_.ask_to_stop(*run, Fate::handed_back);
    ++report_.cut_short;
  }
  timer_ = floor_.parts.loop.after(floor_.options.stop_grace, [this] {
    timer_.reset();
    timeouts_.run_once();
    run_once();
  });
}

bool Shutdown::all_ended() const {
  return std::ranges::all_of(floor_.runs, [](const auto& run) {
    const auto& state = run->on_loop;
    const bool works = run->has_begun() && !state.ended && !state.stuck;
    return !works && (state.settled || state.settling);
  });
}

void Shutdown::run_once() {
  if (!started_ || done_ || !all_ended()) return;
  const bool claiming =
      lending_.is_claiming() ||
      std::ranges::any_of(processors_, [](const auto& queue) { return queue->is_claiming(); });
  const bool hopeless = floor_.broken() || (settler_.in_trouble() && floor_.now() >= give_up_at_);
  if ((claiming || !settler_.idle()) && !hopeless) return;
  const bool consuming = std::ranges::any_of(
      dead_letter_consumers_, [](const auto& consumer) { return !consumer->has_stopped(); });
  if (consuming) return;
  // What is settled is told to the brokers last; nothing depends on it but messages too many.
  bool carried = true;
  for (const auto& [queue, carrier] : floor_.carriers)
    carried = carrier->finish() && carried;
  if (!carried) return;
  report();
}

void Shutdown::report() {
  done_ = true;
  timer_.reset();
  const auto since = [&](core::Event event) {
    return static_cast<std::size_t>(floor_.stats.count(event) - before_.count(event));
  };
  for (std::size_t event = 0; event < before_.settled.size(); ++event) {
    report_.finished += since(static_cast<core::Event>(event));
  }
  report_.handed_back = since(core::Event::hand_back);
  report_.finished -= report_.handed_back + since(core::Event::close);
  for (const auto& run : floor_.runs) {
    if (run->has_begun() && !run->on_loop.ended) ++report_.abandoned;
    if (!run->on_loop.settled) ++report_.unsettled;
  }
  const bool clean = report_.abandoned == 0 && report_.unsettled == 0;
  floor_.parts.log.log(clean ? Level::info : Level::warning, "engine.stop",
                       "the engine has stopped",
                       {{"finished", report_.finished},
                        {"handed_back", report_.handed_back},
                        {"cut_short", report_.cut_short},
                        {"abandoned", report_.abandoned},
                        {"unsettled", report_.unsettled}});
  if (last_) last_();
  // The last to be told may destroy the engine.
  for (Then& then : std::exchange(waiting_, {})) {
    floor_.parts.loop.post(
        floor_.guarded([then = std::move(then), report = report_]() mutable { then(report); }));
  }
}

}  // namespace holdfast::engine
