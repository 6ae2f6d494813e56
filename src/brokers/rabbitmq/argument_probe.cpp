#include "brokers/rabbitmq/argument_probe.hpp"

#include <algorithm>
#include <charconv>

#include <amqp.h>
#include <amqp_framing.h>

namespace holdfast::brokers::rabbitmq {
namespace {

using Kind = ports::QueueFacts::Kind;

constexpr int kMostRounds = 32;
constexpr std::string_view kType = "x-queue-type";
constexpr std::string_view kLimit = "x-delivery-limit";
// No queue has it: so the broker names the one that the queue has.
constexpr std::int64_t kNobodysLimit = 2'147'480'017;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// As it is declared; nothing: of a type that is not known here.
std::optional<ports::Field> field_of(const std::string& value, std::string_view type) {
  if (type == "longstr") return ports::Field(value);
  if (type == "bool") return ports::Field(ports::Field::Value(value == "true"));
  if (const auto number = whole_number(value)) return ports::Field(*number);
  return std::nullopt;
}

}  // namespace

std::optional<Inequivalent> parse_inequivalent(std::string_view text) {
  constexpr std::string_view kArgument = "inequivalent arg '";
  constexpr std::string_view kCurrent = " but current is ";
  constexpr std::string_view kValue = "the value ";
  constexpr std::string_view kOfType = "' of type '";
  const auto argument = text.find(kArgument);
  const auto current = text.rfind(kCurrent);
  if (argument == std::string_view::npos || current == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(argument + kArgument.size());
  Inequivalent found{.argument = std::string(name.substr(0, name.find('\'')))};
  std::string_view value = text.substr(current + kCurrent.size());
  if (value == "none") return found;
  if (value.starts_with(kValue)) value.remove_prefix(kValue.size());
  if (value.size() < 2 || !value.starts_with('\'') || !value.ends_with('\'')) return std::nullopt;
  value = value.substr(1, value.size() - 2);
  const auto type = value.rfind(kOfType);
  if (type != std::string_view::npos) {
    found.type = value.substr(type + kOfType.size());
    value = value.substr(0, type);
  }
  found.current = std::string(value);
  return found;
}

bool ArgumentProbe::answered(int code, std::string_view text) {
  if (code == 0) {  // nothing differs
    if (ports::text_of(arguments_, kType) == "classic") kind_ = Kind::plain;
    return false;
  }
  const bool again = code == AMQP_PRECONDITION_FAILED && ++rounds_ < kMostRounds && learn(text);
  if (!again && kind_ == Kind::unknown) failure_ = text;
  return again;
}

bool ArgumentProbe::learn(std::string_view text) {
  auto found = parse_inequivalent(text);
  if (!found) return false;
  const std::string& name = found->argument;
  if (name == kType) return learn_type(found->current.value_or("classic"));
  if (name == kLimit) {
    if (found->current) limit_ = whole_number(*found->current);
    return false;  // all that there is to know
  }
  // Queues that count returns are always declared as this one was: durable, and neither exclusive
  // nor deleted by themselves.
  if (!name.starts_with("x-")) {
    kind_ = Kind::plain;
    return false;
  }
  if (!found->current) {
    ports::remove_field(arguments_, name);
    return true;
  }
  if (ports::find_field(arguments_, name)) return false;  // it was asked with that very value
  auto field = field_of(*found->current, found->type);
  if (!field) return false;
  ports::set_field(arguments_, name, std::move(*field));
  return true;
}

bool ArgumentProbe::learn_type(std::string_view type) {
  if (type == "stream") kind_ = Kind::stream;
  if (type == "quorum") {
    kind_ = Kind::counts;
    ports::set_field(arguments_, kType, ports::Field(std::string(type)));
    ports::set_field(arguments_, kLimit, ports::Field(kNobodysLimit));
    return true;
  }
  if (type == "classic") kind_ = Kind::plain;
  return false;
}

ports::QueueFacts ArgumentProbe::facts() const {
  ports::QueueFacts facts{.kind = kind_, .unknown_because = failure_};
  facts.limit_is_known = kind_ == Kind::plain || kind_ == Kind::stream;
  if (limit_ && *limit_ >= 0) facts.return_limit = limit_;
  const auto exchange = ports::text_of(arguments_, "x-dead-letter-exchange");
  if (exchange) {
    facts.dead_letter = ports::Address{
        .exchange = std::string(*exchange),
        .routing_key =
            std::string(ports::text_of(arguments_, "x-dead-letter-routing-key").value_or(""))};
  }
  return facts;
}

}  // namespace holdfast::brokers::rabbitmq
