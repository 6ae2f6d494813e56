#include "server/alert_desk.hpp"

#include <utility>

namespace holdfast::server {
namespace {

seeing::AlertThresholds thresholds_of(const config::Alerts& settings) {
  return {.over = settings.over,
          .dead_letters = static_cast<std::uint64_t>(settings.dead_letters),
          .retry_rate = settings.retry_rate,
          .timeout_rate = settings.timeout_rate,
          .min_attempts = static_cast<std::uint64_t>(settings.min_tasks),
          .backlog_age = settings.backlog_age,
          .quiet = settings.quiet};
}

}  // namespace

AlertDesk::AlertDesk(Parts parts) : parts_(std::move(parts)) {}

Result<void> AlertDesk::set(const config::Alerts& settings) {
  std::unique_ptr<AlertSender> sender;
  const bool same = settings.webhook == settings_.webhook && settings.secret == settings_.secret;
  if (settings.webhook.is_set() && !same) {
    auto made = AlertSender::make(parts_.client, parts_.node.loop(),
                                  {.url = std::string(settings.webhook.text.reveal()),
                                   .secret = std::string(settings.secret.reveal()),
                                   .guard = parts_.guard},
                                  parts_.log);
    if (!made) return fail(made.error().code, "alerts", made.error().text());
    sender = *std::move(made);
  }
  // What waits to be sent goes on its way, unless it goes elsewhere now.
  if (!same) sender_ = std::move(sender);
  settings_ = settings;
  rule_.set(thresholds_of(settings));
  every_ = settings.every;
  // Not by the first look: its answer may come when tasks have failed already.
  rule_.begin(parts_.watch.totals(), system_clock().now());
  look();
  return {};
}

void AlertDesk::send(std::string json) {
  if (sender_) sender_->send(std::move(json));
}

void AlertDesk::look_later() {
  timer_ = parts_.node.loop().after(every_, [this] { look(); });
}

void AlertDesk::look() {
  look_later();
  ports::lane_ask(
      parts_.node.reader(), ports::Count{},
      [this, alive = std::weak_ptr(alive_)](const Result<ports::Count::Answer>& queues) {
        // Of a store that is away, nothing can be said.
        if (!alive.expired() && queues) looked(*queues);
      });
}

void AlertDesk::looked(const ports::Count::Answer& queues) {
  const WallTime now = parts_.watch.now();
  seeing::AlertRule::Seen seen{.totals = parts_.watch.totals()};
  for (const ports::QueueCounts& queue : queues) {
    if (queue.paused || !queue.oldest_due || now - *queue.oldest_due <= seen.oldest) continue;
    seen.oldest = now - *queue.oldest_due;
    seen.queue = queue.queue;
  }
  for (const seeing::Alert& alert : rule_.look(seen, system_clock().now(), now))
    tell(alert);
  parts_.watch.set_alerts(rule_.firing(), rule_.checks());
}

void AlertDesk::tell(const seeing::Alert& alert) {
  parts_.log.log(alert.resolved ? Level::info : Level::warning,
                 alert.resolved ? "alert.resolved" : "alert.firing", alert.text(),
                 {{"alert", seeing::to_string(alert.kind)},
                  {"value", alert.value},
                  {"threshold", alert.threshold}});
  const WallTime now = parts_.watch.now();
  parts_.watch.events().alert(alert.json(), now);
  send(alert_message(alert, now, parts_.public_url));
}

}  // namespace holdfast::server
