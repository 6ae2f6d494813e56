#include "seeing/alert_rule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/units.hpp"
#include "seeing/seconds.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::seeing {
namespace {

// Of a window, so many samples are enough to tell where it begins.
constexpr int kSamples = 120;

Duration whole_seconds(double value) {
  return std::chrono::seconds(static_cast<std::int64_t>(value));
}

std::string what(const Alert& alert) {
  const std::string over = format_duration(alert.over);
  switch (alert.kind) {
    case AlertKind::dead_letters:
      return fmt::format("new dead letters: {:.0f} in {} (alert at {:.0f})", alert.value, over,
                         alert.threshold);
    case AlertKind::retry_rate:
      return fmt::format("{:.1f} % of attempts were retried in {} (alert above {:.1f} %)",
                         alert.value * 100, over, alert.threshold * 100);
    case AlertKind::timeout_rate:
      return fmt::format("{:.1f} % of attempts timed out in {} (alert above {:.1f} %)",
                         alert.value * 100, over, alert.threshold * 100);
    case AlertKind::backlog_age:
      return fmt::format("a task of queue \"{}\" has been due for {} (alert above {})", alert.queue,
                         format_duration(whole_seconds(alert.value)),
                         format_duration(whole_seconds(alert.threshold)));
  }
  return "";
}

}  // namespace

std::string_view to_string(AlertKind kind) noexcept {
  switch (kind) {
    case AlertKind::dead_letters: return "dead_letters";
    case AlertKind::retry_rate: return "retry_rate";
    case AlertKind::timeout_rate: return "timeout_rate";
    case AlertKind::backlog_age: return "backlog_age";
  }
  return "";
}

std::string Alert::text() const {
  return (resolved ? "over: " : "") + what(*this);
}

std::string Alert::json() const {
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("alert").text(to_string(kind));
  writer.key("state").text(resolved ? "resolved" : "firing");
  writer.key("value").number(value).key("threshold").number(threshold);
  if (over > Duration::zero()) writer.key("over").duration(over);
  if (!queue.empty()) writer.key("queue").text(queue);
  writer.key("since").time(since).key("text").text(text()).end_object();
  return out;
}

std::string alert_message(const Alert& alert, WallTime now, std::string_view server) {
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("type").text("holdfast.alert").key("timestamp").time(now);
  if (!server.empty()) writer.key("server").text(server);
  writer.key("data").raw(alert.json()).end_object();
  return out;
}

AlertRule::AlertRule(AlertThresholds thresholds) {
  set(thresholds);
}

void AlertRule::set(AlertThresholds thresholds) {
  // Samples of another window say nothing of this one.
  if (!samples_ || thresholds.over != thresholds_.over) samples_.emplace(thresholds.over);
  thresholds_ = thresholds;
  const auto expect = [&](AlertKind kind, std::optional<double> threshold) {
    AlertCheck& check = checks_[static_cast<std::size_t>(kind)];
    check.kind = kind;
    check.threshold = threshold;
  };
  const auto unless_zero = [](double value) {
    return value > 0 ? std::optional(value) : std::nullopt;
  };
  expect(AlertKind::dead_letters, unless_zero(static_cast<double>(thresholds.dead_letters)));
  expect(AlertKind::retry_rate, unless_zero(thresholds.retry_rate));
  expect(AlertKind::timeout_rate, unless_zero(thresholds.timeout_rate));
  expect(AlertKind::backlog_age, thresholds.backlog_age.transform(seconds_of));
}

AlertChecks AlertRule::check(const Seen& seen, SteadyTime now) const {
  AlertChecks checks = checks_;
  const auto found = [&](AlertKind kind, double value) -> AlertCheck& {
    AlertCheck& check = checks[static_cast<std::size_t>(kind)];
    check.value = value;
    check.firing = check.threshold && value > *check.threshold;
    return check;
  };
  const Totals recent = seen.totals.since(samples_->before(now, thresholds_.over).value);
  AlertCheck& dead = found(AlertKind::dead_letters, static_cast<double>(recent.dead));
  dead.firing = dead.threshold && recent.dead >= thresholds_.dead_letters;
  const auto share = [&](AlertKind kind, std::uint64_t part) {
    const auto attempts = static_cast<double>(std::max<std::uint64_t>(recent.attempts, 1));
    AlertCheck& check = found(kind, static_cast<double>(part) / attempts);
    if (recent.attempts < thresholds_.min_attempts) check.firing = false;  // few say nothing
  };
  share(AlertKind::retry_rate, recent.retried);
  share(AlertKind::timeout_rate, recent.timeouts);
  found(AlertKind::backlog_age, seconds_of(seen.oldest));
  return checks;
}

std::optional<Alert> AlertRule::alert_of(const AlertCheck& check, const Seen& seen) const {
  if (!check.firing) return std::nullopt;
  Alert alert{.kind = check.kind, .value = check.value, .threshold = *check.threshold};
  if (check.kind == AlertKind::backlog_age) {
    alert.queue = seen.queue;
  } else {
    alert.over = thresholds_.over;
  }
  return alert;
}

void AlertRule::begin(const Totals& totals, SteadyTime now) {
  if (samples_->empty()) samples_->add(now, totals);
}

std::vector<Alert> AlertRule::look(const Seen& seen, SteadyTime now, WallTime wall_now) {
  if (samples_->empty() || now - samples_->latest() >= thresholds_.over / kSamples) {
    samples_->add(now, seen.totals);
  }
  std::vector<Alert> told;
  checks_ = check(seen, now);
  for (std::size_t i = 0; i < kAlertKinds; ++i) {
    State& state = states_[i];
    auto wrong = alert_of(checks_[i], seen);
    if (!wrong) {
      if (std::exchange(state.open, false)) {
        told.push_back(*state.firing);
        told.back().resolved = true;
      }
      state.firing.reset();
      continue;
    }
    wrong->since = state.firing ? state.firing->since : wall_now;
    state.firing = std::move(wrong);
    if (state.told && now - *state.told < thresholds_.quiet) continue;
    state.told = now;
    state.open = true;
    told.push_back(*state.firing);
  }
  return told;
}

std::vector<Alert> AlertRule::firing() const {
  std::vector<Alert> firing;
  for (const State& state : states_)
    if (state.firing) firing.push_back(*state.firing);
  return firing;
}

}  // namespace holdfast::seeing
