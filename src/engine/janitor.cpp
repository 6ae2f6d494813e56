#include "engine/janitor.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::engine {
namespace {

constexpr std::size_t kSlice = 500;
constexpr std::size_t kSurveyPage = 1000;

}  // namespace

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
  const WallTime now = floor_.wall_now();
  while (at_ < duties_.size() && (!duties_[at_].keep || now < duties_[at_].look_at))
    ++at_;
  if (at_ == duties_.size() || stopped_ || floor_.broken()) return rest();
  const WallTime ended_before = saturating_add(now, -*duties_[at_].keep);
  if (!duties_[at_].warns) return purge(ended_before);
  survey({.ended_before = ended_before});
}

// The latest come first, so all pages are looked at; which is done only when the oldest that was
// left the last time may have grown too old.
void Janitor::survey(Survey survey) {
  ports::List list{
      .filter = {.state = duties_[at_].state}, .cursor = survey.cursor, .limit = kSurveyPage};
  floor_.ask(floor_.parts.reader, std::move(list),
             [this, survey = std::move(survey)](ports::Asked<ports::List>& asked) mutable {
               if (!asked.answer) return failed(asked.answer.error());
               for (const ports::TaskRecord& record : asked.answer->tasks) {
                 if (record.changed < survey.ended_before) {
                   ++survey.count;
                 } else {
                   survey.oldest_kept = std::min(survey.oldest_kept, record.changed);
                 }
               }
               survey.cursor = std::move(asked.answer->next);
               if (survey.cursor.empty()) return surveyed(survey);
               this->survey(std::move(survey));
             });
}

void Janitor::surveyed(const Survey& survey) {
  Duty& duty = duties_[at_];
  const WallTime oldest = std::min(survey.oldest_kept, floor_.wall_now());
  duty.look_at = saturating_add(oldest, *duty.keep);
  if (survey.count == 0) {
    ++at_;
    return next_duty();
  }
  floor_.parts.log.log(
      Level::warning, "janitor.expiring",
      "tasks that nobody has looked after are about to be removed",
      {{"state", core::to_string(duty.state)}, {"tasks", survey.count}, {"kept", *duty.keep}});
  purge(survey.ended_before);
}

void Janitor::purge(WallTime ended_before) {
  const ports::Purge purge_slice{
      .state = duties_[at_].state, .ended_before = ended_before, .max = kSlice};
  floor_.ask(floor_.parts.writer, purge_slice,
             [this, ended_before](const ports::Asked<ports::Purge>& asked) {
               if (!asked.answer) return failed(asked.answer.error());
               floor_.stats.purged += *asked.answer;
               const bool more = *asked.answer >= kSlice;
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
  duties_[at_].look_at = WallTime::min();
  rest();
}

void Janitor::rest() {
  under_way_ = false;
  if (stopped_ || floor_.broken()) return;
  timer_ = floor_.parts.loop.after(floor_.options.janitor_every, [this] { run_once(); });
}

}  // namespace holdfast::engine
