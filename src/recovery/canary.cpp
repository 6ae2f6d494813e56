#include "recovery/canary.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/json_text.hpp"
#include "core/units.hpp"

namespace holdfast::recovery {
namespace {

constexpr Duration kPollEvery = std::chrono::seconds(1);

// Why the look keeps a message.
constexpr std::string_view kCameBack = "came back";
constexpr std::string_view kLooksAlike = "looks like one of them";

std::uint64_t count_of(const Counts& counts, std::string_view name) {
  const auto found = counts.by_name().find(name);
  return found == counts.by_name().end() ? 0 : found->second;
}

std::string canaries(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " message" : " messages");
}

std::uint64_t above(std::uint64_t a, std::uint64_t b) {
  return a - std::min(a, b);
}

// "3 of 10 messages came back: 2 rejected: no such customer, 1 expired"
std::string how_they_came_back(const CanaryReport& report) {
  std::string text = std::to_string(report.came_back.total()) + " of " + canaries(report.messages) +
                     " came back to the queue";
  std::string_view before = ": ";
  for (const auto& [reason, count] : report.came_back.by_name()) {
    text.append(before).append(std::to_string(count)).append(" ").append(reason);
    before = ", ";
  }
  return text;
}

}  // namespace

CanaryRun::CanaryRun(Run::Parts parts, Options options, std::optional<Canary> canary)
    : parts_(std::move(parts)), options_(std::move(options)), canary_(canary) {}

CanaryRun::~CanaryRun() = default;

void CanaryRun::run(Stage stage, Options options, std::function<void(Run::Outcome)> then) {
  stage_ = stage;
  const bool looks = stage == Stage::look;
  runs_.emplace_back(Run::Parts{.broker = parts_.broker,
                                .loop = parts_.loop,
                                .clock = parts_.clock,
                                .random = parts_.random,
                                .observer = *this,
                                .journal = looks ? nullptr : parts_.journal,
                                .backup = looks ? nullptr : parts_.backup,
                                .restored = parts_.restored,
                                .earlier = looks ? EarlierCopies() : parts_.earlier},
                     std::move(options));
  runs_.back().start([this, then = std::move(then)](Run::Outcome outcome) {
    // The run is not over before this returns.
    auto kept = std::make_shared<Run::Outcome>(std::move(outcome));
    parts_.loop.post([kept, then] { then(std::move(*kept)); });
  });
}

void CanaryRun::start(std::move_only_function<void(Run::Outcome)> done) {
  done_ = std::move(done);
  started_ = parts_.clock.now();
  if (!canary_) {
    stage_ = Stage::rest;
    runs_.emplace_back(parts_, options_);
    return runs_.back().start(std::move(done_));
  }
  Options options = options_;
  options.trial = canary_->messages;
  run(Stage::trial, std::move(options),
      [this](Run::Outcome outcome) { tried(std::move(outcome)); });
}

void CanaryRun::tried(Run::Outcome outcome) {
  trial_ = std::move(outcome);
  const Summary& summary = trial_.summary;
  report_.messages = summary.recovered.total();
  const bool is_whole = summary.ended == Ended::limit || summary.ended == Ended::empty ||
                        summary.ended == Ended::caught_up;
  if (!is_whole || summary.error) return finish(summary.ended);
  if (stopped_) return finish(Ended::asked);
  if (summary.failed.total() > 0) {
    const auto& failed = summary.failed.by_name();
    return stop_here("messages of it could not be sent" +
                     (failed.empty() ? std::string() : " to " + quoted(failed.begin()->first)));
  }
  if (report_.messages == 0) return finish(summary.ended);
  watch();
}

void CanaryRun::watch() {
  stage_ = Stage::watch;
  const Summary& summary = trial_.summary;
  may_have_changed_ =
      !summary.left || summary.arrived > 0 || summary.vanished > 0 || summary.consumers > 0;
  watch_until_ = parts_.clock.now() + canary_->wait;
  parts_.observer.told("Canary: " + canaries(report_.messages) + " recovered; watching for " +
                       format_duration(canary_->wait) + " whether they come back.");
  poll();
}

// A queue that has as many messages all the time, and no other consumer, has got none.
void CanaryRun::poll() {
  parts_.broker.depth(options_.queue, [this](const Result<ports::Depth>& depth) {
    if (stage_ != Stage::watch) return;
    if (!depth || depth->consumers > 0 || depth->ready != trial_.summary.left.value_or(0))
      may_have_changed_ = true;
    const SteadyTime now = parts_.clock.now();
    if (now >= watch_until_) return watched();
    timer_ = parts_.loop.after(std::min(kPollEvery, watch_until_ - now), [this] { poll(); });
  });
}

void CanaryRun::watched() {
  report_.watched = canary_->wait;
  if (may_have_changed_) return look();
  go_on();
}

// Through all of the queue, as a dry run that chooses what this run has recovered. It has an id of
// its own: what it renews must not be passed over when the rest is recovered.
void CanaryRun::look() {
  parts_.observer.told(
      "Canary: the queue has changed meanwhile; looking through it for messages that came back.");
  Options options = options_;
  options.rules.routes = {.to = Routes::To::review};
  options.rules.seeks = [this](const Letter& letter) { return why_of_canary(letter); };
  options.rules.run += "-look";
  options.dry = true;
  options.park.clear();
  options.limit.reset();
  options.rate = 0;
  run(Stage::look, std::move(options), [this](const Run::Outcome& outcome) { judge(outcome); });
}

void CanaryRun::judge(const Run::Outcome& outcome) {
  const Summary& summary = outcome.summary;
  Summary& so_far = trial_.summary;
  so_far.renewed += summary.renewed;
  so_far.interruptions += summary.interruptions;
  const std::uint64_t arrived = summary.found ? above(*summary.found, so_far.left.value_or(0)) : 0;
  const std::uint64_t grown_by = arrived + summary.arrived;
  const bool has_grown = !summary.found || !so_far.left || grown_by > 0;
  so_far.arrived += arrived;
  if (summary.left) so_far.left = summary.left;
  for (const Plan::Row& row : outcome.plan.rows()) {
    if (row.why == kCameBack) report_.came_back.add(row.reason, row.count);
  }
  const std::uint64_t came = count_of(summary.skipped, kCameBack);
  report_.came_back.add("of other reasons", above(came, report_.came_back.total()));
  if (came > 0) return stop_here(how_they_came_back(report_));
  if (has_grown) {
    if (std::string why = why_not_sure(summary, grown_by); !why.empty())
      return stop_here(std::move(why));
  }
  if (stopped_) return finish(Ended::asked);
  const bool is_whole = summary.ended == Ended::empty || summary.ended == Ended::caught_up;
  if (is_whole && !summary.error) return go_on();
  stop_here(
      "messages came to the queue, or left it, and it could not be looked at whether they are "
      "of the canary: " +
      (summary.error ? summary.error->message : std::string(sentence_of(summary.ended))));
}

// Of a queue that has grown, with nothing in it that surely is of the canary.
std::string CanaryRun::why_not_sure(const Summary& looked, std::uint64_t arrived) const {
  const std::uint64_t alike = count_of(looked.skipped, kLooksAlike);
  const std::uint64_t unreadable = looked.skipped.total() - alike;
  if (alike + unreadable == 0 && likenesses_.has_them_all()) return {};
  const std::string grown = arrived == 0 ? std::string("the queue may have grown")
                                         : "the queue has grown by " + canaries(arrived);
  if (unreadable > 0) return grown + ", and " + canaries(unreadable) + " in it cannot be read";
  if (alike == 0) return grown + ", and the canary was too large to know each of it again";
  return grown + ", and " + canaries(alike) + " in it cannot be told from those of the canary: " +
         "the same body, and another message id or none";
}

std::optional<std::string> CanaryRun::why_of_canary(const Letter& letter) const {
  if (letter.recovered.run == options_.rules.run) return std::string(kCameBack);
  switch (likenesses_.of(letter.message())) {
    case Likenesses::Likeness::id: return std::string(kCameBack);
    case Likenesses::Likeness::body: return std::string(kLooksAlike);
    case Likenesses::Likeness::none: break;
  }
  return std::nullopt;
}

std::uint64_t CanaryRun::limit_left() const {
  return above(*options_.limit, trial_.summary.recovered.total() + trial_.summary.parked);
}

void CanaryRun::go_on() {
  const bool is_all = trial_.summary.ended != Ended::limit || (options_.limit && limit_left() == 0);
  if (is_all) return finish(trial_.summary.ended);
  parts_.observer.told("Canary: none came back; recovering the rest.");
  Options options = options_;
  if (options.limit) options.limit = limit_left();
  const Duration spent = parts_.clock.now() - started_;
  options.limits.total = std::max(Duration(), options.limits.total - spent);
  run(Stage::rest, std::move(options),
      [this](Run::Outcome rest) { done_(merged(std::move(rest))); });
}

void CanaryRun::stop_here(std::string why) {
  report_.stopped_by = std::move(why);
  finish(Ended::canary);
}

void CanaryRun::finish(Ended ended) {
  trial_.summary.ended = ended;
  trial_.summary.canary = report_;
  trial_.summary.took = parts_.clock.now() - started_;
  done_(std::move(trial_));
}

// What the trial has kept in the queue, the rest has met again.
Run::Outcome CanaryRun::merged(Run::Outcome rest) const {
  const Summary& before = trial_.summary;
  Summary& all = rest.summary;
  if (all.found && before.left) {
    all.arrived += above(*all.found, *before.left);
    all.vanished += above(*before.left, *all.found);
  }
  all.arrived += before.arrived;
  all.vanished += before.vanished;
  all.found = before.found;
  all.recovered.add(before.recovered);
  all.failed.add(trial_.failed_for_good);
  all.skipped.add(trial_.skipped_for_good);
  all.passed += trial_.passed_for_good;
  all.parked += before.parked;
  all.renewed += before.renewed;
  all.recognised += before.recognised;
  all.duplicates += before.duplicates;
  all.redelivered += before.redelivered;
  all.transient += before.transient;
  all.interruptions += before.interruptions;
  all.cut_short = all.cut_short || before.cut_short;
  all.worked += before.worked;
  all.took = parts_.clock.now() - started_;
  all.canary = report_;
  return rest;
}

void CanaryRun::stop() {
  stopped_ = true;
  if (stage_ != Stage::watch) return runs_.empty() ? void() : runs_.back().stop();
  stage_ = Stage::rest;
  timer_.reset();
  finish(Ended::asked);
}

std::size_t CanaryRun::at_their_limit() const {
  return stage_ == Stage::watch || runs_.empty() ? 0 : runs_.back().at_their_limit();
}

void CanaryRun::give_up(const Error& why) {
  if (!runs_.empty()) runs_.back().give_up(why);
}

void CanaryRun::found(std::uint64_t messages) {
  if (stage_ == Stage::trial) parts_.observer.found(messages);
}

void CanaryRun::warned(const Warning& warning) {
  if (stage_ == Stage::look && warning.kind == Warning::Kind::skipped) return;
  parts_.observer.warned(warning);
}

void CanaryRun::looked(const Letter& letter) {
  if (stage_ != Stage::look) parts_.observer.looked(letter);
}

void CanaryRun::sending(const ports::Message& original) {
  if (stage_ == Stage::trial) likenesses_.note(original);
}

void CanaryRun::moved(const Summary& so_far) {
  if (stage_ == Stage::look) return;
  if (stage_ != Stage::rest) return parts_.observer.moved(so_far);
  Summary all = so_far;
  all.recovered.add(trial_.summary.recovered);
  all.took = parts_.clock.now() - started_;
  parts_.observer.moved(all);
}

}  // namespace holdfast::recovery
