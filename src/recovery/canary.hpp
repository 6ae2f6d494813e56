#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "recovery/likeness.hpp"
#include "recovery/run.hpp"

namespace holdfast::recovery {

struct Canary {
  std::uint64_t messages = 0;
  Duration wait = std::chrono::seconds(30);
};

// A recovery that begins with a few messages, waits, and goes on only if none of them came back to
// its queue; without a canary, a recovery.
//
// Nothing is in hand while it waits. It asks for the depth of the queue: if that does not change
// and nobody else consumes, nothing came. Otherwise it looks through the queue as a dry run does,
// with the same care for delivery limits (returns.hpp); where no dry run is safe, that is the end.
// A message is known again by the header of its copy or by its message id. If the queue has grown,
// and has messages that could be those of the canary and could be others, that is the end, too.
//
// Threads and lifetimes are those of Run: it must outlive the broker.
class CanaryRun final : private Observer {
 public:
  CanaryRun(Run::Parts parts, Options options, std::optional<Canary> canary);
  ~CanaryRun() override;
  CanaryRun(const CanaryRun&) = delete;
  CanaryRun& operator=(const CanaryRun&) = delete;

  // As those of Run.
  void start(std::move_only_function<void(Run::Outcome)> done);
  void stop();
  [[nodiscard]] std::size_t at_their_limit() const;
  void give_up(const Error& why);

 private:
  enum class Stage : std::uint8_t { trial, watch, look, rest };

  void found(std::uint64_t messages) override;
  void warned(const Warning& warning) override;
  void moved(const Summary& so_far) override;
  void looked(const Letter& letter) override;
  void sending(const ports::Message& original) override;

  void run(Stage stage, Options options, std::function<void(Run::Outcome)> then);
  void tried(Run::Outcome outcome);
  void watch();
  void poll();
  void watched();
  void look();
  void judge(const Run::Outcome& outcome);
  [[nodiscard]] std::string why_not_sure(const Summary& looked, std::uint64_t arrived) const;
  [[nodiscard]] std::optional<std::string> why_of_canary(const Letter& letter) const;
  void go_on();
  void stop_here(std::string why);
  void finish(Ended ended);
  [[nodiscard]] Run::Outcome merged(Run::Outcome rest) const;
  [[nodiscard]] std::uint64_t limit_left() const;

  const Run::Parts parts_;
  const Options options_;
  const std::optional<Canary> canary_;
  std::move_only_function<void(Run::Outcome)> done_;

  Stage stage_ = Stage::trial;
  // One after the other. All of them stay: callbacks of the broker may still name them.
  std::deque<Run> runs_;
  Run::Outcome trial_;
  CanaryReport report_;
  Likenesses likenesses_;
  SteadyTime started_{};
  SteadyTime watch_until_{};
  bool stopped_ = false;
  bool may_have_changed_ = false;  // the queue, since the trial has ended
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::recovery
