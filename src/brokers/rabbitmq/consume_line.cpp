#include "brokers/rabbitmq/consume_line.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "brokers/rabbitmq/consumer.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

constexpr ChannelNumber kConsumeDeclareChannel = 1;
// A connection that is lost sooner was none.
constexpr auto kShortLife = std::chrono::seconds(1);

}  // namespace

ConsumeLine::ConsumeLine(Parts parts)
    : Line(std::move(parts), "consume"),
      declarer_(kConsumeDeclareChannel),
      topologies_(declarer_, log()),
      patience_(Patience::policy(options(), "connect", clock(), log())) {
  start();
}

ConsumeLine::~ConsumeLine() {
  stop();
}

void ConsumeLine::ask(Order order) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = inbox_.empty();
    inbox_.push_back(std::move(order));
  }
  if (first) ring();
}

void ConsumeLine::take_orders() {
  std::vector<Order> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(inbox_);
  }
  for (Order& order : orders) {
    std::visit([this](auto& one) { carry_out(one); }, order);
  }
}

void ConsumeLine::carry_out(Open& open) {
  gave_up_ = false;
  topologies_.add(std::move(open.topology),
                  [this, then = std::move(open.then)](Result<ports::Opened> opened) mutable {
                    tell(Call{[then = std::move(then), opened = std::move(opened)]() mutable {
                      then(std::move(opened));
                    }});
                  });
}

void ConsumeLine::carry_out(Count& count) {
  counts_.push_back(std::move(count));
}

void ConsumeLine::carry_out(Consume& consume) {
  gave_up_ = false;
  auto consumer = std::make_unique<Consumer>(
      Consumer{.id = consume.consumer,
               .queue = consume.intake.queue,
               .prefetch = std::clamp<std::size_t>(consume.intake.prefetch, 1, 65535),
               .patience = Patience(Patience::policy(options(), "consume " + consume.intake.queue,
                                                     clock(), log()))});
  consumers_.emplace(consume.consumer, std::move(consumer));
}

void ConsumeLine::carry_out(Alter& alter) {
  const auto found = consumers_.find(alter.consumer);
  if (found == consumers_.end()) return;
  Consumer& consumer = *found->second;
  switch (alter.change) {
    case Change::pause: consumer.is_paused = true; break;
    case Change::resume: consumer.is_paused = false; break;
    case Change::close:
      consumer.is_closing = true;
      if (is_up() && (consumer.current || !consumer.kept.empty())) {
        wind_down(consumer);
      } else {
        tell(Closed{consumer.id});
        consumers_.erase(found);
      }
      break;
  }
}

void ConsumeLine::carry_out(Settle& settle) {
  const auto found = lines_.find(settle.tag.line);
  if (found == lines_.end()) return;  // of a line that is gone: the broker has it again
  Channel& channel = *found->second;
  const std::uint64_t tag = settle.tag.number;
  const bool was_held = channel.window.is_held(tag);
  if (!channel.window.say(tag, settle.say)) return;
  Consumer& consumer = *channel.consumer;
  if (!was_held) --consumer.open;
  if (settle.say == AckWindow::Say::hold) return;
  if (tag >= channel.first_tag) --channel.counted;
  if (settle.say == AckWindow::Say::hand_back) {
    out().method(channel.number, AMQP_BASIC_REJECT_METHOD,
                 amqp_basic_reject_t{.delivery_tag = tag, .requeue = 1});
  }
  if (!std::exchange(channel.has_acks, true)) with_acks_.push_back(&channel);
}

void ConsumeLine::go_on(SteadyTime now) {
  if (!connection()) {
    const bool lasting = has_lasting_purpose();
    if (!lasting && counts_.empty()) return;
    if (next_attempt_ && now < *next_attempt_) return fail_counts(last_error_);
    next_attempt_.reset();
    if (lasting) patience_.attempt();
    connect();
  }
  if (!is_up()) return;
  forward_counts();
  topologies_.make_sure();
  for (auto& [id, consumer] : consumers_)
    advance(*consumer, now);
  for (Channel* const channel : std::exchange(with_acks_, {}))
    write_acks(*channel);
  declarer_.go_on(out(), now);
  if (now >= answer_due()) {
    give_up_connection({ErrorCode::timeout, "consume", "the broker does not answer"});
  }
}

SteadyTime ConsumeLine::next_time() const {
  if (!connection()) {
    if (!has_lasting_purpose()) return SteadyTime::max();
    return next_attempt_.value_or(SteadyTime());  // at once
  }
  auto next = answer_due();
  for (const auto& [id, consumer] : consumers_) {
    if (consumer->retry_at && !consumer->is_paused) next = std::min(next, *consumer->retry_at);
  }
  return next;
}

// ---- the connection ----

SteadyTime ConsumeLine::answer_due() const {
  auto since = declarer_.waits_since().value_or(SteadyTime::max());
  for (const auto& [id, consumer] : consumers_) {
    const Channel* const first = consumer->current        ? consumer->current
                                 : consumer->kept.empty() ? nullptr
                                                          : consumer->kept.front();
    if (first && first->waits_for_answer()) since = std::min(since, first->since);
  }
  return saturating_add(since, longest_answer());
}

bool ConsumeLine::has_lasting_purpose() const {
  return !gave_up_ && (!consumers_.empty() || !topologies_.is_empty());
}

void ConsumeLine::on_up() {
  log().log(Level::info, "broker.connected", "Connected to the broker.",
            {{"broker", place()}, {"role", role()}});
  up_since_ = clock().now();
  patience_.succeeded();
  channels_.resize(std::size_t{connection()->channel_most()} + 1);
}

void ConsumeLine::on_lost(const Error& why, bool was_up) {
  last_error_ = why;
  topologies_.doubt();
  declarer_.on_lost(why);
  fail_counts(why);
  lines_.clear();
  with_acks_.clear();
  channels_.clear();
  std::erase_if(consumers_, [&](auto& entry) {
    Consumer& consumer = *entry.second;
    consumer.current = nullptr;
    consumer.kept.clear();
    consumer.open = 0;
    if (consumer.is_closing)
      tell(Closed{consumer.id});
    else if (std::exchange(consumer.was_told, false))
      tell(Interrupted{consumer.id, why});
    return consumer.is_closing;
  });
  if (!has_lasting_purpose()) return;
  // At once after a loss, unless that comes so soon that it is no better than a failure.
  if (was_up && clock().now() - up_since_ >= kShortLife) return;
  next_attempt_ = patience_.failed(why);
  if (!next_attempt_) give_up(why);
}

void ConsumeLine::give_up(const Error& why) {
  gave_up_ = true;
  topologies_.give_up(why);
  tell_gave_up(why);
}

void ConsumeLine::tell_gave_up(const Error& why) {
  if (!options().on_gave_up) return;
  tell(Call{[told = options().on_gave_up, why] { told(why); }});
}

void ConsumeLine::fail_counts(const Error& why) {
  for (auto counts = std::exchange(counts_, {}); Count & count : counts) {
    tell(Call{[then = std::move(count.then),
               error = Error{why.code, "count messages", why.message}]() mutable {
      then(std::unexpected(std::move(error)));
    }});
  }
}

void ConsumeLine::forward_counts() {
  for (auto counts = std::exchange(counts_, {}); Count & count : counts) {
    declarer_.ask({.queue = std::move(count.queue), .only_look = true},
                  [this, then = std::move(count.then)](Declarer::Answer answer) mutable {
                    answer.error.operation = "count messages";
                    Result<ports::Depth> depth = answer.depth;
                    if (!answer.is_there()) depth = std::unexpected(std::move(answer.error));
                    tell(Call{[then = std::move(then), depth = std::move(depth)]() mutable {
                      then(std::move(depth));
                    }});
                  });
  }
}

}  // namespace holdfast::brokers::rabbitmq
