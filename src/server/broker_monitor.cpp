#include "server/broker_monitor.hpp"

#include <algorithm>
#include <utility>

#include "server/recoveries.hpp"

namespace holdfast::server {
namespace {

// The first look, once connections may be there.
constexpr Duration kFirstLook = std::chrono::milliseconds(500);

constexpr int kMostPassedOver = 11;
constexpr const char* kNoQueue = "holdfast.proof.alarm";

bool is_at_sqs(std::string_view place) {
  return place.starts_with("sqs:");
}

}  // namespace

BrokerMonitor::BrokerMonitor(ports::Loop& loop, seeing::BrokerStates& states, Logger log)
    : loop_(loop), states_(states), log_(log) {
  look_later(kFirstLook, false);
  look_later(kFirstLook, true);
}

BrokerMonitor::~BrokerMonitor() = default;

std::shared_ptr<seeing::BrokerState> BrokerMonitor::observe(const BrokerPlace& place) {
  return states_.add({.place = place.broker, .name = place.name});
}

void BrokerMonitor::add(const engine::Carriage& carriage,
                        const std::shared_ptr<seeing::BrokerState>& state) {
  state->carried.push_back({.queue = carriage.queue, .waits_for_broker = carriage.confirmed});
  carried_.push_back(std::make_shared<Queue>(Queue{
      .place = state->about().place, .name = carriage.dead_letter, .broker = carriage.broker}));
}

Result<void> BrokerMonitor::set(const std::map<std::string, config::Recover>& recoveries) {
  std::map<Key, std::shared_ptr<Opened>> opened;
  std::vector<std::shared_ptr<Queue>> queues;
  std::map<Key, std::vector<std::string>> names;
  for (const auto& [name, recover] : recoveries) {
    const auto settings = settings_of(recover);
    if (!settings) return std::unexpected(settings.error());
    const std::string& url = settings->broker.url;
    const auto place = broker_place(url, true);
    if (!place) return std::unexpected(place.error());
    const Key key(url.substr(0, url.rfind('/')), settings->broker.ca_file,
                  settings->broker.endpoint);
    auto& one = opened[key];
    if (!one) {
      const auto before = opened_.find(key);
      auto made = before != opened_.end() ? Result<std::shared_ptr<Opened>>(before->second)
                                          : open(settings->broker, *place);
      if (!made) return std::unexpected(std::move(made).error());
      one = *std::move(made);
    }
    names[key].push_back(name);
    queues.push_back(std::make_shared<Queue>(
        Queue{.place = place->broker, .name = place->queue, .broker = one->broker}));
  }
  for (const auto& queue : recovered_)
    states_.set_depth(queue->place, queue->name, std::nullopt);
  for (auto& [key, one] : opened)
    one->state->recoveries = std::move(names[key]);
  opened_ = std::move(opened);
  recovered_ = std::move(queues);
  if (!recovered_.empty()) look_later(kFirstLook, false);
  return {};
}

Result<std::shared_ptr<BrokerMonitor::Opened>> BrokerMonitor::open(const BrokerSettings& settings,
                                                                   const BrokerPlace& place) {
  auto made = std::make_shared<Opened>(
      Opened{.broker = {},
             .state = observe(place),
             .tries_publishing = place.kind == BrokerPlace::Kind::rabbitmq});
  BrokerSettings own = settings;
  own.names_queue = true;
  own.asks_management = false;
  own.client = "holdfast serve (dead-letter queues)";
  own.observer = made->state;
  auto broker = open_broker(loop_, own, log_);
  if (!broker) return std::unexpected(std::move(broker).error());
  made->broker = *std::move(broker);
  return made;
}

void BrokerMonitor::look_later(Duration wait, bool at_sqs) {
  auto& timer = at_sqs ? timer_at_sqs_ : timer_;
  timer = loop_.after(wait, [this, at_sqs] {
    look_later(at_sqs ? kEveryAtSqs : kEvery, at_sqs);
    look(at_sqs);
  });
}

void BrokerMonitor::look(bool at_sqs) {
  for (const auto* const queues : {&carried_, &recovered_}) {
    for (const auto& queue : *queues) {
      if (is_at_sqs(queue->place) == at_sqs) ask(queue);
    }
  }
  if (at_sqs) return;
  for (const auto& [key, opened] : opened_)
    try_publishing(opened);
}

// Recoveries publish only while they run, and know what they are told only for as long.
void BrokerMonitor::try_publishing(const std::shared_ptr<Opened>& opened) {
  if (!opened->tries_publishing || std::exchange(opened->is_tried, true)) return;
  opened->broker->publish({.to = {.routing_key = kNoQueue}, .message = {}},
                          [weak = std::weak_ptr(opened)](const ports::Sent& sent) {
                            const auto opened = weak.lock();
                            if (!opened) return;
                            opened->is_tried = false;
                            if (sent.fate == ports::Fate::refused) opened->tries_publishing = false;
                          });
}

void BrokerMonitor::ask(const std::shared_ptr<Queue>& queue) {
  if (queue->is_asked || queue->looks_passed_over++ < queue->looks_to_pass_over) return;
  queue->looks_passed_over = 0;
  const auto broker = queue->broker.lock();
  if (!broker) return states_.set_depth(queue->place, queue->name, std::nullopt);
  queue->is_asked = true;
  broker->depth(queue->name, [this, alive = std::weak_ptr(alive_),
                              asked = std::weak_ptr(queue)](const Result<ports::Depth>& depth) {
    const auto queue = asked.lock();
    if (alive.expired() || !queue) return;
    queue->is_asked = false;
    const bool is_gone = !depth && depth.error().code == ErrorCode::not_found;
    const int more = std::min(2 * queue->looks_to_pass_over + 1, kMostPassedOver);
    queue->looks_to_pass_over = is_gone ? more : 0;
    std::optional<std::uint64_t> messages;
    if (depth) messages = depth->ready;
    states_.set_depth(queue->place, queue->name, messages);
  });
}

}  // namespace holdfast::server
