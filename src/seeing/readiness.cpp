#include "seeing/readiness.hpp"

#include <algorithm>
#include <string_view>

#include "core/json_text.hpp"
#include "core/time_text.hpp"

namespace holdfast::seeing {
namespace {

constexpr std::size_t kMostNames = 5;

// "queue \"a\"", "queues \"a\" and \"b\"", "queues \"a\", \"b\" and 7 more"
std::string names_of(std::string_view one, std::string_view many,
                     const std::vector<std::string>& names) {
  std::string text(names.size() == 1 ? one : many);
  const std::size_t shown = std::min(names.size(), kMostNames);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == names.size();
    text += i == 0 ? " " : is_last ? " and " : ", ";
    text += quoted(names[i]);
  }
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

std::vector<std::string> queues_of(const BrokerSeen& broker, bool wait_for_it) {
  std::vector<std::string> names;
  for (const BrokerState::Carried& carried : broker.carried) {
    if (carried.waits_for_broker == wait_for_it) names.push_back(carried.queue);
  }
  return names;
}

// "2026-11-19T21:04:11Z"
std::string second_of(WallTime time) {
  constexpr std::size_t kUntilSeconds = 19;
  std::string text;
  append_rfc3339(text, time);
  return text.substr(0, kUntilSeconds) + 'Z';
}

std::string what_is_wrong(const BrokerSeen& broker, WallTime since) {
  const std::string time = second_of(since);
  if (!broker.missing) {
    return broker.about.name + " takes no messages since " + time +
           ", being short of memory or disk";
  }
  std::string text = broker.about.name + " is not reachable since " + time;
  if (!broker.missing->why.empty()) text += ": " + broker.missing->why;
  return text;
}

}  // namespace

std::optional<BrokerProblem> problem_of(const BrokerSeen& broker) {
  if (broker.can_be_used()) return std::nullopt;
  const WallTime since = broker.missing ? broker.missing->since : *broker.blocked_since;
  std::string text = what_is_wrong(broker, since);
  if (const auto kept = queues_of(broker, false); !kept.empty()) {
    text += "; tasks of " + names_of("queue", "queues", kept) +
            " are accepted and kept in the store, and published when it can be used again";
  }
  if (const auto refused = queues_of(broker, true); !refused.empty()) {
    text += "; tasks of " + names_of("queue", "queues", refused) +
            " are refused until then, since their answer waits for the broker";
  }
  if (!broker.carried.empty()) {
    text += broker.missing ? "; deliveries over it wait" : "; deliveries over it go on";
  }
  if (!broker.recoveries.empty()) {
    text += "; " + names_of("recovery", "recoveries", broker.recoveries) +
            (broker.recoveries.size() == 1 ? " waits" : " wait");
  }
  return BrokerProblem{
      .place = broker.about.place, .since = since, .text = text + "; everything else works"};
}

void write(wire::JsonWriter& writer, const Readiness& readiness) {
  writer.begin_object().key("status").word(readiness.problems.empty() ? "ready" : "degraded");
  writer.key("problems").begin_array();
  for (const BrokerProblem& problem : readiness.problems) {
    writer.begin_object().key("broker").text(problem.place);
    writer.key("since").time(problem.since).key("text").text(problem.text).end_object();
  }
  writer.end_array().end_object();
}

Readiness readiness_of(const BrokerStates& brokers, bool has_own_queues) {
  Readiness readiness;
  bool accepts = has_own_queues;
  bool carries = false;
  for (const BrokerSeen& broker : brokers.all()) {
    carries = carries || !broker.carried.empty();
    accepts = accepts || std::ranges::any_of(broker.carried, [&](const auto& carried) {
                return !carried.waits_for_broker || broker.can_be_used();
              });
    if (auto problem = problem_of(broker)) readiness.problems.push_back(*std::move(problem));
  }
  readiness.accepts = accepts || !carries;
  return readiness;
}

}  // namespace holdfast::seeing
