#include "brokers/sqs/consumer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace holdfast::brokers::sqs {
namespace {

constexpr std::size_t kMostAtOnce = 10;
constexpr Duration kLongestPoll = std::chrono::seconds(20);
constexpr Duration kPollSlack = std::chrono::seconds(10);
// How long a consumer that is closed waits for its polls.
constexpr Duration kLastPolls = std::chrono::seconds(2);

std::int64_t whole_seconds(Duration span, Duration least, Duration most) {
  return std::chrono::ceil<std::chrono::seconds>(std::clamp(span, least, most)).count();
}

}  // namespace

Consumer::Consumer(Parts parts, std::uint64_t line, ports::Intake intake, Hooks hooks)
    : parts_(parts),
      line_(line),
      intake_(std::move(intake)),
      hooks_(std::move(hooks)),
      policy_(
          receive_policy(parts.api.options(), intake_.queue, parts.api.clock(), parts.api.log())),
      tries_(policy_),
      shelf_(parts.api.options().visibility_timeout),
      orders_(parts.api, parts.queues, intake_.queue, [this] { end_if_done(); }) {}

void Consumer::start() {
  look_after();
  find_queue();
}

// With what was asked for before: a queue that has vanished is made again.
void Consumer::find_queue() {
  ++errands_;
  parts_.topologies.make_sure(intake_.queue, [this] {
    parts_.queues.find(intake_.queue, [this](const std::expected<void, Trouble>& found) {
      --errands_;
      if (is_closing_) return end_if_done();
      if (!found) return failed(found.error());
      tries_.succeeded();
      is_consuming_ = true;
      hooks_.consuming();
      poll();
    });
  });
}

void Consumer::set_prefetch(std::size_t prefetch) {
  intake_.prefetch = std::max<std::size_t>(prefetch, 1);
  poll();
}

void Consumer::poll() {
  if (!is_consuming_ || is_paused_ || is_closing_ || has_given_up_ || retry_timer_) return;
  const auto most_polls = static_cast<std::size_t>(std::max(parts_.api.options().polls, 1));
  while (polls_ < std::min(wanted_polls_, most_polls)) {
    const std::size_t out = shelf_.counted() + reserved_;
    if (out >= intake_.prefetch) return;
    poll_once(std::min(kMostAtOnce, intake_.prefetch - out));
  }
}

void Consumer::poll_once(std::size_t most) {
  ++polls_;
  reserved_ += most;
  const Options& options = parts_.api.options();
  const auto wait = whole_seconds(std::min(options.poll_wait, intake_.wait),
                                  std::chrono::seconds(1), kLongestPoll);
  const auto visibility =
      whole_seconds(options.visibility_timeout, std::chrono::seconds(1), Shelf::kLongest);
  // Both names of one thing: the older is all that some servers know.
  std::string members =
      fmt::format(R"("MaxNumberOfMessages":{},"WaitTimeSeconds":{},"VisibilityTimeout":{},)"
                  R"("AttributeNames":["All"],"MessageSystemAttributeNames":["All"],)"
                  R"("MessageAttributeNames":["All"])",
                  most, wait, visibility);
  parts_.queues.call({.queue = intake_.queue,
                      .operation = "ReceiveMessage",
                      .members = std::move(members),
                      .timeout = std::chrono::seconds(wait) + kPollSlack},
                     [this, most](const Answer& answer) { polled(most, answer); });
}

void Consumer::polled(std::size_t most, const Answer& answer) {
  --polls_;
  reserved_ -= most;
  if (!answer) {
    if (is_closing_) return end_if_done();
    return failed(answer.error());
  }
  tries_.succeeded();
  retry_timer_.reset();
  std::vector<Arrival> came = arrivals(*answer, intake_.queue);
  // As many polls as bring something: one of them always waits.
  if (came.empty())
    wanted_polls_ = std::max<std::size_t>(wanted_polls_ - 1, 1);
  else if (came.size() == most)
    ++wanted_polls_;
  wanted_polls_ =
      std::min(wanted_polls_, static_cast<std::size_t>(std::max(parts_.api.options().polls, 1)));
  std::vector<ports::Delivery> deliveries;
  for (Arrival& arrival : came)
    take(std::move(arrival), deliveries);
  if (!deliveries.empty()) hooks_.received(std::move(deliveries));
  if (is_closing_) return end_if_done();
  poll();
}

void Consumer::take(Arrival arrival, std::vector<ports::Delivery>& deliveries) {
  const SteadyTime now = parts_.api.clock().now();
  if (is_closing_ || is_paused_) return give_back(arrival.receipt);
  if (arrival.is_damaged) {
    parts_.api.log().log(Level::warning, "broker.damaged",
                         "A message is not what was sent; it is left for another time.",
                         {{"broker", parts_.api.options().at.text()},
                          {"queue", intake_.queue},
                          {"message", arrival.id}});
    return;
  }
  if (arrival.due) {
    const Duration rest = *arrival.due - parts_.api.clock().wall_now();
    if (rest > Duration::zero()) return put_off(std::move(arrival), rest);
  }
  const auto number = shelf_.put(arrival.id, arrival.receipt, now);
  if (!number) return;  // the receiver has it
  deliveries.push_back({.tag = {.line = line_, .number = *number},
                        .message = std::move(arrival.message),
                        .from = {.exchange = {}, .routing_key = intake_.queue},
                        .redelivered = arrival.is_redelivered});
}

// It came too early: SQS delays nothing for longer than a quarter of an hour, and in a FIFO queue
// nothing at all.
void Consumer::put_off(Arrival arrival, Duration rest) {
  if (is_fifo(intake_.queue)) {
    orders_.keep(arrival.receipt, std::min(rest, Shelf::kLongest - std::chrono::seconds(60)),
                 nullptr);
    return;
  }
  ports::remove_field(arrival.message.headers, "x-delivery-count");
  const ports::Outgoing copy{.to = {.exchange = {}, .routing_key = intake_.queue},
                             .message = std::move(arrival.message),
                             .delay = rest};
  ++errands_;
  parts_.sender.publish(copy, [this, receipt = arrival.receipt](const ports::Sent& sent) {
    --errands_;
    // Not confirmed: the original comes again when its time is over.
    if (sent.fate == ports::Fate::confirmed) remove(receipt);
    end_if_done();
  });
}

void Consumer::failed(const Trouble& trouble) {
  if (trouble.kind == Trouble::Kind::no_queue && is_consuming_) vanished(trouble);
  if (retry_timer_ || has_given_up_) return;  // another poll has told so
  const auto until = tries_.failed(trouble);
  if (!until) {
    has_given_up_ = true;
    hooks_.gave_up(trouble.error("consume " + intake_.queue));
    return;
  }
  const Duration wait = std::max(*until - parts_.api.clock().now(), Duration::zero());
  retry_timer_ = parts_.api.loop().after(wait, [this] {
    const auto done = std::move(retry_timer_);
    wanted_polls_ = 1;
    if (!is_consuming_) return find_queue();
    poll();
  });
}

void Consumer::vanished(const Trouble& trouble) {
  is_consuming_ = false;
  (void)shelf_.take_all();
  hooks_.interrupted(trouble.error("consume " + intake_.queue));
}

void Consumer::pause() {
  is_paused_ = true;
}

void Consumer::resume() {
  is_paused_ = false;
  poll();
}

void Consumer::close(std::move_only_function<void()> then) {
  is_closing_ = true;
  closed_ = std::move(then);
  retry_timer_.reset();
  look_timer_.reset();
  for (const Shelf::Slot& slot : shelf_.take_all()) {
    if (!slot.is_expired) give_back(slot.receipt);
  }
  leaves_polls_ = false;
  close_timer_ = parts_.api.loop().after(kLastPolls, [this] {
    leaves_polls_ = true;
    end_if_done();
  });
  parts_.api.loop().post([this] { end_if_done(); });
}

void Consumer::end_if_done() {
  if (!is_closing_ || orders_.pending() > 0) return;
  const bool has_polls = polls_ + errands_ > 0;
  if (closed_ && (!has_polls || leaves_polls_)) {
    auto closed = std::exchange(closed_, nullptr);
    closed();
  }
  if (closed_ || has_polls || is_over_) return;
  is_over_ = true;
  close_timer_.reset();
  hooks_.over();
}

void Consumer::acknowledge(ports::DeliveryTag tag) {
  if (tag.line != line_) return;
  const auto slot = shelf_.take(tag.number);
  if (!slot) return;
  // Also by a receipt that has run out: what is done is done, and SQS may still take its word.
  remove(slot->receipt);
  poll();
}

void Consumer::hand_back(ports::DeliveryTag tag) {
  if (tag.line != line_) return;
  const auto slot = shelf_.take(tag.number);
  if (!slot) return;
  if (!slot->is_expired) give_back(slot->receipt);
  poll();
}

void Consumer::hold(ports::DeliveryTag tag) {
  if (tag.line != line_) return;
  shelf_.hold(tag.number);
  poll();
}

void Consumer::give_back(const std::string& receipt) {
  // If it cannot be said, it comes back by itself.
  orders_.keep(receipt, Duration::zero(), nullptr);
}

void Consumer::remove(const std::string& receipt) {
  orders_.remove(receipt, [this](const std::optional<Trouble>& trouble) {
    if (!trouble) return;
    parts_.api.log().log(Level::warning, "broker.acknowledge_lost",
                         "A message could not be deleted and will be delivered again.",
                         {{"broker", parts_.api.options().at.text()},
                          {"queue", intake_.queue},
                          {"error", trouble->text()}});
  });
}

void Consumer::look_after() {
  const Duration often = std::max(parts_.api.options().visibility_timeout / 8,
                                  Duration(std::chrono::milliseconds(50)));
  look_timer_ = parts_.api.loop().after(often, [this] {
    const auto done = std::move(look_timer_);
    ask_for_time();
    tell_expired(shelf_.expire(parts_.api.clock().now()));
    look_after();
  });
}

void Consumer::ask_for_time() {
  const SteadyTime now = parts_.api.clock().now();
  for (Shelf::Wish& wish : shelf_.wishes(now)) {
    std::string receipt = wish.receipt;
    const Duration visibility = wish.visibility;
    orders_.keep(std::move(receipt), visibility,
                 [this, now, wish = std::move(wish)](const std::optional<Trouble>& trouble) {
                   if (!trouble) return shelf_.granted(wish, now);
                   shelf_.refused(wish, trouble->kind == Trouble::Kind::refused);
                 });
  }
}

void Consumer::tell_expired(std::size_t count) {
  if (count == 0) return;
  parts_.api.log().log(
      Level::warning, "broker.visibility_lost",
      "Messages could not be kept from others any longer and may be delivered again.",
      {{"broker", parts_.api.options().at.text()}, {"queue", intake_.queue}, {"messages", count}});
}

}  // namespace holdfast::brokers::sqs
