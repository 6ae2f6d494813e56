#include "engine/janitor.hpp"

#include <utility>

namespace holdfast::engine {
void Janitor::stop() {
  stopped_ = true;
  timer_.reset();
}

void Janitor::run_once() {
  if (stopped_ || under_way_) return;
  under_way_ = true;
  at_ = 0;
  next_duty();
}

void Janitor::next_duty() {
  while (at_ < duties_.size() && !duties_[at_].keep)
    ++at_;
  if (at_ == duties_.size() || stopped_ || floor_.broken()) return rest();
  purge(saturating_add(floor_.wall_now(), -*duties_[at_].keep));
}

void Janitor::purge(WallTime ended_before) {
  const ports::Purge purge_slice{
      .state = duties_[at_].state, .ended_before = ended_before, .max = kPurgeSlice};
  floor_.ask(floor_.parts.writer, purge_slice,
             [this, ended_before](const ports::Asked<ports::Purge>& asked) {
               if (!asked.answer) return failed(asked.answer.error());
               floor_.stats.purged += *asked.answer;
               const bool more = *asked.answer >= kPurgeSlice;
               if (more && !stopped_) return purge(ended_before);
               ++at_;
               next_duty();
             });
}

// What is left over is there the next time.
void Janitor::failed(const Error& error) {
  floor_.parts.log.log(Level::warning, "store.unavailable",
                       "the store did not remove old tasks: asked again next time",
                       {{"operation", "purge"}, {"error", error.text()}});
  rest();
}

void Janitor::rest() {
  under_way_ = false;
  if (stopped_ || floor_.broken()) return;
  timer_ = floor_.parts.loop.after(floor_.options.janitor_every, [this] { run_once(); });
}

}  // namespace holdfast::engine
