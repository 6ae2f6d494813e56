#pragma once

#include <cstddef>
#include <string_view>

#include <holdfast/breaker.hpp>
#include <holdfast/task_id.hpp>
#include <holdfast/time.hpp>

#include "core/rules.hpp"
#include "ports/records.hpp"
#include "ports/store.hpp"

namespace holdfast::engine {

// What has become of a task, by the word of the store.
struct Moved {
  const ports::TaskRecord& task;  // as it was before
  const core::Transition& transition;
  Duration ran = {};     // how long it was worked on; zero: it was not, or nobody can tell
  bool rescued = false;  // from an owner that is gone
};

// Failed or dead tasks that nobody looks after, and that are removed if it stays so (N9).
struct Expiring {
  core::State state{};
  std::size_t count = 0;  // 0: none are
  WallTime from{};        // when the first of them is
};
struct Expired {
  core::State state{};
  std::size_t removed = 0;
  std::size_t spilled = 0;  // to a file, before
};

// Hears what happens in an engine, for metrics and the like. Each member is called once the store
// has confirmed it, on the loop, for every task: none may block, throw, or call the engine. One
// that does nothing costs a virtual call.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void submitted(const TaskId& /*id*/, const ports::NewTask& /*task*/) noexcept {}
  // An attempt was given to its handler, or to a worker elsewhere.
  virtual void started(const ports::TaskRecord& /*task*/, WallTime /*now*/) noexcept {}
  virtual void moved(const Moved& /*moved*/) noexcept {}
  virtual void configured(const ports::Configure& /*settings*/) noexcept {}
  virtual void breaker_changed(const Breaker::Change& /*change*/) noexcept {}
  // So many requests were one batch for the store: one sync of the disk.
  virtual void stored(std::size_t /*requests*/) noexcept {}
  // So many messages of a queue were sent to its broker once more, having not been confirmed.
  virtual void publish_retried(std::string_view /*queue*/, std::size_t /*messages*/) noexcept {}
  // At each look, in place of what was said of that state before.
  virtual void expiring(const Expiring& /*expiring*/) noexcept {}
  virtual void expired(const Expired& /*expired*/) noexcept {}
  // Tasks of that state stay beyond their time, since they could not be spilled.
  virtual void not_spilled(core::State /*state*/) noexcept {}
};

}  // namespace holdfast::engine
