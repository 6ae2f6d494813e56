#include "simulation/sim_lane.hpp"

#include <algorithm>

namespace holdfast::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

template <class Verb>
void refuse_one(ports::Asked<Verb>& asked, ErrorCode code) {
  asked.answer = fail(code, "simulated store", "a fault of the simulation");
}

void refuse_one(ports::Request& request, ErrorCode code) {
  std::visit([&](auto& asked) { refuse_one(asked, code); }, request);
}

}  // namespace

SimLane::SimLane(Parts parts, const LaneFaults& faults, SimRandom random)
    : state_(std::make_shared<State>(parts, faults, random)) {}

void SimLane::ask(ports::Request request, Done done) {
  if (!state_->alive) return;
  state_->gathered.push_back({std::move(request), std::move(done)});
  state_->schedule_batch();
}

void SimLane::State::schedule_batch() {
  if (busy || gathered.empty()) return;
  busy = true;
  const bool slow = happens(0.1);
  const Duration wait = slow ? random.between(milliseconds(50), seconds(2))
                             : random.between(microseconds(20), milliseconds(5));
  parts.schedule->after(wait, [self = shared_from_this()] {
    if (self->alive) self->carry_out_batch();
  });
}

void SimLane::State::carry_out_batch() {
  Batch batch = std::move(gathered);
  gathered.clear();
  busy = false;
  if (!refuse(batch)) carry_out(batch);
  answer(std::move(batch));
  schedule_batch();
}

bool SimLane::State::refuse(Batch& batch) {
  const bool unavailable = happens(faults.unavailable);
  const bool exhausted = !unavailable && happens(faults.exhausted);
  if (!unavailable && !exhausted) return false;
  parts.stats->count(unavailable ? Happening::batch_unavailable : Happening::batch_exhausted);
  for (Waiting& one : batch)
    refuse_one(one.request, unavailable ? ErrorCode::unavailable : ErrorCode::exhausted);
  return true;
}

void SimLane::State::carry_out(Batch& batch) {
  std::vector<ports::Request> requests;
  requests.reserve(batch.size());
  for (Waiting& one : batch)
    requests.push_back(std::move(one.request));

  const bool cut = requests.size() > 1 && happens(faults.cut);
  const std::size_t done = cut ? 1 + random.below(requests.size() - 1) : requests.size();
  if (happens(faults.claim_doubled)) {
    const auto claim = std::ranges::find_if(requests, [](const ports::Request& request) {
      return std::holds_alternative<ports::Asked<ports::Claim>>(request);
    });
    if (claim != requests.end()) {
      parts.stats->count(Happening::claim_doubled);
      (void)ports::ask(*parts.store, std::get<ports::Asked<ports::Claim>>(*claim).verb);
    }
  }
  parts.store->carry_out(std::span(requests).first(done));
  const bool lost = !cut && happens(faults.lost);
  if (cut) parts.stats->count(Happening::batch_cut);
  if (lost) parts.stats->count(Happening::answer_lost);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (cut || lost) refuse_one(requests[i], ErrorCode::unavailable);
    batch[i].request = std::move(requests[i]);
  }
}

void SimLane::State::answer(Batch batch) {
  const bool late = happens(faults.late);
  if (late) parts.stats->count(Happening::answer_late);
  const Duration wait = late ? random.between(seconds(5), faults.latest)
                             : random.between(microseconds(10), milliseconds(2));
  // Answers come in the order of what was asked, so one that is late holds up those behind it.
  last_answer = std::max(last_answer, saturating_add(parts.schedule->clock().now(), wait));
  answers.push_back(std::move(batch));
  parts.schedule->at(last_answer, [self = shared_from_this()] {
    if (!self->alive) return;
    Batch next = std::move(self->answers.front());
    self->answers.pop_front();
    for (Waiting& one : next) {
      self->parts.loop->post(
          [one = std::move(one)]() mutable { one.done(std::move(one.request)); });
    }
  });
}

void SimLane::die() {
  if (!state_->alive) return;
  state_->alive = false;
  if (!state_->answers.empty()) state_->parts.stats->count(Happening::crash_after_batch);
  if (!state_->gathered.empty()) {
    // On its way when the process died: it may have reached the store or not.
    const bool reached = state_->random.chance(0.5);
    state_->parts.stats->count(reached ? Happening::crash_after_batch
                                       : Happening::crash_before_batch);
    if (reached) {
      Batch batch = std::move(state_->gathered);
      std::vector<ports::Request> requests;
      for (Waiting& one : batch)
        requests.push_back(std::move(one.request));
      state_->parts.store->carry_out(requests);
    }
  }
  // The engine's callbacks go as well: they hold what belongs to the dead process.
  state_->gathered.clear();
  state_->answers.clear();
}

}  // namespace holdfast::simulation
