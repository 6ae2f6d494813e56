#include "brokers/rabbitmq/consumer.hpp"

#include <algorithm>
#include <utility>

#include "brokers/rabbitmq/delay_queues.hpp"
#include "brokers/rabbitmq/fields.hpp"
#include "brokers/rabbitmq/publish_line.hpp"

// The consumers of a ConsumeLine: from opening a channel to closing it, and what comes by it.
namespace holdfast::brokers::rabbitmq {
namespace {

constexpr const char* kConsumeOperation = "consume";
// As many on one channel: the broker searches them for each acknowledgement that comes after.
constexpr std::size_t kMostHeldOnOne = 256;
constexpr std::uint64_t kReserved = 65536;  // bytes: what a message says of its size is only said

}  // namespace

ConsumeLine::Channel* ConsumeLine::channel(ChannelNumber number) {
  return number < channels_.size() ? channels_[number].get() : nullptr;
}

// ---- towards what a consumer is to be ----

void ConsumeLine::advance(Consumer& consumer, SteadyTime now) {
  if (consumer.is_closing) return wind_down(consumer);
  if (!consumer.current) {
    if (consumer.is_draining) return tell_drained(consumer);
    return begin(consumer, now);
  }
  Channel& channel = *consumer.current;
  if (channel.phase == Channel::Phase::consuming) {
    if (consumer.is_draining || consumer.is_too_wide()) {
      stop_deliveries(channel, now);
    } else if (consumer.is_paused || consumer.is_starved()) {
      cancel(channel);
    }
  } else if (channel.phase == Channel::Phase::idle) {
    channel.withholds_acks = false;
    if (consumer.is_draining) return tell_drained(consumer);
    if (consumer.is_paused || consumer.open >= consumer.prefetch) return;
    if (channel.window.held() >= kMostHeldOnOne) {
      consumer.kept.push_back(&channel);
      consumer.current = nullptr;
      open_channel(consumer);
      if (consumer.current) return;
      consumer.kept.pop_back();  // no channel is free: on with this one
      consumer.current = &channel;
    }
    limit(channel);
  }
}

void ConsumeLine::stop_deliveries(Channel& channel, SteadyTime now) {
  channel.withholds_acks = true;
  if (channel.has_all() || now >= channel.quiet_at()) cancel(channel);
}

// What a consumer cannot take stays with the broker. Never while an answer of the broker is needed,
// which comes behind it.
void ConsumeLine::read_or_wait() {
  bool reads = true;
  for (const auto& [id, consumer] : consumers_) {
    const Channel* const channel = consumer->current;
    if (consumer->most_bytes == 0 || consumer->is_closing || !channel) continue;
    if (channel->phase != Channel::Phase::consuming || channel->withholds_acks) continue;
    reads = reads && consumer->open_bytes() < consumer->most_bytes;
  }
  if (connection()) connection()->set_reading(reads);
}

void ConsumeLine::begin(Consumer& consumer, SteadyTime now) {
  if (consumer.is_paused || consumer.gave_up) return;
  if (consumer.retry_at) {
    if (now < *consumer.retry_at) return;
    consumer.retry_at.reset();
    topologies_.doubt();
    topologies_.make_sure();
  }
  if (topologies_.is_busy()) return;
  consumer.patience.attempt();
  open_channel(consumer);
  if (!consumer.current) {
    try_again(consumer,
              {ErrorCode::exhausted, kConsumeOperation, "the connection has no channel left"});
  }
}

void ConsumeLine::open_channel(Consumer& consumer) {
  const auto free = std::find(channels_.begin() + 2, channels_.end(), nullptr);
  if (free == channels_.end()) return;
  *free = std::make_unique<Channel>();
  Channel& channel = **free;
  channel.number = static_cast<ChannelNumber>(free - channels_.begin());
  channel.line = ++last_line_;
  channel.since = clock().now();
  channel.consumer = &consumer;
  consumer.current = &channel;
  lines_.emplace(channel.line, &channel);
  out().method(channel.number, AMQP_CHANNEL_OPEN_METHOD, amqp_channel_open_t{bytes_of("")});
}

void ConsumeLine::limit(Channel& channel) {
  const Consumer& consumer = *channel.consumer;
  channel.phase = Channel::Phase::limiting;
  channel.since = clock().now();
  channel.limit = consumer.prefetch - consumer.open;
  out().method(channel.number, AMQP_BASIC_QOS_METHOD,
               amqp_basic_qos_t{.prefetch_size = 0,
                                .prefetch_count = static_cast<std::uint16_t>(channel.limit),
                                .global = 0});
}

void ConsumeLine::name_and_start(Channel& channel) {
  channel.phase = Channel::Phase::starting;
  channel.since = clock().now();
  ++channel.name;
  channel.counted = 0;
  channel.unwritten = 0;
  channel.last_came = channel.since;
  channel.first_tag = channel.last_tag + 1;
  const std::string name = channel.consumer_name();
  out().method(channel.number, AMQP_BASIC_CONSUME_METHOD,
               amqp_basic_consume_t{.ticket = 0,
                                    .queue = bytes_of(channel.consumer->queue),
                                    .consumer_tag = bytes_of(name),
                                    .no_local = 0,
                                    .no_ack = 0,
                                    .exclusive = 0,
                                    .nowait = 0,
                                    .arguments = {0, nullptr}});
}

void ConsumeLine::cancel(Channel& channel) {
  channel.phase = Channel::Phase::stopping;
  channel.since = clock().now();
  const std::string name = channel.consumer_name();
  out().method(channel.number, AMQP_BASIC_CANCEL_METHOD,
               amqp_basic_cancel_t{.consumer_tag = bytes_of(name), .nowait = 0});
}

void ConsumeLine::close(Channel& channel) {
  channel.phase = Channel::Phase::closing;
  channel.since = clock().now();
  lines_.erase(channel.line);
  out().method(
      channel.number, AMQP_CHANNEL_CLOSE_METHOD,
      amqp_channel_close_t{
          .reply_code = 200, .reply_text = bytes_of("done"), .class_id = 0, .method_id = 0});
}

// Not closed at once: a quorum queue's acknowledgements wait in the channel while earlier ones are
// being written, and are dropped with it. To be cancelled takes its turn behind those; to look at
// the queue then waits until the channel has sent the rest.
void ConsumeLine::wind_down(Consumer& consumer) {
  using Phase = Channel::Phase;
  if (consumer.current) consumer.kept.push_back(std::exchange(consumer.current, nullptr));
  for (Channel* const channel : consumer.kept) {
    if (channel->phase == Phase::consuming) {
      write_acks(*channel);
      cancel(*channel);
    } else if (channel->phase == Phase::idle) {
      write_acks(*channel);
      flush(*channel, consumer.queue);
    } else if (channel->phase == Phase::flushed && channel == consumer.kept.front()) {
      // One after the other: what was held first is handed back first.
      hand_all_back(*channel);
      close(*channel);
    }
  }
}

void ConsumeLine::flush(Channel& channel, const std::string& queue) {
  channel.phase = Channel::Phase::flushing;
  channel.since = clock().now();
  out().method(channel.number, AMQP_QUEUE_DECLARE_METHOD,
               amqp_queue_declare_t{.ticket = 0,
                                    .queue = bytes_of(queue),
                                    .passive = 1,
                                    .durable = 1,
                                    .exclusive = 0,
                                    .auto_delete = 0,
                                    .nowait = 0,
                                    .arguments = {0, nullptr}});
}

// In the order they were delivered, which a quorum queue does not keep when a channel just goes.
void ConsumeLine::hand_all_back(Channel& channel) {
  if (channel.window.is_empty()) return;
  out().method(channel.number, AMQP_BASIC_NACK_METHOD,
               amqp_basic_nack_t{.delivery_tag = 0, .multiple = 1, .requeue = 1});
}

void ConsumeLine::close_channels(Consumer& consumer) {
  if (consumer.current) consumer.kept.push_back(std::exchange(consumer.current, nullptr));
  for (Channel* const channel : consumer.kept) {
    if (channel->phase != Channel::Phase::closing) close(*channel);
  }
}

// ---- what becomes of it ----

void ConsumeLine::interrupt(Consumer& consumer, const Error& why) {
  close_channels(consumer);
  for (Channel* const channel : std::exchange(consumer.kept, {}))
    channel->consumer = nullptr;
  consumer.open = 0;
  topologies_.doubt();
  if (std::exchange(consumer.was_told, false)) {
    log().log(Level::warning, "broker.interrupted", "The broker has ended a consumer.",
              {{"broker", place()}, {"queue", consumer.queue}, {"error", why.message}});
    tell(Interrupted{consumer.id, why});
  } else {
    try_again(consumer, why);
  }
}

void ConsumeLine::try_again(Consumer& consumer, const Error& why) {
  consumer.retry_at = consumer.patience.failed(why);
  if (consumer.retry_at) return;
  consumer.gave_up = true;
  tell_gave_up(why);
}

void ConsumeLine::on_consuming(Channel& channel) {
  channel.phase = Channel::Phase::consuming;
  Consumer& consumer = *channel.consumer;
  consumer.patience.succeeded();
  if (!std::exchange(consumer.was_told, true)) tell(Consuming{consumer.id});
}

void ConsumeLine::write_acks(Channel& channel) {
  channel.has_acks = false;
  channel.unwritten = 0;
  for (const AckWindow::Ack& ack : channel.window.take_acks()) {
    out().method(channel.number, AMQP_BASIC_ACK_METHOD,
                 amqp_basic_ack_t{.delivery_tag = ack.tag, .multiple = ack.multiple ? 1 : 0});
  }
  Consumer* const consumer = channel.consumer;
  const bool of_no_use = consumer && !consumer->is_closing && consumer->current != &channel &&
                         channel.phase != Channel::Phase::closing && channel.window.is_empty();
  if (!of_no_use) return;
  std::erase(consumer->kept, &channel);
  channel.consumer = nullptr;
  close(channel);
}

void ConsumeLine::forget(Channel& channel) {
  Consumer* const consumer = channel.consumer;
  lines_.erase(channel.line);
  std::erase(with_acks_, &channel);
  if (consumer) std::erase(consumer->kept, &channel);
  const bool closed = consumer && consumer->is_closing && consumer->kept.empty();
  channels_[channel.number].reset();
  if (!closed) return;
  tell(Closed{consumer->id});
  consumers_.erase(consumer->id);
}

// ---- what comes ----

Result<void> ConsumeLine::on_method(ChannelNumber number, const MethodReader::Method& method) {
  if (number == 1) {
    declarer_.on_method(method, out());
    return {};
  }
  Channel* const found = channel(number);
  if (!found) return {};
  using Phase = Channel::Phase;
  if (found->phase == Phase::closing) {
    if (method.id == AMQP_BASIC_DELIVER_METHOD) found->is_receiving = false;
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
      out().method(number, AMQP_CHANNEL_CLOSE_OK_METHOD, amqp_channel_close_ok_t{});
    } else if (method.id != AMQP_CHANNEL_CLOSE_OK_METHOD) {
      return {};
    }
    forget(*found);
    return {};
  }
  switch (method.id) {
    case AMQP_CHANNEL_OPEN_OK_METHOD:
      if (found->phase == Phase::opening) found->phase = Phase::idle;
      break;
    case AMQP_BASIC_QOS_OK_METHOD:
      if (found->consumer->is_closing)
        found->phase = Phase::idle;
      else
        name_and_start(*found);
      break;
    case AMQP_QUEUE_DECLARE_OK_METHOD:
      if (found->phase == Phase::flushing) found->phase = Phase::flushed;
      break;
    case AMQP_BASIC_CONSUME_OK_METHOD: on_consuming(*found); break;
    case AMQP_BASIC_CANCEL_OK_METHOD:
      if (found->phase == Phase::stopping) found->phase = Phase::idle;
      break;
    case AMQP_BASIC_CANCEL_METHOD: on_cancelled(*found); break;
    case AMQP_BASIC_DELIVER_METHOD: on_deliver(*found, method.as<amqp_basic_deliver_t>()); break;
    case AMQP_CHANNEL_CLOSE_METHOD:
      on_channel_closed(*found, method.as<amqp_channel_close_t>());
      break;
    default: break;
  }
  return {};
}

void ConsumeLine::on_cancelled(Channel& channel) {
  if (channel.consumer->is_closing) {
    if (channel.phase != Channel::Phase::flushing) channel.phase = Channel::Phase::idle;
    return;
  }
  interrupt(*channel.consumer,
            {ErrorCode::not_found, kConsumeOperation,
             "the broker has cancelled it: the queue was deleted, or is on a node that went away"});
}

void ConsumeLine::on_channel_closed(Channel& channel, const amqp_channel_close_t& close) {
  const Error why = said_by_broker(kConsumeOperation, close.reply_code, text_of(close.reply_text));
  out().method(channel.number, AMQP_CHANNEL_CLOSE_OK_METHOD, amqp_channel_close_ok_t{});
  Consumer& consumer = *channel.consumer;
  if (consumer.current == &channel) consumer.current = nullptr;
  const bool is_closing = consumer.is_closing;
  const bool is_refused = channel.phase == Channel::Phase::starting && !consumer.was_told;
  forget(channel);
  if (is_closing) return;
  if (is_refused) tell(Refused{consumer.id, why});
  interrupt(consumer, why);
}

void ConsumeLine::on_deliver(Channel& channel, const amqp_basic_deliver_t& deliver) {
  channel.is_receiving = true;
  channel.delivery = {};
  channel.delivery.tag = {.line = channel.line, .number = deliver.delivery_tag};
  channel.delivery.redelivered = deliver.redelivered != 0;
  channel.delivery.from = {.exchange = std::string(text_of(deliver.exchange)),
                           .routing_key = std::string(text_of(deliver.routing_key))};
}

Result<void> ConsumeLine::on_content(ChannelNumber number, const MethodReader::Content& content) {
  Channel* const found = channel(number);
  if (!found || !found->is_receiving) return {};
  ports::Message& message = found->delivery.message;
  if (!read_properties(*content.properties, message)) {
    // A copy without them would be another message. It is kept from everybody, as if held.
    const std::string why =
        "its headers are nested deeper than " + std::to_string(kDeepestField) + " levels";
    log().log(Level::error, "broker.unreadable", "A message cannot be read; it stays in its queue.",
              {{"broker", place()}, {"queue", found->consumer->queue}, {"error", why}});
    tell(Unreadable{found->consumer->id, why});
    found->is_receiving = false;
    found->last_tag = found->delivery.tag.number;
    found->window.delivered(found->last_tag);
    found->last_came = clock().now();
    (void)found->window.say(found->last_tag, AckWindow::Say::hold);
    ++found->counted;
    return {};
  }
  found->body_left = content.body_size;
  message.body.reserve(std::min(content.body_size, kReserved));
  if (found->body_left == 0) deliver(*found);
  return {};
}

Result<void> ConsumeLine::on_body(ChannelNumber number, std::string_view part) {
  Channel* const found = channel(number);
  if (!found || !found->is_receiving) return {};
  if (part.size() > found->body_left) {
    return fail(ErrorCode::unavailable, kConsumeOperation, "more of a message than it said it has");
  }
  found->delivery.message.body += part;
  found->body_left -= part.size();
  if (found->body_left == 0) deliver(*found);
  return {};
}

void ConsumeLine::deliver(Channel& channel) {
  channel.is_receiving = false;
  Consumer& consumer = *channel.consumer;
  ports::Delivery& delivery = channel.delivery;
  ports::remove_field(delivery.message.headers, kSequenceHeader);
  remove_trace_of_delay(consumer.queue, delivery.message);
  channel.last_tag = delivery.tag.number;
  channel.window.delivered(delivery.tag.number, ports::size_in_memory(delivery.message));
  channel.last_came = clock().now();
  ++channel.counted;
  ++consumer.open;
  if (consumer.most_bytes > 0) read_or_wait();
  auto* const last = events().empty() ? nullptr : std::get_if<Received>(&events().back());
  if (last && last->consumer == consumer.id) {
    last->deliveries.push_back(std::move(delivery));
  } else {
    Received received{.consumer = consumer.id, .deliveries = {}};
    received.deliveries.push_back(std::move(delivery));
    tell(std::move(received));
  }
}

}  // namespace holdfast::brokers::rabbitmq
