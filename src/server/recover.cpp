#include "server/recover.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include <malloc.h>

#include "core/json_text.hpp"
#include "io/loop.hpp"
#include "io/signals.hpp"
#include "recovery/run_id.hpp"
#include "server/backup_file.hpp"
#include "server/backup_source.hpp"
#include "server/broker_choice.hpp"
#include "server/journal_file.hpp"

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;
constexpr const char* kClient = "holdfast recover";
constexpr Duration kConnectWait = 1s;
constexpr Duration kPollWait = 1s;
constexpr const char* kAnyExchange = "amq.direct";  // that it is not there is an answer, too
constexpr int kReturnedAtOnce = 256 << 10;          // bytes, and more

std::string backup_name(const std::string& path) {
  return "backup:" + path;
}

// The files of a run, and what they say.
struct RecoverFiles {
  std::unique_ptr<BackupSource> source;
  std::optional<recovery::RestoredEntries> restored;
  std::unique_ptr<JournalFile> journal;
  std::unique_ptr<BackupFile> backup;
};

Result<void> open_files(ports::Loop& loop, RecoverSettings& settings, RecoverFiles& files) {
  if (!settings.restore.empty()) {
    auto source = BackupSource::open(loop, settings.restore, settings.options.queue);
    if (!source) return std::unexpected(std::move(source).error());
    files.source = *std::move(source);
    // Of whichever backup: at another broker nothing of it is there.
    settings.options.key = "backup to " + settings.options.key;
    files.restored.emplace(settings.options.key, files.source->contents().sums);
    settings.options.limits.empty = {};  // a file does not fill up
  }
  if (!settings.journal.empty()) {
    auto opened = JournalFile::open(settings.journal, settings.options.key,
                                    files.restored ? &*files.restored : nullptr);
    if (!opened) return std::unexpected(std::move(opened).error());
    files.journal = *std::move(opened);
  }
  if (!settings.backup.empty()) {
    auto opened = BackupFile::open(settings.backup);
    if (!opened) return std::unexpected(std::move(opened).error());
    files.backup = *std::move(opened);
  }
  return {};
}

// Another one than the dead-letter queue's, if it is there.
BrokerSettings target_settings(const RecoverSettings& settings) {
  BrokerSettings to = settings.broker;
  if (!settings.to_broker.empty()) to.url = settings.to_broker;
  to.names_queue = false;
  to.client = kClient;
  return to;
}

// A queue that a broker without exchanges can be asked about.
std::string target_queue_of(const recovery::Routes& routes) {
  if (!routes.queue.empty() || routes.map.empty()) return routes.queue;
  return routes.map.begin()->second.routing_key;
}

// Whether the other broker that messages go to lets us in. It is asked once, and on a loop of its
// own: a run waits for brokers that go away, and would wait for one that never was there.
Result<void> reach_target(const RecoverSettings& settings, const RecoverHooks& hooks) {
  if (settings.to_broker.empty() && settings.restore.empty()) return {};
  const BrokerSettings at = target_settings(settings);
  const auto place = broker_place(at.url, false);
  if (!place) return std::unexpected(place.error());
  const bool has_exchanges = place->kind == BrokerPlace::Kind::rabbitmq;
  const std::string queue = target_queue_of(settings.options.rules.routes);
  if (!has_exchanges && queue.empty()) return {};
  io::Loop loop;
  auto broker = open_broker(loop, at, hooks.log);
  if (!broker) return std::unexpected(std::move(broker).error());
  std::optional<Error> refused;
  const auto answered = [&](std::optional<Error> error) {
    refused = std::move(error);
    loop.stop();
  };
  if (has_exchanges) {
    (*broker)->find_exchange(kAnyExchange, [&](Result<bool> found) {
      answered(found ? std::nullopt : std::optional(std::move(found).error()));
    });
  } else {
    (*broker)->depth(queue, [&](Result<ports::Depth> depth) {
      const bool is_reached = depth || depth.error().code == ErrorCode::not_found;
      answered(is_reached ? std::nullopt : std::optional(std::move(depth).error()));
    });
  }
  const std::stop_callback stopping(hooks.stop, [&loop] { loop.stop(); });
  loop.run();
  if (!refused) return {};
  refused->message =
      "the broker that messages go to cannot be used, " + place->text + ": " + refused->message;
  return std::unexpected(*std::move(refused));
}

}  // namespace

Result<std::string> place_of(const RecoverSettings& settings) {
  const auto place = broker_place(settings.broker.url, settings.restore.empty());
  if (!place) return std::unexpected(place.error());
  if (settings.restore.empty()) return place->text;
  return backup_name(settings.restore) + " to " + place->text;
}

Result<void> check(const RecoverSettings& settings) {
  const auto place = broker_place(settings.broker.url, settings.restore.empty());
  if (!place) return std::unexpected(place.error());
  const recovery::Options& options = settings.options;
  const auto is_itself = [&](const std::string& queue, std::string_view what) -> Result<void> {
    if (queue != place->queue || !settings.restore.empty()) return {};
    return fail(ErrorCode::invalid_argument, "recover",
                std::string(what) + " " + quoted(queue) +
                    " is the dead-letter queue itself: messages would go round in a circle");
  };
  bool is_elsewhere = false;
  if (!settings.to_broker.empty()) {
    const auto other = broker_place(settings.to_broker, false);
    if (!other) return std::unexpected(other.error());
    is_elsewhere = !is_same_broker(*other, *place);
  }
  if (options.rules.routes.to == recovery::Routes::To::queue && !is_elsewhere) {
    if (auto checked = is_itself(options.rules.routes.queue, "the target queue"); !checked)
      return checked;
  }
  return is_itself(options.park, "the review queue");
}

Result<recovery::Run::Outcome> recover(RecoverSettings settings, const RecoverHooks& hooks) {
  if (auto checked = check(settings); !checked) return std::unexpected(std::move(checked).error());
  const bool restores = !settings.restore.empty();
  auto place = broker_place(settings.broker.url, !restores);
  if (!place) return std::unexpected(std::move(place).error());
  // A certificate may say who we are: then only the broker knows.
  const auto user_at = [&](const BrokerPlace& at) {
    return at.names_user || settings.broker.cert_file.empty() ? at.user : std::string();
  };
  settings.options.queue = settings.options.rules.queue =
      restores ? backup_name(settings.restore) : place->queue;
  if (!settings.to_broker.empty()) {
    auto other = broker_place(settings.to_broker, false);
    if (!other) return std::unexpected(std::move(other).error());
    settings.options.to_place = other->text;
    settings.options.to_key = other->key;
    settings.options.to_user = user_at(*other);
    if (!is_same_broker(*other, *place)) {
      settings.options.rules.queue.clear();  // a queue of that name is another one there
      settings.options.rules.others.clear();
    }
  }
  settings.options.place = place->text;
  settings.options.key = place->key;
  settings.options.user = user_at(*place);
  settings.options.rules.run = recovery::run_id(system_clock().wall_now(), system_random());

  if (auto reached = reach_target(settings, hooks); !reached)
    return std::unexpected(std::move(reached).error());
  io::Loop loop;
  RecoverFiles files;
  if (auto opened = open_files(loop, settings, files); !opened)
    return std::unexpected(std::move(opened).error());
  std::optional<recovery::CanaryRun> run;  // outlives the broker
  // The run ends when it stalls: connecting for longer serves nobody.
  const Duration stall = settings.options.limits.stall;
  settings.broker.names_queue = !restores;
  settings.broker.asks_management =
      !settings.broker.management.empty() || !settings.options.delivery_limit;
  settings.broker.client = kClient;
  settings.broker.connect_wait = kConnectWait;
  settings.broker.connect_attempts =
      static_cast<int>(std::min<Duration::rep>(stall / kConnectWait, 86'400)) + 5;
  settings.broker.blocked_patience = stall;
  settings.broker.poll_wait = kPollWait;
  settings.broker.on_gave_up = [&run](const Error& why) {
    if (run) run->give_up(why);
  };
  auto opened = open_broker(loop, settings.broker, hooks.log);
  if (!opened) return std::unexpected(std::move(opened).error());
  std::unique_ptr<ports::Broker> broker = *std::move(opened);
  std::unique_ptr<ports::Broker> other;
  if (!settings.to_broker.empty()) {
    const BrokerSettings to = target_settings(settings);
    auto opened_other = open_broker(loop, to, hooks.log);
    if (!opened_other) return std::unexpected(std::move(opened_other).error());
    other = *std::move(opened_other);
  }
  if (restores) {
    files.source->publish_to(std::move(broker));
    broker = std::move(files.source);
  }
  run.emplace(recovery::Run::Parts{.broker = *broker,
                                   .loop = loop,
                                   .clock = system_clock(),
                                   .random = system_random(),
                                   .observer = hooks.observer,
                                   .journal = files.journal.get(),
                                   .backup = files.backup.get(),
                                   .restored = files.restored ? &*files.restored : nullptr,
                                   .earlier = files.journal ? files.journal->take_unsettled()
                                                            : recovery::EarlierCopies(),
                                   .to = other.get()},
              settings.options, settings.canary);
  // Bodies of messages go back to the system when they are freed, however many threads had them.
  if (hooks.hears_signals) ::mallopt(M_MMAP_THRESHOLD, kReturnedAtOnce);
  std::optional<io::Signals> signals;
  if (hooks.hears_signals) {
    signals.emplace(
        loop,
        [&](int, int count) {
          if (count > 1) return loop.stop();
          run->stop();
        },
        [&] { run->stop(); });   // a terminal that goes away is no reason to be killed
    ::signal(SIGPIPE, SIG_IGN);  // nor is a pager that was left
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
  if (outcome && files.backup && !outcome->summary.error) {
    if (auto checked = files.backup->check(); !checked) {
      outcome->summary.ended = recovery::Ended::failed;
      outcome->summary.error = checked.error();
    }
  }
  if (outcome) return *std::move(outcome);
  const std::size_t lost = run->at_their_limit();
  std::string what =
      "ended at once; what was under way is in the queue, and its copies may be there too";
  if (lost > 0) {
    what += "; messages that were returned once too often, and are not in the queue any more: " +
            std::to_string(lost);
  }
  return fail(ErrorCode::canceled, "recover", what);
}

}  // namespace holdfast::server
