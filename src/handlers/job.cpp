// What <holdfast/job.hpp> promises, over the engine's side of an attempt.
#include <algorithm>

#include <holdfast/job.hpp>

#include "ports/handler.hpp"

namespace holdfast {

const TaskId& Job::id() const noexcept {
  return run_->task().id;
}

const std::string& Job::type() const noexcept {
  return run_->task().type;
}

const std::string& Job::queue() const noexcept {
  return run_->task().queue;
}

const std::string& Job::payload() const noexcept {
  return run_->task().payload;
}

int Job::attempt() const noexcept {
  return run_->number();
}

std::uint64_t Job::token() const noexcept {
  return run_->task().task.token.value;
}

const std::string& Job::trace() const noexcept {
  return run_->task().trace;
}

WallTime Job::deadline() const noexcept {
  return run_->end();
}

Duration Job::time_left() const noexcept {
  const WallTime end = run_->end();
  if (end == WallTime::max()) return Duration::max();
  return std::max(end - clock_->wall_now(), Duration::zero());
}

std::stop_token Job::stop_token() const noexcept {
  return run_->stop();
}

bool Job::heartbeat() const noexcept {
  return run_->heartbeat();
}

}  // namespace holdfast
