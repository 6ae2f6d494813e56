#include "engine/patrol.hpp"

#include <algorithm>

namespace holdfast::engine {
namespace {

// So many queues are looked at within `look_every`; with more of them, each has its turn less
// often.
constexpr std::size_t kMostLooks = 3;

}  // namespace

void Patrol::start() {
  if (!floor_.has_news()) return;
  timer_ = floor_.parts.loop.after(pause(), [this] { run_once(); });
}

Duration Patrol::pause() const {
  const auto looks = std::clamp<std::size_t>(processors_.size(), 1, kMostLooks);
  return floor_.options.look_every / static_cast<Duration::rep>(looks);
}

void Patrol::run_once() {
  start();
  // One that was asked meanwhile, for whatever reason, leaves its turn to the next.
  const SteadyTime since = saturating_add(floor_.now(), -floor_.options.look_every);
  for (std::size_t tried = 0; tried < processors_.size(); ++tried) {
    if (processors_[next_++ % processors_.size()]->look(since)) return;
  }
}

}  // namespace holdfast::engine
