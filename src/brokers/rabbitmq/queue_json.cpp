#include "brokers/rabbitmq/queue_json.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>

#include "wire/json_syntax.hpp"
#include "wire/json_view.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

using wire::JsonView;
using Kind = ports::QueueFacts::Kind;
using Listed = ports::QueueStatus::Kind;

constexpr const char* kReadAnswer = "ask the management API";
constexpr std::size_t kDeepestAnswer = 32;
constexpr std::int64_t kLimitFromVersion4 = 20;

std::optional<JsonView> of(const std::optional<JsonView>& object, std::string_view name) {
  return object ? object->find(name) : std::nullopt;
}

Kind kind_of(std::string_view type) {
  if (type == "quorum") return Kind::counts;
  if (type == "stream") return Kind::stream;
  return type == "classic" ? Kind::plain : Kind::unknown;
}

Listed listed_kind(std::string_view type) {
  if (type == "quorum") return Listed::quorum;
  if (type == "stream") return Listed::stream;
  return type == "classic" ? Listed::classic : Listed::unknown;
}

struct Limit {
  bool is_said = false;
  std::optional<std::int64_t> returns = {};
};

// The lower of those that are there; less than nothing means none.
Limit limit_of(const JsonView& queue) {
  Limit limit;
  for (const auto& [object, name] : {std::pair("arguments", "x-delivery-limit"),
                                     std::pair("effective_policy_definition", "delivery-limit")}) {
    const auto value = of(queue.find(object), name);
    const auto number = value ? value->number() : std::nullopt;
    if (!number) continue;
    limit.is_said = true;
    if (*number >= 0) limit.returns = std::min(limit.returns.value_or(*number), *number);
  }
  return limit;
}

std::optional<ports::Address> dead_letter_of(const JsonView& queue) {
  const auto arguments = queue.find("arguments");
  const auto policy = queue.find("effective_policy_definition");
  auto exchange = of(arguments, "x-dead-letter-exchange");
  if (!exchange) exchange = of(policy, "dead-letter-exchange");
  if (!exchange) return std::nullopt;
  auto key = of(arguments, "x-dead-letter-routing-key");
  if (!key) key = of(policy, "dead-letter-routing-key");
  return ports::Address{.exchange = exchange->text(), .routing_key = key ? key->text() : ""};
}

std::optional<std::uint64_t> count_of(const JsonView& queue, std::string_view name) {
  const auto value = queue.find(name);
  const auto number = value ? value->number() : std::nullopt;
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

// Of a queue that nobody has taken anything from the API says nothing.
std::optional<double> taken_per_second(const JsonView& queue) {
  if (!queue.find("messages_ready")) return std::nullopt;
  double taken = 0;
  const auto stats = queue.find("message_stats");
  for (const std::string_view name :
       {"ack_details", "get_no_ack_details", "deliver_no_ack_details"}) {
    const auto rate = of(of(stats, name), "rate");
    if (!rate) continue;
    const std::string text = rate->text();
    double number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc())
      taken += std::max(0.0, number);
  }
  return taken;
}

std::optional<WallTime> oldest_published(const JsonView& queue) {
  const auto seconds = count_of(queue, "head_message_timestamp");
  constexpr std::uint64_t kLatest = 9'000'000'000;  // beyond it are milliseconds, or nonsense
  if (!seconds || *seconds == 0 || *seconds > kLatest) return std::nullopt;
  return WallTime(std::chrono::seconds(static_cast<std::int64_t>(*seconds)));
}

std::unexpected<Error> unreadable(const char* what) {
  return fail(ErrorCode::unavailable, kReadAnswer, what);
}

}  // namespace

Result<std::optional<ports::QueueFacts>> read_queue(std::string_view json, int broker_version) {
  if (wire::syntax_fault(json, kDeepestAnswer)) return unreadable("its answer is not JSON");
  const JsonView queue(json);
  const Kind kind = kind_of(queue.text_of("type"));
  if (kind == Kind::unknown) return unreadable("its answer does not describe a queue");
  if (!queue.find("effective_policy_definition") && kind == Kind::counts) return std::nullopt;
  ports::QueueFacts facts{.kind = kind, .limit_is_known = true};
  if (kind == Kind::counts) {
    const Limit limit = limit_of(queue);
    facts.return_limit = limit.returns;
    if (!limit.is_said && broker_version >= 4) facts.return_limit = kLimitFromVersion4;
  }
  facts.dead_letter = dead_letter_of(queue);
  return facts;
}

Result<QueuePage> read_queue_page(std::string_view json) {
  if (wire::syntax_fault(json, kDeepestAnswer)) return unreadable("its answer is not JSON");
  const JsonView answer(json);
  const auto items = answer.find("items");
  if (!items || items->kind() != wire::JsonKind::array)
    return unreadable("its answer is not a page of queues");
  QueuePage page{.pages = static_cast<std::size_t>(count_of(answer, "page_count").value_or(1))};
  for (const JsonView& queue : items->elements()) {
    page.queues.push_back({.name = queue.text_of("name"),
                           .kind = listed_kind(queue.text_of("type")),
                           .ready = count_of(queue, "messages_ready"),
                           .unacknowledged = count_of(queue, "messages_unacknowledged"),
                           .consumers = count_of(queue, "consumers"),
                           .dead_letter = dead_letter_of(queue),
                           .delivery_limit = limit_of(queue).returns,
                           .taken_per_second = taken_per_second(queue),
                           .oldest_published = oldest_published(queue)});
  }
  return page;
}

}  // namespace holdfast::brokers::rabbitmq
