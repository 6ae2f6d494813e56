#include "brokers/rabbitmq/consume_line.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "brokers/rabbitmq/argument_probe.hpp"
#include "brokers/rabbitmq/consumer.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

constexpr ChannelNumber kConsumeDeclareChannel = 1;
// A connection that is lost sooner was none.
constexpr auto kShortLife = std::chrono::seconds(1);

// As the protocol has it: 16 bits, and 0 means no limit.
std::size_t clamp_prefetch(std::size_t prefetch) {
  return std::clamp<std::size_t>(prefetch, 1, 65535);
}

}  // namespace

ConsumeLine::ConsumeLine(Parts parts)
    : Line(std::move(parts), ports::BrokerWay::consume),
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

void ConsumeLine::carry_out(Consume& consume) {
  gave_up_ = false;
  auto consumer = std::make_unique<Consumer>(
      Consumer{.id = consume.consumer,
               .queue = consume.intake.queue,
               .prefetch = clamp_prefetch(consume.intake.prefetch),
               .most_bytes = consume.intake.most_bytes,
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

void ConsumeLine::carry_out(SetPrefetch& change) {
  const auto found = consumers_.find(change.consumer);
  if (found != consumers_.end()) found->second->prefetch = clamp_prefetch(change.prefetch);
}

void ConsumeLine::carry_out(Drain& drain) {
  const auto found = consumers_.find(drain.consumer);
  if (found == consumers_.end()) return tell(Call{std::move(drain.then)});
  Consumer& consumer = *found->second;
  consumer.is_draining = true;
  consumer.drained = std::move(drain.then);
  if (!is_up()) tell_drained(consumer);
}

void ConsumeLine::tell_drained(Consumer& consumer) {
  if (auto then = std::exchange(consumer.drained, nullptr)) tell(Call{std::move(then)});
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
  if (tag >= channel.first_tag) {
    --channel.counted;
    if (settle.say == AckWindow::Say::acknowledge) ++channel.unwritten;
  }
  if (settle.say == AckWindow::Say::hand_back) {
    out().method(channel.number, AMQP_BASIC_REJECT_METHOD,
                 amqp_basic_reject_t{.delivery_tag = tag, .requeue = 1});
  }
  if (!std::exchange(channel.has_acks, true)) with_acks_.push_back(&channel);
}

void ConsumeLine::go_on(SteadyTime now) {
  if (!connection()) {
    const bool lasting = has_lasting_purpose();
    if (!lasting && questions_.empty()) return;
    if (next_attempt_ && now < *next_attempt_) return fail_questions(last_error_);
    next_attempt_.reset();
    if (lasting) patience_.attempt();
    connect();
  }
  if (!is_up()) return;
  forward_questions();
  topologies_.make_sure();
  for (auto& [id, consumer] : consumers_)
    advance(*consumer, now);
  for (Channel* const channel : std::exchange(with_acks_, {})) {
    if (channel->withholds_acks) {
      with_acks_.push_back(channel);
    } else {
      write_acks(*channel);
    }
  }
  read_or_wait();
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
    if (consumer->current && consumer->current->withholds_acks) {
      next = std::min(next, consumer->current->quiet_at());
    }
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
  note_connected();
  up_since_ = clock().now();
  patience_.succeeded();
  channels_.resize(std::size_t{connection()->channel_most()} + 1);
}

void ConsumeLine::on_lost(const Error& why, bool was_up) {
  last_error_ = why;
  topologies_.doubt();
  declarer_.on_lost(why);
  fail_questions(why);
  lines_.clear();
  with_acks_.clear();
  channels_.clear();
  std::erase_if(consumers_, [&](auto& entry) {
    Consumer& consumer = *entry.second;
    consumer.current = nullptr;
    consumer.kept.clear();
    consumer.open = 0;
    tell_drained(consumer);
    if (consumer.is_closing)
      tell(Closed{consumer.id});
    else if (std::exchange(consumer.was_told, false))
      tell(Interrupted{consumer.id, why});
    return consumer.is_closing;
  });
  if (!has_lasting_purpose()) return;
  // At once after a loss, unless that comes so soon that it is no better than a failure, and at
  // every host.
  if (was_up && clock().now() - up_since_ >= kShortLife)
    short_lives_ = 0;
  else if (was_up)
    ++short_lives_;
  if (was_up && short_lives_ < host_count()) return;
  short_lives_ = 0;
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

void ConsumeLine::fail_questions(const Error& why) {
  for (auto questions = std::exchange(questions_, {}); Question & one : questions)
    one.then({.lost = true, .error = why});
}

void ConsumeLine::forward_questions() {
  for (auto questions = std::exchange(questions_, {}); Question & one : questions)
    declarer_.ask(std::move(one.wish), std::move(one.then));
}

void ConsumeLine::ask_declarer(Declarer::Wish wish, Declarer::Then then) {
  questions_.push_back({std::move(wish), std::move(then)});
}

void ConsumeLine::carry_out(Count& count) {
  ask_declarer({.queue = std::move(count.queue), .only_look = true},
               [this, then = std::move(count.then)](Declarer::Answer answer) mutable {
                 answer.error.operation = "count messages";
                 Result<ports::Depth> depth = answer.depth;
                 if (!answer.is_there()) depth = std::unexpected(std::move(answer.error));
                 tell(Call{[then = std::move(then), depth = std::move(depth)]() mutable {
                   then(std::move(depth));
                 }});
               });
}

void ConsumeLine::carry_out(MakeSure& /*again*/) {
  topologies_.doubt();
}

void ConsumeLine::carry_out(FindExchange& find) {
  ask_declarer({.queue = std::move(find.exchange), .is_exchange = true},
               [this, then = std::move(find.then)](Declarer::Answer answer) mutable {
                 Result<bool> found = answer.is_there();
                 const bool is_missing = answer.code == AMQP_NOT_FOUND;
                 if (!*found && !is_missing) found = std::unexpected(std::move(answer.error));
                 tell(Call{[then = std::move(then), found = std::move(found)]() mutable {
                   then(std::move(found));
                 }});
               });
}

// What a queue is, found out by one declaration after the other.
struct ConsumeLine::Probing {
  Inspect asked;
  ArgumentProbe probe = {};
};

void ConsumeLine::carry_out(Inspect& inspect) {
  // First whether it is there: a declaration would make it.
  std::string queue = inspect.queue;
  auto probing = std::make_shared<Probing>(Probing{.asked = std::move(inspect)});
  ask_declarer({.queue = std::move(queue), .only_look = true},
               [this, probing](Declarer::Answer answer) {
                 if (answer.is_there()) return probe(probing);
                 tell(Call{[probing, error = std::move(answer.error)]() mutable {
                   probing->asked.then(std::unexpected(std::move(error)), 0);
                 }});
               });
}

void ConsumeLine::probe(const std::shared_ptr<Probing>& probing) {
  ask_declarer({.queue = probing->asked.queue, .arguments = probing->probe.arguments()},
               [this, probing](const Declarer::Answer& answer) {
                 const int code = answer.lost ? -1 : answer.code;
                 if (probing->probe.answered(code, answer.error.message)) return probe(probing);
                 const int version = connection() ? connection()->broker_version() : 0;
                 tell(Call{[probing, version, facts = probing->probe.facts()] {
                   probing->asked.then(facts, version);
                 }});
               });
}

}  // namespace holdfast::brokers::rabbitmq
