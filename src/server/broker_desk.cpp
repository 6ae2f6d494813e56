#include "server/broker_desk.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/json_text.hpp"
#include "core/name_pattern.hpp"
#include "core/percent_text.hpp"

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFreshFor = 5s;
constexpr Duration kWaitFor = 3s;
// Between the two looks that rates are made of.
constexpr Duration kLeastApart = 4s;
constexpr Duration kMostApart = 10min;

std::unexpected<Error> no_such_broker(const std::string& name) {
  return fail(ErrorCode::not_found, "broker", "there is no broker " + quoted(name));
}

BrokerSettings settings_of(const std::string& name, const config::Broker& broker) {
  return {.url = std::string(broker.url.text.reveal()),
          .client = "holdfast serve",
          .ca_file = broker.ca_file,
          .management = std::string(broker.management.text.reveal()),
          .management_setting = "The key management of [broker." + name + "]",
          .endpoint = std::string(broker.endpoint.text.reveal()),
          .aws = broker.aws};
}

// Of the queues that the broker carries for tasks.
std::vector<std::string> carried_dead_letters(const config::Config& config,
                                              const BrokerPlace& place) {
  std::vector<std::string> names;
  for (const auto& [name, queue] : config.queues) {
    if (!queue.broker.is_set()) continue;
    const auto at = broker_place(std::string(queue.broker.text.reveal()), false);
    if (!at || at->broker != place.broker) continue;
    const std::string& carried = at->queue.empty() ? name : at->queue;
    const std::string dead_letter =
        queue.dead_letter.empty() ? dead_letter_name(place.kind, carried) : queue.dead_letter;
    names.push_back(escaped_name(dead_letter));
  }
  return names;
}

std::optional<std::uint64_t> depth_of(const ports::QueueStatus& queue) {
  if (!queue.ready) return std::nullopt;
  return *queue.ready + queue.unacknowledged.value_or(0);
}

}  // namespace

struct BrokerDesk::One {
  struct Seen {
    SteadyTime at{};
    std::uint64_t depth = 0;
  };
  struct Numbers {
    std::optional<Seen> before = {};
    std::optional<Seen> last = {};
    std::optional<wire::BrokerQueueRates> rates = {};
  };

  std::string name;
  config::Broker config;
  BrokerPlace place;
  std::vector<std::string> patterns = {};  // those of the configuration, and what is carried
  std::unique_ptr<ports::Broker> broker = {};
  std::optional<SteadyTime> tried = {};
  std::optional<bool> reachable = {};
  std::optional<WallTime> since = {};
  std::optional<WallTime> seen = {};
  std::string error = {};
  std::vector<ports::QueueStatus> queues = {};
  std::map<std::string, Numbers> numbers = {};
  bool is_looking = false;
  std::vector<std::shared_ptr<Waiting>> waiting = {};
};

// One look at a broker: pattern after pattern.
struct BrokerDesk::Look {
  std::shared_ptr<One> one;
  std::size_t next = 0;
  std::map<std::string, ports::QueueStatus> found = {};
  std::optional<Error> error = {};
};

// Somebody who asked.
struct BrokerDesk::Waiting {
  std::shared_ptr<One> one;
  Told told;
  std::unique_ptr<ports::Loop::Timer> timer = {};
};

BrokerDesk::BrokerDesk(ports::Loop& loop, Clock& clock, Logger log, Opener opener)
    : loop_(loop), clock_(clock), log_(log), opener_(std::move(opener)) {}

BrokerDesk::~BrokerDesk() = default;

Result<void> BrokerDesk::check(const config::Config& config) {
  for (const auto& [name, broker] : config.brokers) {
    const std::string operation = "broker \"" + name + "\"";
    const auto place = broker_place(std::string(broker.url.text.reveal()), false);
    if (!place) return fail(place.error().code, operation, place.error().message);
    if (!place->queue.empty()) {
      return fail(ErrorCode::invalid_argument, operation,
                  "the URL names a queue: leave it out, and name it in queues");
    }
  }
  return {};
}

Result<void> BrokerDesk::set(const config::Config& config) {
  if (auto checked = check(config); !checked) return checked;
  std::map<std::string, std::shared_ptr<One>> next;
  for (const auto& [name, broker] : config.brokers) {
    auto place = broker_place(std::string(broker.url.text.reveal()), false);
    if (!place) return std::unexpected(std::move(place).error());
    std::vector<std::string> patterns = broker.queues;
    std::ranges::move(carried_dead_letters(config, *place), std::back_inserter(patterns));
    const auto before = all_.find(name);
    if (before != all_.end() && before->second->config == broker &&
        before->second->patterns == patterns) {
      next.emplace(name, before->second);
      continue;
    }
    auto opened = opener_(loop_, settings_of(name, broker), log_);
    if (!opened) return std::unexpected(std::move(opened).error());
    next.emplace(name, std::make_shared<One>(One{.name = name,
                                                 .config = broker,
                                                 .place = *std::move(place),
                                                 .patterns = std::move(patterns),
                                                 .broker = *std::move(opened)}));
  }
  for (const auto& [name, one] : all_) {
    const auto kept = next.find(name);
    if (kept != next.end() && kept->second == one) continue;
    for (const auto& waiting : std::exchange(one->waiting, {}))
      tell(waiting);
    one->broker.reset();  // what it was asked is not answered any more
  }
  all_ = std::move(next);
  return {};
}

void BrokerDesk::brokers(std::move_only_function<void(wire::BrokerList)> then) {
  struct Gathered {
    std::move_only_function<void(wire::BrokerList)> then;
    std::size_t left = 0;
    std::map<std::string, wire::BrokerInfo> found = {};
  };
  if (all_.empty()) return then({});
  auto gathered = std::make_shared<Gathered>(std::move(then), all_.size());
  // Copied, since answers may come at once.
  for (const auto& [name, one] : std::map(all_)) {
    look(*one, [this, gathered](One& seen) {
      gathered->found[seen.name] = info_of(seen);
      if (--gathered->left > 0) return;
      wire::BrokerList list;
      for (auto& [key, info] : gathered->found)
        list.brokers.push_back(std::move(info));
      gathered->then(std::move(list));
    });
  }
}

void BrokerDesk::broker(std::string name,
                        std::move_only_function<void(Result<wire::BrokerInfo>)> then) {
  const auto found = all_.find(name);
  if (found == all_.end()) return then(no_such_broker(name));
  look(*found->second, [this, then = std::move(then)](One& one) mutable { then(info_of(one)); });
}

Result<BrokerSettings> BrokerDesk::reach(const std::string& broker,
                                         const std::string& queue) const {
  const auto found = all_.find(broker);
  if (found == all_.end()) return no_such_broker(broker);
  const One& one = *found->second;
  const bool is_shown = std::ranges::any_of(one.patterns, [&](const std::string& pattern) {
    return NamePattern(pattern).matches(queue);
  });
  if (!is_shown) {
    return fail(ErrorCode::not_found, "broker",
                quoted(queue) + " is none of the dead-letter queues of broker " + quoted(broker) +
                    ": name it in queues of [broker." + broker + "]");
  }
  BrokerSettings settings = settings_of(one.name, one.config);
  while (settings.url.ends_with('/'))
    settings.url.pop_back();
  // Without a virtual host in the URL it is "/".
  const bool has_vhost = settings.url.find('/', settings.url.find("://") + 3) != std::string::npos;
  if (one.place.kind == BrokerPlace::Kind::rabbitmq && !has_vhost) settings.url += "/%2f";
  settings.url += '/' + percent_encoded(queue);
  return settings;
}

void BrokerDesk::look(One& one, Told told) {
  const SteadyTime now = clock_.now();
  if (!one.is_looking && one.tried && now - *one.tried < kFreshFor) return told(one);
  const auto shared = all_.at(one.name);
  auto waiting = std::make_shared<Waiting>(shared, std::move(told));
  waiting->timer = loop_.after(kWaitFor, [this, weak = std::weak_ptr(waiting)] {
    const auto late = weak.lock();
    if (!late) return;
    std::erase(late->one->waiting, late);
    tell(late);
  });
  one.waiting.push_back(std::move(waiting));
  if (one.is_looking) return;
  one.is_looking = true;
  ask_next(std::make_shared<Look>(shared));
}

void BrokerDesk::tell(const std::shared_ptr<Waiting>& waiting) {
  // Its timer may be what calls: it goes with the last who holds it.
  if (auto told = std::exchange(waiting->told, nullptr)) told(*waiting->one);
}

void BrokerDesk::ask_next(const std::shared_ptr<Look>& look) {
  One& one = *look->one;
  if (look->error || look->next == one.patterns.size()) return ended(*look);
  one.broker->list_queues(
      one.patterns[look->next++],
      [this, alive = std::weak_ptr(alive_), look](Result<std::vector<ports::QueueStatus>> found) {
        if (alive.expired()) return;
        if (!found) look->error = std::move(found).error();
        if (found) {
          for (ports::QueueStatus& queue : *found)
            look->found[queue.name] = std::move(queue);
        }
        ask_next(look);
      });
}

void BrokerDesk::ended(Look& look) {
  One& one = *look.one;
  const bool reachable = !look.error;
  if (one.reachable != reachable) one.since = clock_.wall_now();
  one.reachable = reachable;
  one.error = look.error ? look.error->message : "";
  one.tried = clock_.now();
  one.is_looking = false;
  if (reachable) {
    one.seen = clock_.wall_now();
    one.queues.clear();
    for (auto& [name, queue] : look.found) {
      note_rates(one, queue);
      one.queues.push_back(std::move(queue));
    }
    std::erase_if(one.numbers,
                  [&](const auto& entry) { return !look.found.contains(entry.first); });
  }
  for (const auto& waiting : std::exchange(one.waiting, {}))
    tell(waiting);
}

void BrokerDesk::note_rates(One& one, const ports::QueueStatus& queue) const {
  One::Numbers& numbers = one.numbers[queue.name];
  const auto depth = depth_of(queue);
  if (!depth) {
    numbers = {};
    return;
  }
  const One::Seen now{.at = clock_.now(), .depth = *depth};
  if (!numbers.before || now.at - numbers.last->at >= kLeastApart) {
    numbers.before = std::exchange(numbers.last, now);
  }
  if (!numbers.before) return;
  const Duration apart = now.at - numbers.before->at;
  numbers.rates.reset();
  if (apart < kLeastApart || apart > kMostApart) return;
  const double seconds = std::chrono::duration<double>(apart).count();
  const double change =
      (static_cast<double>(now.depth) - static_cast<double>(numbers.before->depth)) / seconds;
  numbers.rates = {.over = apart, .change = change, .out = queue.taken_per_second};
  if (queue.taken_per_second) numbers.rates->in = std::max(0.0, change + *queue.taken_per_second);
}

wire::BrokerInfo BrokerDesk::info_of(const One& one) const {
  wire::BrokerInfo info{.name = one.name,
                        .url = one.config.url.shown,
                        .kind = one.place.kind == BrokerPlace::Kind::sqs ? "sqs" : "rabbitmq",
                        .patterns = one.patterns,
                        .reachable = one.reachable,
                        .since = one.since,
                        .error = one.error,
                        .looked = one.seen};
  for (const ports::QueueStatus& queue : one.queues) {
    wire::BrokerQueue shown{.name = queue.name,
                            .kind = std::string(to_string(queue.kind)),
                            .ready = queue.ready,
                            .unacknowledged = queue.unacknowledged,
                            .consumers = queue.consumers,
                            .is_approximate = queue.is_approximate,
                            .oldest_published = queue.oldest_published};
    if (queue.delivery_limit) {
      shown.delivery_limit =
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, *queue.delivery_limit));
    }
    if (queue.dead_letter)
      shown.dead_letter = {queue.dead_letter->exchange, queue.dead_letter->routing_key};
    if (const auto known = one.numbers.find(queue.name); known != one.numbers.end())
      shown.rates = known->second.rates;
    if (recovery_of_) shown.recovery = recovery_of_(one.name, queue.name);
    info.queues.push_back(std::move(shown));
  }
  return info;
}

}  // namespace holdfast::server
