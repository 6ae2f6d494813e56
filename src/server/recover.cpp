#include "server/recover.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "io/loop.hpp"
#include "io/signals.hpp"
#include "recovery/run_id.hpp"
#include "server/journal_file.hpp"

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
namespace rabbitmq = brokers::rabbitmq;

constexpr Duration kConnectWait = 1s;

Result<rabbitmq::Location> location_of(const std::string& url) {
  auto location = rabbitmq::parse_location(url, true);
  if (location && location->queue.empty()) {
    return fail(ErrorCode::invalid_argument, "recover",
                "the URL names no queue: it is the last part, amqp://host/vhost/queue, and the "
                "vhost / is written %2f");
  }
  return location;
}

rabbitmq::Options broker_options(const rabbitmq::Location& at, const RecoverSettings& settings) {
  const Duration stall = settings.options.limits.stall;
  rabbitmq::Options options{.at = at, .ca_file = settings.ca_file, .client = "holdfast recover"};
  // The run ends when it stalls: connecting for longer serves nobody.
  options.connect_wait = kConnectWait;
  options.connect_attempts =
      static_cast<int>(std::min<Duration::rep>(stall / kConnectWait, 86'400)) + 5;
  options.blocked_patience = stall;
  return options;
}

}  // namespace

Result<RecoverPlace> place_of(const std::string& url) {
  auto location = location_of(url);
  if (!location) return std::unexpected(std::move(location).error());
  return RecoverPlace{.queue = location->queue, .text = location->text()};
}

Result<recovery::Run::Outcome> recover(RecoverSettings settings, const RecoverHooks& hooks) {
  auto location = location_of(settings.url);
  if (!location) return std::unexpected(std::move(location).error());
  std::unique_ptr<JournalFile> journal;
  if (!settings.journal.empty()) {
    auto opened = JournalFile::open(settings.journal, location->text());
    if (!opened) return std::unexpected(std::move(opened).error());
    journal = *std::move(opened);
  }
  settings.options.queue = location->queue;
  settings.options.place = location->text();
  settings.options.user = location->user;
  settings.options.rules.run = recovery::run_id(system_clock().wall_now(), system_random());

  io::Loop loop;
  std::optional<recovery::Run> run;  // outlives the broker
  rabbitmq::Options options = broker_options(*location, settings);
  options.on_gave_up = [&run](const Error& why) {
    if (run) run->give_up(why);
  };
  const auto broker = rabbitmq::open(loop, std::move(options), hooks.log);
  run.emplace(recovery::Run::Parts{.broker = *broker,
                                   .loop = loop,
                                   .clock = system_clock(),
                                   .random = system_random(),
                                   .observer = hooks.observer,
                                   .journal = journal.get(),
                                   .earlier = journal ? journal->take_unsettled()
                                                      : std::vector<recovery::Identity>()},
              settings.options);
  std::optional<io::Signals> signals;
  if (hooks.hears_signals) {
    signals.emplace(loop, [&](int, int count) {
      if (count > 1) return loop.stop();
      run->stop();
    });
  }
  std::optional<recovery::Run::Outcome> outcome;
  loop.post([&] {
    run->start([&](recovery::Run::Outcome done) {
      outcome = std::move(done);
      loop.stop();
    });
  });
  const std::stop_callback stopping(hooks.stop, [&] { loop.post([&] { run->stop(); }); });
  loop.run();
  if (outcome) return *std::move(outcome);
  return fail(ErrorCode::canceled, "recover",
              "ended at once; what was under way is in the queue, and its copies may be there too");
}

}  // namespace holdfast::server
