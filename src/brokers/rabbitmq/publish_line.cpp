#include "brokers/rabbitmq/publish_line.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "core/json_text.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

using ports::Fate;

constexpr const char* kPublishOperation = "publish";
constexpr ChannelNumber kPublishChannel = 1;
constexpr ChannelNumber kPublishDeclareChannel = 2;
constexpr std::size_t kMostUnwritten = std::size_t{1} << 18U;  // bytes; the rest is sent later
constexpr std::size_t kUncommonSize = std::size_t{16} << 20U;
constexpr std::size_t kLongestText = 255;

Error publish_error(ErrorCode code, std::string message) {
  return {code, kPublishOperation, std::move(message)};
}

// For people.
std::string place_of(const ports::Address& to) {
  if (to.exchange.empty()) return "queue " + quoted(to.routing_key);
  return "exchange " + quoted(to.exchange) + " with routing key " + quoted(to.routing_key);
}

// As RabbitMQ reads it, which closes the channel at any other: milliseconds, below 2^32.
bool is_expiration(std::string_view text) {
  return !text.empty() && text.size() <= 10 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }) &&
         (text.size() < 10 || text <= "4294967295");
}

bool has_too_long_text(const ports::Message& message) {
  const std::optional<std::string>* const texts[] = {
      &message.content_type, &message.content_encoding, &message.correlation_id, &message.reply_to,
      &message.expiration,   &message.message_id,       &message.type,           &message.user_id,
      &message.app_id,       &message.cluster_id};
  return std::ranges::any_of(
      texts, [](const auto* text) { return *text && (*text)->size() > kLongestText; });
}

}  // namespace

PublishLine::PublishLine(Parts parts)
    : Line(std::move(parts), ports::BrokerWay::publish), declarer_(kPublishDeclareChannel) {
  start();
}

PublishLine::~PublishLine() {
  stop();
}

void PublishLine::publish(ports::Outgoing outgoing,
                          std::move_only_function<void(ports::Sent)> then) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = inbox_.empty();
    inbox_.push_back({.outgoing = std::move(outgoing), .then = std::move(then)});
  }
  if (first) ring();
}

void PublishLine::take_orders() {
  std::vector<Ask> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(inbox_);
  }
  if (asked.empty()) return;
  const auto now = clock().now();
  for (Ask& ask : asked) {
    ask.since = now;
    waiting_.push_back(std::move(ask));
  }
}

void PublishLine::go_on(SteadyTime now) {
  drop_overdue(now);
  if (!connection() && !waiting_.empty()) connect();
  if (!is_up()) return;
  send_what_can(now);
  declarer_.go_on(out(), now);
  if (now >= answer_due()) {
    give_up_connection({ErrorCode::timeout, kPublishOperation, "the broker does not answer"});
  }
}

SteadyTime PublishLine::answer_due() const {
  auto since = declarer_.waits_since().value_or(SteadyTime::max());
  const bool opens = state_ == State::opening || state_ == State::confirming;
  if (opens) since = std::min(since, state_since_);
  const auto due = saturating_add(since, longest_answer());
  // A message may take longer, as disks do; one that waits for nothing else is not waited for.
  if (in_flight_.empty() || not_taken_since()) return due;
  return std::min(due, saturating_add(in_flight_.front().since, 2 * longest_answer()));
}

SteadyTime PublishLine::next_time() const {
  if (!connection()) return waiting_.empty() ? SteadyTime::max() : SteadyTime();
  if (was_full_ && is_up() && connection()->unsent_bytes() < kMostUnwritten) return {};  // at once
  auto next = answer_due();
  const auto since = not_taken_since();
  if (!since) return next;
  const auto overdue = [&](const Ask& ask) {
    return saturating_add(std::max(ask.since, *since), options().blocked_patience);
  };
  if (!waiting_.empty()) next = std::min(next, overdue(waiting_.front()));
  const auto unanswered = std::ranges::find(in_flight_, false, &InFlight::answered);
  if (unanswered != in_flight_.end()) next = std::min(next, overdue(unanswered->ask));
  return next;
}

// ---- the connection and its channels ----

void PublishLine::on_up() {
  note_connected();
  open_channel();
}

void PublishLine::open_channel() {
  out().method(kPublishChannel, AMQP_CHANNEL_OPEN_METHOD, amqp_channel_open_t{bytes_of("")});
  state_ = State::opening;
  state_since_ = clock().now();
}

void PublishLine::on_lost(const Error& why, bool was_up) {
  state_ = State::closed;
  returning_.reset();
  delays_.forget_all();
  proven_.clear();
  routes_.forget_proven();
  if (blocked_since_) on_unblocked();
  answer_all_in_flight(Fate::unknown, publish_error(why.code, why.message));
  declarer_.on_lost(why);
  // What was not sent is sent by the next connection, which is made at once. If this one was of no
  // use to begin with, the next may not be either: whoever asked decides.
  if (was_up && std::exchange(was_of_use_, false)) return;
  for (auto unsent = std::exchange(waiting_, {}); Ask & ask : unsent) {
    answer(ask, Fate::unsent, publish_error(why.code, why.message));
  }
}

Result<void> PublishLine::on_method(ChannelNumber channel, const MethodReader::Method& method) {
  if (channel == kPublishDeclareChannel) {
    declarer_.on_method(method, out());
    return {};
  }
  switch (method.id) {
    case AMQP_CHANNEL_OPEN_OK_METHOD:
      out().method(kPublishChannel, AMQP_CONFIRM_SELECT_METHOD, amqp_confirm_select_t{.nowait = 0});
      state_ = State::confirming;
      break;
    case AMQP_CONFIRM_SELECT_OK_METHOD:
      state_ = State::ready;
      first_tag_ = 1;
      break;
    case AMQP_BASIC_ACK_METHOD: {
      const auto& ack = method.as<amqp_basic_ack_t>();
      on_confirmed(ack.delivery_tag, ack.multiple != 0, true);
      break;
    }
    case AMQP_BASIC_NACK_METHOD: {
      const auto& nack = method.as<amqp_basic_nack_t>();
      on_confirmed(nack.delivery_tag, nack.multiple != 0, false);
      break;
    }
    case AMQP_BASIC_RETURN_METHOD: {
      const auto& back = method.as<amqp_basic_return_t>();
      returning_ = {
          .to = {.exchange = std::string(text_of(back.exchange)),
                 .routing_key = std::string(text_of(back.routing_key))},
          .why = std::to_string(back.reply_code) + " " + std::string(text_of(back.reply_text))};
      break;
    }
    case AMQP_CHANNEL_CLOSE_METHOD: on_channel_closed(method.as<amqp_channel_close_t>()); break;
    case AMQP_CONNECTION_BLOCKED_METHOD:
      on_blocked(text_of(method.as<amqp_connection_blocked_t>().reason));
      break;
    case AMQP_CONNECTION_UNBLOCKED_METHOD: on_unblocked(); break;
    default: break;
  }
  return {};
}

// Only of what is returned.
Result<void> PublishLine::on_content(ChannelNumber /*channel*/,
                                     const MethodReader::Content& content) {
  const auto returned = std::exchange(returning_, std::nullopt);
  if (!returned) return {};
  ports::Message message;
  const auto number = read_properties(*content.properties, message)
                          ? ports::number_of(message.headers, kSequenceHeader)
                          : std::nullopt;
  if (!number) {
    on_returned_without_number(*returned);
    return {};
  }
  const auto at = static_cast<std::uint64_t>(*number) - first_tag_;
  if (at >= in_flight_.size()) return {};
  InFlight& one = in_flight_[at];
  one.returned = returned->why;
  if (routes_.is_proven(one.ask.outgoing.to)) routes_.distrust(one.ask.outgoing.to);
  return {};
}

// It is one of those that are unanswered there, since a message is returned before it is confirmed.
// Which of several, nobody says.
void PublishLine::on_returned_without_number(const Returned& returned) {
  std::vector<InFlight*> candidates;
  for (InFlight& one : in_flight_) {
    const auto& [exchange, routing_key] = one.ask.outgoing.to;
    if (!one.confirmed && exchange == returned.to.exchange &&
        (one.ask.delay ? one.ask.delay->name : routing_key) == returned.to.routing_key) {
      candidates.push_back(&one);
    }
  }
  routes_.distrust(returned.to);
  for (InFlight* one : candidates) {
    (candidates.size() == 1 ? one->returned : one->perhaps_returned) = returned.why;
  }
}

Result<void> PublishLine::on_body(ChannelNumber /*channel*/, std::string_view /*part*/) {
  return {};  // of what is returned, and we have it
}

void PublishLine::on_channel_closed(const amqp_channel_close_t& close) {
  const Error error =
      said_by_broker(kPublishOperation, close.reply_code, text_of(close.reply_text));
  const bool its_fault = close.reply_code == AMQP_NOT_FOUND ||
                         close.reply_code == AMQP_ACCESS_REFUSED ||
                         close.reply_code == AMQP_PRECONDITION_FAILED;
  out().method(kPublishChannel, AMQP_CHANNEL_CLOSE_OK_METHOD, amqp_channel_close_ok_t{});
  if (in_flight_.size() == 1 && its_fault) {
    proven_.erase(in_flight_.front().ask.outgoing.to.exchange);
    answer_all_in_flight(Fate::refused, error);
  } else {
    proven_.clear();
    routes_.forget_proven();
    answer_all_in_flight(Fate::unknown, error);
  }
  open_channel();
}

void PublishLine::on_blocked(std::string_view reason) {
  if (!blocked_since_) {
    log().log(Level::warning, "broker.blocked",
              "The broker takes no messages for now: they wait, as long as they may.",
              {{"broker", place()}, {"reason", reason}, {"patience", options().blocked_patience}});
    note_blocked(true);
  }
  blocked_since_ = clock().now();
}

void PublishLine::on_unblocked() {
  if (!blocked_since_) return;
  log().log(Level::info, "broker.unblocked", "The broker takes messages again.",
            {{"broker", place()}, {"blocked", clock().now() - *blocked_since_}});
  blocked_since_.reset();
  note_blocked(false);
}

// ---- what goes out ----

void PublishLine::send_what_can(SteadyTime now) {
  was_full_ = false;
  while (!waiting_.empty() && state_ == State::ready && !blocked_since_) {
    was_full_ = out().unsent().size() >= kMostUnwritten;
    if (was_full_) return;
    if (in_flight_.empty()) alone_ = false;
    if (alone_) return;
    Ask& ask = waiting_.front();
    if (auto error = unsendable(ask)) {
      refuse_front(Fate::refused, std::move(*error));
      continue;
    }
    const bool alone = goes_alone(ask);
    if (alone && !in_flight_.empty()) return;
    if (!delay_is_there(ask, now)) return;
    if (auto error = send(ask)) {
      refuse_front(Fate::refused, std::move(*error));
      continue;
    }
    alone_ = alone;
    was_of_use_ = true;
    in_flight_.push_back({.ask = std::move(ask), .since = now});
    waiting_.pop_front();
  }
}

std::optional<Error> PublishLine::unsendable(Ask& ask) const {
  const ports::Address& to = ask.outgoing.to;
  const ports::Message& message = ask.outgoing.message;
  const auto bad = [](std::string what) {
    return publish_error(ErrorCode::invalid_argument, std::move(what));
  };
  if (to.exchange.size() > kLongestText || to.routing_key.size() > kLongestText) {
    return bad("an exchange or routing key longer than 255 bytes");
  }
  if (has_too_long_text(message)) return bad("a property longer than 255 bytes");
  if (message.expiration && !is_expiration(*message.expiration)) {
    return bad("an expiration that is no number of milliseconds");
  }
  if (ask.outgoing.delay <= Duration::zero() || ask.delay) return std::nullopt;
  if (!to.exchange.empty()) return bad("only what goes to a queue can be delayed");
  auto delay = delay_queue(to.routing_key, ask.outgoing.delay, ask.outgoing.delay_kind);
  if (!delay) return delay.error();
  ask.delay = std::move(*delay);
  return std::nullopt;
}

bool PublishLine::goes_alone(const Ask& ask) const {
  const ports::Message& message = ask.outgoing.message;
  return !proven_.contains(ask.outgoing.to.exchange) || message.body.size() > kUncommonSize ||
         (message.user_id && *message.user_id != options().at.user) ||
         ports::find_field(message.headers, "CC") || ports::find_field(message.headers, "BCC");
}

bool PublishLine::delay_is_there(Ask& ask, SteadyTime now) {
  if (!ask.delay || delays_.is_fresh(*ask.delay, now)) return true;
  if (!declaring_) declare_delay(*ask.delay);
  return false;
}

// First a look at where the message is to go in the end: a delay queue would take it for nowhere.
// The one in front waits for the answer, and what is behind it waits with it.
void PublishLine::declare_delay(const DelayQueue& queue) {
  declaring_ = true;
  declarer_.ask({.queue = queue.target, .only_look = true}, [this, queue](Declarer::Answer found) {
    if (!found.is_there()) return no_delay(queue, std::move(found));
    declarer_.ask({.queue = queue.name, .arguments = queue.arguments()},
                  [this, queue](Declarer::Answer made) {
                    if (!made.is_there()) return no_delay(queue, std::move(made));
                    declaring_ = false;
                    delays_.declared(queue, clock().now());
                  });
  });
}

void PublishLine::no_delay(const DelayQueue& queue, Declarer::Answer why) {
  declaring_ = false;
  if (why.lost || waiting_.empty()) return;
  // It may have been overdue meanwhile, and another be in front.
  const Ask& front = waiting_.front();
  if (!front.delay || front.delay->name != queue.name) return;
  why.error.operation = kPublishOperation;
  refuse_front(why.code == AMQP_NOT_FOUND ? Fate::returned : Fate::refused, std::move(why.error));
}

void PublishLine::refuse_front(Fate fate, Error error) {
  if (waiting_.empty()) return;
  answer(waiting_.front(), fate, std::move(error));
  waiting_.pop_front();
}

std::optional<Error> PublishLine::send(Ask& ask) {
  ports::Message& message = ask.outgoing.message;
  ports::remove_field(message.headers, kSequenceHeader);
  if (ask.delay) remove_deaths(message);
  headers_.clear();
  if (auto added = headers_.add(message.headers); !added) return added.error();
  const ports::Address& to = ask.outgoing.to;
  if (ask.delay || !routes_.is_proven(to)) {
    headers_.add(kSequenceHeader, static_cast<std::int64_t>(first_tag_ + in_flight_.size()));
  }
  auto properties = properties_of(message);
  properties.headers = headers_.table();
  if (properties.headers.num_entries > 0) properties._flags |= AMQP_BASIC_HEADERS_FLAG;
  const bool written =
      out().publish(kPublishChannel,
                    {.ticket = 0,
                     .exchange = bytes_of(to.exchange),
                     .routing_key = bytes_of(ask.delay ? ask.delay->name : to.routing_key),
                     .mandatory = 1,
                     .immediate = 0},
                    properties, message.body);
  if (!written) return publish_error(ErrorCode::invalid_argument, "its headers are too large");
  // A second chance needs the message once more; nothing else does.
  if (!ask.delay) message = {};
  return std::nullopt;
}

// ---- what comes back ----

void PublishLine::on_confirmed(std::uint64_t tag, bool multiple, bool taken) {
  const std::uint64_t at = tag - first_tag_;
  if (at >= in_flight_.size()) return;
  for (std::uint64_t each = multiple ? 0 : at; each <= at; ++each) {
    if (!in_flight_[each].confirmed) finish(in_flight_[each], taken);
  }
  std::vector<Ask> again;
  while (!in_flight_.empty() && in_flight_.front().confirmed) {
    if (in_flight_.front().ask.again && !in_flight_.front().answered) {
      again.push_back(std::move(in_flight_.front().ask));
    }
    in_flight_.pop_front();
    ++first_tag_;
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(again.begin()),
                  std::make_move_iterator(again.end()));
}

void PublishLine::finish(InFlight& one, bool taken) {
  one.confirmed = true;
  if (taken && !one.returned && !one.perhaps_returned) {
    proven_.insert(one.ask.outgoing.to.exchange);
    if (!one.ask.delay) routes_.prove(one.ask.outgoing.to);
  }
  if (one.answered) return;
  if (!taken) {
    answer(one.ask, Fate::refused,
           publish_error(ErrorCode::exhausted, "the broker did not take what goes to " +
                                                   place_of(one.ask.outgoing.to) +
                                                   ": a queue is full, or it is in trouble"));
  } else if (one.perhaps_returned && !one.returned) {
    answer(one.ask, Fate::unknown,
           publish_error(ErrorCode::unavailable,
                         "the broker returned a message that goes to " +
                             place_of(one.ask.outgoing.to) +
                             ", and did not say which of several: " + *one.perhaps_returned));
  } else if (!one.returned) {
    answer(one.ask, Fate::confirmed);
  } else if (one.ask.delay && !one.ask.again) {
    delays_.forget(one.ask.delay->name);  // it has just expired
    one.ask.again = true;
    return;
  } else {
    answer(one.ask, Fate::returned,
           publish_error(ErrorCode::not_found, "no queue takes what goes to " +
                                                   place_of(one.ask.outgoing.to) + ": " +
                                                   *one.returned));
  }
  one.answered = true;
}

void PublishLine::answer(Ask& ask, Fate fate, Error error) {
  tell(Answer{.then = std::move(ask.then), .sent = {.fate = fate, .error = std::move(error)}});
}

void PublishLine::answer_all_in_flight(Fate fate, const Error& error) {
  for (auto left = std::exchange(in_flight_, {}); InFlight & one : left) {
    if (one.answered) continue;
    // One that waits for its second chance is nowhere: it was returned.
    if (one.confirmed) {
      waiting_.push_front(std::move(one.ask));
    } else {
      answer(one.ask, fate, error);
    }
  }
  alone_ = false;
}

std::optional<SteadyTime> PublishLine::not_taken_since() const {
  if (blocked_since_) return blocked_since_;
  return connection() ? connection()->stuck_since() : std::nullopt;
}

void PublishLine::drop_overdue(SteadyTime now) {
  const auto since = not_taken_since();
  if (!since) return;
  const auto overdue = [&](const Ask& ask) {
    return now >= saturating_add(std::max(ask.since, *since), options().blocked_patience);
  };
  const Error error =
      publish_error(ErrorCode::unavailable,
                    "the broker takes no messages: it is short of memory or disk, or stuck");
  while (!waiting_.empty() && overdue(waiting_.front()))
    refuse_front(Fate::unsent, error);
  for (InFlight& one : in_flight_) {
    if (!overdue(one.ask)) break;
    if (std::exchange(one.answered, true)) continue;
    answer(one.ask, Fate::unknown, error);
  }
}

}  // namespace holdfast::brokers::rabbitmq
