#include "server/recoveries.hpp"

#include <algorithm>
#include <utility>

#include "io/map_file.hpp"
#include "recovery/filter.hpp"

namespace holdfast::server {
namespace {

// What a recovery of the server has to say goes to its log.
class LogObserver final : public recovery::Observer {
 public:
  LogObserver(Logger log, std::string name) : log_(log), name_(std::move(name)) {}

  void found(std::uint64_t messages) override {
    log_.log(Level::info, "recover.began", "a dead-letter queue is brought back",
             {{"recover", name_}, {"found", messages}});
  }
  void warned(const recovery::Warning& warning) override {
    log_.log(Level::warning, "recover.warning", warning.text, {{"recover", name_}});
  }
  void moved(const recovery::Summary& /*so_far*/) override {}

 private:
  const Logger log_;
  const std::string name_;
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
                                      .management = std::string(recover.management.text.reveal()),
                                      .endpoint = std::string(recover.endpoint.text.reveal()),
                                      .aws = recover.aws},
                           .journal = recover.journal};
  if (auto place = broker_place(settings.broker.url, true); !place)
    return std::unexpected(place.error());
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
  std::string place;  // the queue, as people see it
  std::unique_ptr<ports::Loop::Timer> timer = {};
  std::jthread thread = {};
};

Recoveries::Recoveries(ports::Loop& loop, Logger log, Runner runner)
    : loop_(loop), log_(log), runner_(std::move(runner)) {}

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
  if (running_.contains(one.place)) {
    return log_.log(Level::info, "recover.still_runs", "the last recovery of this queue still runs",
                    {{"recover", name}});
  }
  if (one.thread.joinable()) leaving_.push_back(std::move(one.thread));  // of another queue
  running_.insert(one.place);
  one.thread = std::jthread([this, name, place = one.place, settings = one.settings, log = log_,
                             runner = runner_, &loop = loop_,
                             alive = std::weak_ptr(alive_)](const std::stop_token& stop) mutable {
    LogObserver observer(log, name);
    auto outcome = runner(std::move(settings), {.observer = observer, .log = log, .stop = stop});
    loop.post([this, name, place = std::move(place), outcome = std::move(outcome), alive,
               thread = std::this_thread::get_id()] {
      if (alive.expired()) return;
      running_.erase(running_.find(place));
      join(thread);
      ended(name, outcome);
    });
  });
}

// It has said that it is over, as the last thing that it does.
void Recoveries::join(std::thread::id thread) {
  for (auto& [name, one] : all_) {
    if (one->thread.get_id() == thread) one->thread = {};
  }
  std::erase_if(leaving_, [&](const std::jthread& other) { return other.get_id() == thread; });
}

void Recoveries::ended(const std::string& name, const Result<recovery::Run::Outcome>& outcome) {
  if (!outcome || outcome->summary.error) {
    const Error& error = outcome ? *outcome->summary.error : outcome.error();
    log_.log(Level::error, "recover.failed", "a recovery could not go on; the next one is tried",
             {{"recover", name}, {"error", error.text()}});
  }
  if (!outcome) return;
  const recovery::Summary& summary = outcome->summary;
  if (!summary.found && summary.error) return;  // it has not begun
  log_.log(summary.all_done() ? Level::info : Level::warning, "recover.done",
           recovery::sentence_of(summary.ended),
           {{"recover", name},
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
