#include "simulation/plan.hpp"

namespace holdfast::simulation {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Absent as often as there.
double maybe(SimRandom& random, double most) {
  return random.chance(0.5) ? 0 : random.unit() * most;
}

Duration maybe(SimRandom& random, Duration least, Duration most) {
  return random.chance(0.5) ? Duration::zero() : random.between(least, most);
}

}  // namespace

Plan Plan::draw(SimRandom& random) {
  Plan plan;
  plan.shared = random.chance(0.4);
  plan.tasks = random.between(6, 24);
  plan.trouble_lasts = random.between(seconds(20), seconds(90));

  plan.lane.unavailable = maybe(random, 0.15);
  plan.lane.exhausted = maybe(random, 0.1);
  plan.lane.lost = maybe(random, 0.15);
  plan.lane.cut = maybe(random, 0.2);
  plan.lane.late = maybe(random, 0.05);
  plan.lane.claim_doubled = maybe(random, 0.1);

  plan.handler.slow = maybe(random, 0.3);
  plan.handler.endless = maybe(random, 0.1);
  plan.handler.deaf = maybe(random, 0.4);
  plan.handler.dropped = maybe(random, 0.1);
  plan.handler.twice = maybe(random, 0.3);
  plan.handler.late = maybe(random, 0.2);
  plan.handler.unbegun = maybe(random, 0.1);
  plan.handler.crash = maybe(random, 0.08);
  plan.handler.heartbeat = maybe(random, 0.3);
  plan.handler.inline_work = maybe(random, 0.5);
  plan.handler.fails = 0.1 + random.unit() * 0.7;
  plan.handler.throttled = maybe(random, 0.8);

  plan.crash_every = maybe(random, seconds(10), seconds(60));
  plan.machine_share = maybe(random, 0.5);
  plan.shutdown_every = maybe(random, seconds(15), seconds(60));
  plan.forced_share = random.unit();
  plan.jump_every = maybe(random, seconds(10), seconds(60));
  plan.person_every = random.between(seconds(1), seconds(10));

  plan.lease = random.between(seconds(4), seconds(30));
  plan.sweep_every = random.between(seconds(1), seconds(4));
  plan.janitor_every = random.between(seconds(5), seconds(40));
  plan.keep = random.chance(0.5) ? random.between(seconds(10), minutes(2)) : hours(24);
  plan.concurrency = static_cast<std::size_t>(random.between(1, 6));
  plan.backlog = static_cast<std::size_t>(random.between(0, 4));
  if (random.chance(0.4)) plan.redrive_rounds = random.between(0, 2);
  plan.dead_poll = random.between(seconds(1), seconds(10));
  return plan;
}

}  // namespace holdfast::simulation
