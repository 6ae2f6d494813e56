#include "server/recoveries.hpp"

#include <algorithm>
#include <utility>

#include "io/map_file.hpp"
#include "recovery/filter.hpp"
#include "server/queue_choice.hpp"

namespace holdfast::server {
namespace {

// What a recovery of the server has to say goes to its log.
class LogObserver final : public recovery::Observer {
 public:
  LogObserver(Logger log, std::string name, std::function<void(std::uint64_t)> on_found)
      : log_(log), name_(std::move(name)), on_found_(std::move(on_found)) {}

  void found(std::uint64_t messages) override {
    log_.log(Level::info, "recover.began", "a dead-letter queue is brought back",
             {{"recover", name_}, {"found", messages}});
  }
  void warned(const recovery::Warning& warning) override {
    log_.log(Level::warning, "recover.warning", warning.text, {{"recover", name_}});
  }
  void moved(const recovery::Summary& so_far) override {
    if (!so_far.found || !so_far.did_anything() || std::exchange(has_begun_, true)) return;
    on_found_(*so_far.found);
  }

 private:
  const Logger log_;
  const std::string name_;
  const std::function<void(std::uint64_t)> on_found_;
  bool has_begun_ = false;
};

Result<recovery::Routes> routes_of(const config::Recover& recover) {
  using To = recovery::Routes::To;
  if (!recover.to.empty()) return recovery::Routes{.to = To::queue, .queue = recover.to};
  switch (recover.to_origin) {
    case config::Origin::exchange: return recovery::Routes{.to = To::origin_exchange};
    case config::Origin::queue: return recovery::Routes{.to = To::origin_queue};
    case config::Origin::none: break;
  }
  if (recover.map.empty()) return recovery::Routes{.to = To::review};
  auto map = io::load_type_map(recover.map, recover.exchange);
  if (!map) return std::unexpected(std::move(map).error());
  return recovery::Routes{.to = To::map, .map = *std::move(map)};
}

}  // namespace

Result<RecoverSettings> settings_of(const config::Recover& recover) {
  RecoverSettings settings{.broker = {.url = std::string(recover.from.text.reveal()),
                                      .ca_file = recover.ca_file,
                                      .cert_file = recover.cert_file,
                                      .key_file = recover.key_file,
                                      .management = std::string(recover.management.text.reveal()),
                                      .endpoint = std::string(recover.endpoint.text.reveal()),
                                      .aws = recover.aws},
                           .journal = recover.journal};
  if (auto place = broker_place(settings.broker.url, true); !place)
    return std::unexpected(place.error());
  auto pattern = queue_pattern(settings.broker.url);
  if (!pattern) return std::unexpected(std::move(pattern).error());
  if (*pattern) {
    return fail(ErrorCode::invalid_argument, "recover",
                "a pattern of queues is for the command line; in the name of one queue * is "
                "written %2a, and ? %3f");
  }
  auto routes = routes_of(recover);
  if (!routes) return std::unexpected(std::move(routes).error());
  auto filter = recovery::Filter::parse(recover.filter);
  if (!filter) return std::unexpected(std::move(filter).error());
  auto limit = recovery::parse_stated_limit(recover.delivery_limit);
  if (!limit) return std::unexpected(std::move(limit).error());
  recovery::Options& options = settings.options;
  options.rules = {.routes = *std::move(routes),
                   .filter = *std::move(filter),
                   .max_recoveries = recover.max_recoveries};
  options.window = static_cast<std::size_t>(recover.window);
  if (recover.limit > 0) options.limit = static_cast<std::uint64_t>(recover.limit);
  options.rate = recover.rate;
  options.park = recover.park;
  options.persistent = recover.persistent;
  options.keep_expiration = recover.keep_expiration;
  options.delivery_limit = *std::move(limit);
  options.renew_at = recover.renew_at;
  options.limits = {
      .total = recover.total, .idle = recover.idle, .empty = recover.empty, .stall = recover.stall};
  if (auto checked = check(settings); !checked) return std::unexpected(std::move(checked).error());
  return settings;
}

struct Recoveries::One {
  config::Recover config;
  RecoverSettings settings;
  std::string queue;
  std::string broker;
  std::string place;  // the queue, as people see it
  std::unique_ptr<ports::Loop::Timer> timer = {};
  std::jthread thread = {};
};

Recoveries::Recoveries(ports::Loop& loop, Logger log, RecoveryListener& listener, Runner runner)
    : loop_(loop), log_(log), listener_(listener), runner_(std::move(runner)) {}

Recoveries::~Recoveries() {
  static_cast<void>(end());
}

Result<void> Recoveries::check(const std::map<std::string, config::Recover>& recoveries) {
  for (const auto& [name, recover] : recoveries) {
    if (const auto settings = settings_of(recover); !settings) {
      return fail(settings.error().code, "recover \"" + name + "\"", settings.error().message);
    }
  }
  return {};
}

Result<void> Recoveries::set(const std::map<std::string, config::Recover>& recoveries) {
  std::map<std::string, std::unique_ptr<One>> next;
  for (const auto& [name, recover] : recoveries) {
    auto settings = settings_of(recover);
    if (!settings) return check(recoveries);
    auto place = broker_place(settings->broker.url, true);
    next.emplace(name, std::make_unique<One>(One{.config = recover,
                                                 .settings = *std::move(settings),
                                                 .queue = place ? place->queue : "",
                                                 .broker = place ? place->broker : "",
                                                 .place = place ? place->text : ""}));
  }
  for (auto& [name, one] : all_) {
    const auto same = next.find(name);
    if (same == next.end()) {
      one->thread.request_stop();
      if (one->thread.joinable()) leaving_.push_back(std::move(one->thread));
      continue;
    }
    same->second->thread = std::move(one->thread);
    if (same->second->config.every == one->config.every) {
      same->second->timer = std::move(one->timer);  // its hour does not begin anew
    }
  }
  all_ = std::move(next);
  const bool first = !std::exchange(started_, true);
  for (const auto& [name, one] : all_) {
    if (!one->timer) begin_later(name);
    if (first && one->config.on_start) begin(name);
  }
  return {};
}

void Recoveries::begin_later(const std::string& name) {
  One& one = *all_.at(name);
  if (!one.config.every) return;
  one.timer = loop_.after(*one.config.every, [this, name] {
    begin_later(name);
    begin(name);
  });
}

void Recoveries::begin(const std::string& name) {
  One& one = *all_.at(name);
  const auto at = broker_place(one.settings.broker.url, true);
  const bool is_taken = at && is_busy_ && is_busy_(*at);
  if (running_.contains(one.place) || is_taken) {
    return log_.log(Level::info, "recover.still_runs", "the last recovery of this queue still runs",
                    {{"recover", name}});
  }
  if (one.thread.joinable()) leaving_.push_back(std::move(one.thread));  // of another queue
  running_.insert(one.place);
  const auto run = std::make_shared<const RecoveryRun>(RecoveryRun{.name = name,
                                                                   .queue = one.queue,
                                                                   .broker = one.broker,
                                                                   .place = one.place,
                                                                   .config = one.config});
  listener_.began(*run);
  one.thread = std::jthread([this, run, settings = one.settings, log = log_, runner = runner_,
                             &loop = loop_,
                             alive = std::weak_ptr(alive_)](const std::stop_token& stop) mutable {
    LogObserver observer(log, run->name, [this, run, &loop, alive](std::uint64_t messages) {
      loop.post([this, run, alive, messages] {
        if (!alive.expired()) listener_.found(*run, messages);
      });
    });
    auto outcome = runner(std::move(settings), {.observer = observer, .log = log, .stop = stop});
    loop.post(
        [this, run, outcome = std::move(outcome), alive, thread = std::this_thread::get_id()] {
          if (alive.expired()) return;
          running_.erase(running_.find(run->place));
          join(thread);
          ended(*run, outcome);
        });
  });
}

bool Recoveries::is_running(const BrokerPlace& place) const {
  if (running_.contains(place.text)) return true;
  return std::ranges::any_of(all_, [&](const auto& entry) {
    const auto other = broker_place(entry.second->settings.broker.url, true);
    return other && other->broker == place.broker && other->queue == place.queue &&
           running_.contains(entry.second->place);
  });
}

// It has said that it is over, as the last thing that it does.
void Recoveries::join(std::thread::id thread) {
  for (auto& [name, one] : all_) {
    if (one->thread.get_id() == thread) one->thread = {};
  }
  std::erase_if(leaving_, [&](const std::jthread& other) { return other.get_id() == thread; });
}

void Recoveries::ended(const RecoveryRun& run, const Result<recovery::Run::Outcome>& outcome) {
  listener_.ended(run, outcome);
  if (!outcome || outcome->summary.error) {
    const Error& error = outcome ? *outcome->summary.error : outcome.error();
    log_.log(Level::error, "recover.failed", "a recovery could not go on; the next one is tried",
             {{"recover", run.name}, {"error", error.text()}});
  }
  if (!outcome) return;
  const recovery::Summary& summary = outcome->summary;
  if (!summary.found && summary.error) return;  // it has not begun
  log_.log(summary.all_done() ? Level::info : Level::warning, "recover.done",
           recovery::sentence_of(summary.ended),
           {{"recover", run.name},
            {"run", summary.run},
            {"recovered", summary.recovered.total()},
            {"failed", summary.failed.total()},
            {"skipped", summary.skipped.total()},
            {"not_chosen", summary.passed},
            {"parked", summary.parked},
            {"possible_duplicates", summary.duplicates},
            {"left", summary.left ? std::to_string(*summary.left) : "unknown"},
            {"took", summary.took}});
}

std::vector<std::jthread> Recoveries::end() {
  std::vector<std::jthread> threads = std::move(leaving_);
  for (auto& [name, one] : all_) {
    one->timer.reset();
    one->thread.request_stop();
    if (one->thread.joinable()) threads.push_back(std::move(one->thread));
  }
  all_.clear();
  return threads;
}

}  // namespace holdfast::server
