#include "brokers/rabbitmq/declarer.hpp"

#include <utility>

#include "brokers/rabbitmq/connection.hpp"

namespace holdfast::brokers::rabbitmq {

void Declarer::go_on(FrameWriter& out, SteadyTime now) {
  while (!asked_.empty()) {
    if (state_ == State::closed) {
      out.method(channel_, AMQP_CHANNEL_OPEN_METHOD, amqp_channel_open_t{bytes_of("")});
      state_ = State::opening;
      since_ = now;
    }
    if (state_ != State::ready) return;
    if (declare(asked_.front().wish, out)) {
      state_ = State::asking;
      since_ = now;
      return;
    }
    Error error{ErrorCode::invalid_argument, "declare queue", "its name or arguments are too long"};
    answer({.code = AMQP_SYNTAX_ERROR, .error = std::move(error)});
  }
}

bool Declarer::declare(const Wish& wish, FrameWriter& out) const {
  if (wish.is_exchange) {
    return out.method(channel_, AMQP_EXCHANGE_DECLARE_METHOD,
                      amqp_exchange_declare_t{.ticket = 0,
                                              .exchange = bytes_of(wish.queue),
                                              .type = bytes_of("direct"),
                                              .passive = 1,
                                              .durable = 0,
                                              .auto_delete = 0,
                                              .internal = 0,
                                              .nowait = 0,
                                              .arguments = {0, nullptr}});
  }
  TableForWire arguments;
  if (!arguments.add(wish.arguments)) return false;
  return out.method(channel_, AMQP_QUEUE_DECLARE_METHOD,
                    amqp_queue_declare_t{.ticket = 0,
                                         .queue = bytes_of(wish.queue),
                                         .passive = wish.only_look ? 1 : 0,
                                         .durable = 1,
                                         .exclusive = 0,
                                         .auto_delete = 0,
                                         .nowait = 0,
                                         .arguments = arguments.table()});
}

void Declarer::on_method(const MethodReader::Method& method, FrameWriter& out) {
  switch (method.id) {
    case AMQP_CHANNEL_OPEN_OK_METHOD: state_ = State::ready; break;
    case AMQP_QUEUE_DECLARE_OK_METHOD: {
      if (state_ != State::asking) return;
      state_ = State::ready;
      const auto& found = method.as<amqp_queue_declare_ok_t>();
      // Of a quorum queue without a leader that lives, or one that is slow to answer, both are 0.
      const bool is_sure = found.message_count > 0 || found.consumer_count > 0;
      answer({.depth = {.ready = found.message_count,
                        .consumers = found.consumer_count,
                        .is_sure = is_sure}});
      break;
    }
    case AMQP_EXCHANGE_DECLARE_OK_METHOD:
      if (state_ != State::asking) return;
      state_ = State::ready;
      answer({});
      break;
    case AMQP_CHANNEL_CLOSE_METHOD: {
      const auto& close = method.as<amqp_channel_close_t>();
      const int code = close.reply_code;
      Error error = said_by_broker("declare queue", code, text_of(close.reply_text));
      out.method(channel_, AMQP_CHANNEL_CLOSE_OK_METHOD, amqp_channel_close_ok_t{});
      const bool asking = std::exchange(state_, State::closed) == State::asking;
      if (asking) answer({.code = code, .error = std::move(error)});
      break;
    }
    default: break;
  }
}

void Declarer::on_lost(const Error& why) {
  state_ = State::closed;
  for (auto left = std::exchange(asked_, {}); auto& one : left) {
    one.then({.lost = true, .error = why});
  }
}

void Declarer::answer(Answer answer) {
  auto then = std::move(asked_.front().then);
  asked_.pop_front();
  then(std::move(answer));
}

}  // namespace holdfast::brokers::rabbitmq
