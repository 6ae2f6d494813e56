#include "seeing/tally.hpp"

#include <gtest/gtest.h>

#include "seeing/seeing_testing.hpp"

namespace holdfast::seeing::tally_test {
namespace {

using core::Event;
using core::State;
using testing::kNow;
using testing::new_task;
using testing::record;
using testing::transition;
using namespace std::chrono_literals;

struct Case {
  Event event;
  State to;
  std::vector<Counted> counted;
  std::optional<FailureKind> failed = {};
};

TEST(Tally, counts_each_move_as_what_it_is) {  // T9
  const std::vector<Case> cases = {
      {Event::success, State::succeeded, {Counted::attempted, Counted::succeeded}},
      {Event::already_done, State::succeeded, {Counted::attempted, Counted::succeeded}},
      {Event::error, State::retrying, {Counted::attempted, Counted::retried}, FailureKind::error},
      {Event::error,
       State::retrying,
       {Counted::attempted, Counted::retried, Counted::timed_out},
       FailureKind::timeout},
      {Event::crash,
       State::retrying,
       {Counted::attempted, Counted::retried, Counted::crashed},
       FailureKind::crash},
      {Event::throttle, State::retrying, {Counted::attempted, Counted::throttled}},
      {Event::breaker_open, State::retrying, {Counted::put_off}},
      {Event::give_up, State::failed, {Counted::attempted, Counted::failed}, FailureKind::error},
      {Event::hand_back, State::pending, {Counted::handed_back}},
      {Event::cancel, State::canceled, {Counted::canceled}},
      {Event::discard, State::canceled, {Counted::discarded}},
      {Event::replay, State::pending, {Counted::replayed}},
      {Event::close, State::failed, {Counted::failed}, FailureKind::timeout},
      {Event::error, State::dead, {Counted::attempted}, FailureKind::error},
      {Event::expire, State::dead, {}},
  };
  for (const Case& one : cases) {
    Tally tally;
    std::optional<Failure> failure;
    if (one.failed) failure.emplace(Failure{.message = "no", .kind = *one.failed});
    const ports::TaskRecord task = record();
    tally.moved({.task = task, .transition = transition(one.to, one.event, failure)});
    const Series& series = *tally.series().at(0);
    std::array<std::uint64_t, kCountedKinds> expected{};
    for (const Counted counted : one.counted)
      ++expected[static_cast<std::size_t>(counted)];
    EXPECT_EQ(series.counts, expected) << core::to_string(one.event);
    EXPECT_EQ(series.totals().dead, one.to == State::dead ? 1U : 0U);
  }
}

TEST(Tally, measures_runs_and_waits) {
  Tally tally;
  const ports::TaskRecord task = record();
  tally.submitted(new_task());
  tally.started(task, kNow + 2s);
  tally.moved({.task = task,
               .transition = transition(State::succeeded, Event::success),
               .ran = 300ms,
               .rescued = true});
  const Series& series = *tally.series().at(0);
  EXPECT_EQ(series.of(Counted::submitted), 1U);
  EXPECT_EQ(series.of(Counted::started), 1U);
  EXPECT_EQ(series.of(Counted::rescued), 1U);
  EXPECT_DOUBLE_EQ(series.waited.sum(), 2);
  EXPECT_DOUBLE_EQ(series.ran.sum(), 0.3);
  EXPECT_EQ(series.ran.counts()[6], 1U);  // up to half a second
}

TEST(Tally, names_of_callers_do_not_grow_without_end) {
  Tally tally(3);
  tally.expect("q", "known");
  for (int i = 0; i < 100; ++i)
    tally.submitted(new_task("type " + std::to_string(i)));
  tally.submitted(new_task("known"));
  ASSERT_EQ(tally.series().size(), 4U);
  EXPECT_EQ(tally.series()[0]->of(Counted::submitted), 1U);
  EXPECT_EQ(tally.series()[3]->type, "other");
  EXPECT_EQ(tally.series()[3]->of(Counted::submitted), 98U);
}

TEST(Tally, names_that_are_not_utf8_are_others) {
  Tally tally;
  tally.submitted(new_task("\xff"));
  EXPECT_EQ(tally.series().at(0)->type, "other");
}

}  // namespace
}  // namespace holdfast::seeing::tally_test
