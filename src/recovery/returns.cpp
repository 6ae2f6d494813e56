#include "recovery/returns.hpp"

#include <charconv>
#include <utility>

#include "core/json_text.hpp"

namespace holdfast::recovery {
namespace {

using Kind = ports::QueueFacts::Kind;

constexpr const char* kReturnsOperation = "recover";
constexpr std::int64_t kLowestLimit = 2;     // a connection may be lost while a message is in hand
constexpr std::int64_t kLowestLimitDry = 3;  // and to look at a message returns it, too

std::unexpected<Error> refused(std::string why) {
  return fail(ErrorCode::conflict, kReturnsOperation, std::move(why));
}

std::string end_of(const ports::QueueFacts& facts) {
  if (!facts.dead_letter) return "destroyed";
  const ports::Address& to = *facts.dead_letter;
  if (to.exchange.empty()) return "moved to queue " + quoted(to.routing_key);
  return "moved to exchange " + quoted(to.exchange);
}

std::unexpected<Error> too_low(const std::string& queue, std::int64_t limit,
                               const ports::QueueFacts& facts) {
  return refused("queue " + quoted(queue) + " has a delivery limit of " + std::to_string(limit) +
                 ": a message that is returned " + (limit == 0 ? "once" : "twice") + " is " +
                 end_of(facts) +
                 ", and a lost connection returns what is under way. Nothing was taken from it. "
                 "Raise the limit to 2 or more (by policy, if a policy has set it) and try again");
}

std::unexpected<Error> too_low_to_look(const std::string& queue, std::int64_t limit,
                                       const ports::QueueFacts& facts) {
  return refused("queue " + quoted(queue) + " has a delivery limit of " + std::to_string(limit) +
                 ", and to look at a message counts as a return: a dry run could have messages " +
                 end_of(facts) +
                 ". Nothing was taken from it. Move them to a queue without a limit instead, "
                 "confirmed and with their headers, and look there: --park QUEUE without --map, "
                 "--to and --to-origin");
}

std::unexpected<Error> not_known(const std::string& queue, const ports::QueueFacts& facts) {
  const std::string what = facts.kind == Kind::counts
                               ? "the policies of quorum queue " + quoted(queue)
                               : "the type of queue " + quoted(queue);
  return refused("cannot find out " + what + ": " + facts.unknown_because +
                 ". If it has a delivery limit, messages that are returned too often are " +
                 end_of(facts) +
                 ". Nothing was taken from it. Name the management API (--management URL) or say "
                 "what the limit is (--delivery-limit N, or none)");
}

}  // namespace

Result<std::optional<StatedLimit>> parse_stated_limit(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == "none") return StatedLimit{};
  std::int64_t returns = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, returns);
  if (failed == std::errc() && stopped == end && returns >= 0)
    return StatedLimit{.returns = returns};
  return fail(ErrorCode::invalid_argument, "read delivery limit",
              quoted(text) + R"(: a delivery limit is a whole number, or "none")");
}

Result<ReturnRules> ReturnRules::make(const ports::QueueFacts& facts, const Asked& asked) {
  ReturnRules rules;
  if (facts.kind == Kind::stream) {
    return refused("queue " + quoted(asked.queue) +
                   " is a stream: its messages are not removed by acknowledging them, so there is "
                   "nothing to recover. Read it with a stream consumer");
  }
  if (facts.kind == Kind::plain) return rules;
  rules.limit_ = facts.return_limit;
  rules.end_is_sure_ = facts.limit_is_known && !facts.dead_letter;
  if (!facts.limit_is_known && asked.stated) {
    const auto& stated = asked.stated->returns;
    if (stated) rules.limit_ = std::min(rules.limit_.value_or(*stated), *stated);
  } else if (!facts.limit_is_known && rules.limit_.value_or(kLowestLimit) >= kLowestLimit) {
    return not_known(asked.queue, facts);
  }
  rules.is_counted_ = !rules.limit_ && !facts.limit_is_known;
  if (!rules.limit_) return rules;
  if (*rules.limit_ < kLowestLimit) return too_low(asked.queue, *rules.limit_, facts);
  if (asked.dry && *rules.limit_ < kLowestLimitDry)
    return too_low_to_look(asked.queue, *rules.limit_, facts);
  return rules;
}

bool DeliveryWindow::restart() {
  is_near_ = false;
  dealt_with_ = 0;
  const std::size_t begin = careful_ ? std::min<std::size_t>(1, most_) : most_;
  return std::exchange(size_, begin) != begin;
}

bool DeliveryWindow::delivered(bool is_near) {
  if (!careful_) return false;
  is_near_ = is_near;
  if (!is_near || size_ == 1) return false;
  size_ = 1;
  dealt_with_ = 0;
  return true;
}

bool DeliveryWindow::dealt_with(std::size_t messages) {
  if (!careful_ || is_near_ || size_ >= most_) return false;
  dealt_with_ += messages;
  if (dealt_with_ < size_) return false;
  dealt_with_ = 0;
  size_ = std::min(2 * size_, most_);
  return true;
}

}  // namespace holdfast::recovery
