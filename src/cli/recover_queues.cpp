#include "cli/recover_queues.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/recover_output.hpp"
#include "cli/recover_totals.hpp"
#include "cli/text_columns.hpp"
#include "server/queue_choice.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::cli {
namespace {

using recovery::Ended;
using server::ChosenQueue;

constexpr std::size_t kMostShownQueues = 100;

// Queues beside the sources that messages go to, as far as that is known before one is seen.
std::set<std::string> targets_of(const server::RecoverSettings& settings) {
  std::set<std::string> targets;
  const recovery::Options& options = settings.options;
  const recovery::Routes& routes = options.rules.routes;
  if (!settings.to_broker.empty()) {
    if (!options.park.empty()) targets.insert(options.park);
    return targets;
  }
  if (routes.to == recovery::Routes::To::queue) targets.insert(routes.queue);
  if (!options.park.empty()) targets.insert(options.park);
  for (const auto& [type, address] : routes.map) {
    if (address.exchange.empty()) targets.insert(address.routing_key);
  }
  return targets;
}

int worse(int code, int other) {
  const auto rank = [](int one) { return one == kFailed ? 2 : one == kDone ? 0 : 1; };
  return rank(code) >= rank(other) ? code : other;
}

std::string failed_json(const std::string& place, const Error& error) {
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("from").text(place).key("ended").text("failed");
  writer.key("error").text(error.text()).end_object();
  return out;
}

class SeveralRecoveries {
 public:
  SeveralRecoveries(SeveralQueues asked, Io& io)
      : asked_(std::move(asked)),
        io_(io),
        limit_(asked_.settings.options.limit),
        ends_at_(saturating_add(system_clock().now(), asked_.settings.options.limits.total)) {
    totals_.dry = asked_.settings.options.dry;
  }

  int run() {
    server::QueueChooser chooser(asked_.settings.broker, targets_of(asked_.settings));
    for (const std::string& url : asked_.urls) {
      const auto added = chooser.add(url);
      if (added) continue;
      if (added.error().code == ErrorCode::invalid_argument) {
        io_.err << "holdfast recover: " << added.error().message << '\n';
        return kUsage;
      }
      failed(place_of(url), added.error());
    }
    show_choice(chooser.choice());
    const std::vector<ChosenQueue>& queues = chooser.choice().queues;
    for (const ChosenQueue& queue : queues) {
      if (auto checked = server::check(settings_of(queue, queues)); !checked) {
        io_.err << "holdfast recover: " << checked.error().message << '\n';
        return kUsage;
      }
    }
    if (queues.empty() && totals_.failed_queues.empty()) {
      io_.err << "holdfast recover: no queue is left to recover\n";
      return kFailed;
    }
    std::size_t number = 0;
    for (const ChosenQueue& queue : queues) {
      ++number;
      if (may_begin(queue)) {
        io_.err << visible(fmt::format("[{}/{}] {}", number, queues.size(), queue.place)) << '\n';
        recover_one(queue, queues);
      }
    }
    return show_totals();
  }

 private:
  static std::string place_of(const std::string& url) {
    if (const auto pattern = server::queue_pattern(url); pattern && *pattern)
      return (*pattern)->text;
    const auto place = server::broker_place(url, true);
    return place ? place->text : "";
  }

  void show_choice(const server::QueueChoice& choice) {
    if (choice.queues.empty() && choice.left_out.empty()) return;
    std::string text = fmt::format("Queues to recover: {}\n", choice.queues.size());
    for (const ChosenQueue& queue : choice.queues | std::views::take(kMostShownQueues)) {
      text += "  " + visible(queue.place);
      if (queue.ready) {
        text += fmt::format(" ({} {})", grouped(*queue.ready),
                            *queue.ready == 1 ? "message" : "messages");
      }
      text += '\n';
    }
    if (choice.queues.size() > kMostShownQueues)
      text += fmt::format("  and {} more\n", choice.queues.size() - kMostShownQueues);
    for (const server::LeftOutQueue& queue : choice.left_out)
      text += fmt::format("Left out: {} ({})\n", visible(queue.place), queue.why);
    io_.err << text << std::flush;
  }

  // Not before an end that is one for all of them.
  bool may_begin(const ChosenQueue& queue) {
    if (ends_because_.empty() && limit_ == 0U) ends_because_ = sentence_of(Ended::limit);
    if (ends_because_.empty() && system_clock().now() >= ends_at_)
      ends_because_ = sentence_of(Ended::total);
    if (ends_because_.empty()) return true;
    // As many as were asked for is all that was asked for.
    if (ends_because_ != sentence_of(Ended::limit)) code_ = worse(code_, kKept);
    totals_.not_begun.push_back({queue.place, ends_because_});
    return false;
  }

  server::RecoverSettings settings_of(const ChosenQueue& queue,
                                      const std::vector<ChosenQueue>& queues) const {
    server::RecoverSettings settings = asked_.settings;
    settings.broker.url = queue.url;
    settings.options.limit = limit_;
    settings.options.limits.total = ends_at_ - system_clock().now();
    for (const ChosenQueue& other : queues) {
      if (other.broker == queue.broker && other.name != queue.name)
        settings.options.rules.others.insert(other.name);
    }
    return settings;
  }

  void recover_one(const ChosenQueue& queue, const std::vector<ChosenQueue>& queues) {
    RecoverProgress progress(io_, {.dry = totals_.dry,
                                   .discards = asked_.settings.options.rules.routes.to ==
                                               recovery::Routes::To::nowhere});
    const auto outcome =
        server::recover(settings_of(queue, queues), {.observer = progress, .hears_signals = true});
    progress.wipe();
    if (!outcome) {
      if (outcome.error().code == ErrorCode::canceled) {
        ends_because_ = sentence_of(Ended::asked);
        code_ = worse(code_, kKept);
      }
      return failed(queue.place, outcome.error());
    }
    const recovery::Summary& summary = outcome->summary;
    totals_.add(summary);
    code_ = worse(code_, exit_code_of(summary));
    if (limit_) *limit_ -= std::min(*limit_, summary.counted());
    if (summary.ended == Ended::asked) ends_because_ = sentence_of(Ended::asked);
    show(*outcome, queue.place);
  }

  void show(const recovery::Run::Outcome& outcome, const std::string& place) {
    const recovery::Summary& summary = outcome.summary;
    if (summary.error) {
      io_.err << "holdfast recover: " << place << ": " << summary.error->message << '\n';
      totals_.failed_queues.push_back({place, summary.error->message});
    }
    if (asked_.json) {
      std::string json = recover_json(outcome, place);
      json.pop_back();
      json_.push_back(std::move(json));
    } else if (summary.ended == Ended::failed && !summary.did_anything()) {
      // It is among the totals.
    } else {
      io_.out << (summary.dry ? recover_plan(outcome, place) : recover_summary(summary, place))
              << '\n'
              << std::flush;
    }
  }

  void failed(const std::string& place, const Error& error) {
    io_.err << "holdfast recover: " << place << ": " << error.message << '\n';
    totals_.failed_queues.push_back({place, error.message});
    if (asked_.json) json_.push_back(failed_json(place, error));
    if (error.code != ErrorCode::canceled) code_ = kFailed;
  }

  int show_totals() {
    io_.out << (asked_.json ? totals_json(totals_, json_) : totals_text(totals_));
    if (io_.out.flush()) return code_;
    io_.err << "holdfast recover: cannot write to standard output\n";
    return kFailed;
  }

  const SeveralQueues asked_;
  Io& io_;
  std::optional<std::uint64_t> limit_;  // what is left of it
  const SteadyTime ends_at_;
  std::string ends_because_;  // why no other queue is begun
  int code_ = kDone;
  RecoverTotals totals_;
  std::vector<std::string> json_;
};

}  // namespace

Result<bool> are_several(const std::vector<std::string>& urls) {
  if (urls.size() > 1) return true;
  for (const std::string& url : urls) {
    auto pattern = server::queue_pattern(url);
    if (!pattern) return std::unexpected(std::move(pattern).error());
    if (*pattern) return true;
  }
  return false;
}

int recover_queues(SeveralQueues asked, Io& io) {
  return SeveralRecoveries(std::move(asked), io).run();
}

int exit_code_of(const recovery::Summary& summary) {
  if (summary.error || summary.ended == recovery::Ended::failed) return kFailed;
  return summary.all_done() ? kDone : kKept;
}

}  // namespace holdfast::cli
