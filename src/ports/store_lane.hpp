#pragma once

#include <functional>

#include "ports/store.hpp"

namespace holdfast::ports {

// A store that does not block: what the engine asks.
//
// What is asked between two batches is carried out as one batch, in the order it was asked, and
// answered in that order. `done` is called on the loop, exactly once, and never from within ask().
// Threads: the loop's.
class StoreLane {
 public:
  using Done = std::move_only_function<void(Request)>;

  virtual ~StoreLane() = default;
  virtual void ask(Request request, Done done) = 0;
  // `watcher` hears on the loop how large each batch was; nothing: nobody does. A lane to somebody
  // else's store, who makes the batches, has nothing to tell.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that have something to tell keep it
  virtual void watch(std::function<void(std::size_t)> /*watcher*/) {}
};

// The same, typed: lane_ask(lane, Claim{…}, [](Result<Claim::Answer> answer) { … });
template <class Verb, class Then>
void lane_ask(StoreLane& lane, Verb verb, Then then) {
  lane.ask(Asked<Verb>{std::move(verb)}, [then = std::move(then)](Request request) mutable {
    then(std::get<Asked<Verb>>(std::move(request)).answer);
  });
}

}  // namespace holdfast::ports
