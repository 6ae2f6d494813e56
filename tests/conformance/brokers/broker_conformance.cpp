#include "conformance/brokers/broker_conformance.hpp"

#include <cstdint>
#include <utility>

#include <unistd.h>

namespace holdfast::conformance {

std::vector<std::string> Recorder::bodies() const {
  std::vector<std::string> bodies;
  for (const Delivery& delivery : got)
    bodies.push_back(delivery.message.body);
  return bodies;
}

BrokerWorld::BrokerWorld(Open open) : broker(open(loop, Logger(log))) {}

std::string BrokerWorld::unique_name(const std::string& of) {
  static int count = 0;
  return "holdfast-test-" + of + "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

std::string BrokerWorld::new_queue(ports::QueueWish::Kind kind, const std::string& of,
                                   const std::string& ending) {
  const std::string name = unique_name(of) + ending;
  const auto opened = make_sure({.queues = {{.name = name, .kind = kind}}});
  EXPECT_TRUE(opened) << opened.error().text();
  return name;
}

namespace {

// Asks, and waits for the answer.
template <class Answer>
Answer wait_for(testing::RealLoop& loop,
                const std::function<void(std::move_only_function<void(Answer)>)>& ask,
                Answer without) {
  const auto answer = std::make_shared<std::optional<Answer>>();
  ask([answer](Answer given) {
    EXPECT_FALSE(answer->has_value()) << "answered twice";
    answer->emplace(std::move(given));
  });
  EXPECT_FALSE(answer->has_value()) << "answered from within the call";
  if (!loop.until([&] { return answer->has_value(); })) {
    ADD_FAILURE() << "no answer";
    return without;
  }
  return std::move(**answer);
}

}  // namespace

Result<ports::Opened> BrokerWorld::make_sure(ports::Topology topology) {
  return wait_for<Result<ports::Opened>>(
      loop, [&](auto then) { broker->open(std::move(topology), std::move(then)); },
      fail(ErrorCode::timeout, "open", "no answer"));
}

Sent BrokerWorld::publish(Outgoing outgoing) {
  return wait_for<Sent>(
      loop, [&](auto then) { broker->publish(std::move(outgoing), std::move(then)); }, Sent{});
}

Sent BrokerWorld::publish(const std::string& queue, std::string body) {
  return publish({.to = {.routing_key = queue},
                  .message = {.body = std::move(body), .headers = {}, .delivery_mode = 2}});
}

std::vector<Sent> BrokerWorld::publish_all(std::vector<Outgoing> all) {
  const auto answers = std::make_shared<std::vector<std::optional<Sent>>>(all.size());
  const auto left = std::make_shared<std::size_t>(all.size());
  for (std::size_t at = 0; at < all.size(); ++at) {
    broker->publish(std::move(all[at]), [answers, left, at](Sent sent) {
      EXPECT_FALSE((*answers)[at].has_value()) << "answered twice";
      (*answers)[at] = std::move(sent);
      --*left;
    });
  }
  EXPECT_TRUE(loop.until([&] { return *left == 0; })) << *left << " are not answered";
  std::vector<Sent> sent;
  for (auto& answer : *answers)
    sent.push_back(std::move(answer).value_or(Sent{}));
  return sent;
}

Result<ports::Depth> BrokerWorld::depth(const std::string& queue) {
  return wait_for<Result<ports::Depth>>(
      loop, [&](auto then) { broker->depth(queue, std::move(then)); },
      fail(ErrorCode::timeout, "depth", "no answer"));
}

Result<std::vector<ports::QueueStatus>> BrokerWorld::list_queues(const std::string& pattern) {
  return wait_for<Result<std::vector<ports::QueueStatus>>>(
      loop, [&](auto then) { broker->list_queues(pattern, std::move(then)); },
      fail(ErrorCode::timeout, "list queues", "no answer"));
}

bool BrokerWorld::has_ready(const std::string& queue, std::uint64_t count) {
  // Quorum queues count with a delay.
  return loop.until([&] {
    const auto found = depth(queue);
    return found && found->ready == count;
  });
}

void BrokerWorld::close(ports::ConsumerId consumer) {
  const auto done = std::make_shared<bool>(false);
  broker->close(consumer, [done] { *done = true; });
  EXPECT_FALSE(*done) << "closed from within the call";
  EXPECT_TRUE(loop.until([&] { return *done; })) << "it is not closed";
}

std::vector<Delivery> BrokerWorld::take_out(const std::string& queue, std::size_t count) {
  Recorder recorder;
  const auto consumer = broker->consume({.queue = queue, .prefetch = 500}, recorder);
  std::size_t settled = 0;
  const auto all = until([&] {
    for (; settled < recorder.got.size(); ++settled) {
      broker->acknowledge(consumer, recorder.got[settled].tag);
    }
    return settled >= count;
  });
  EXPECT_TRUE(all) << settled << " of " << count << " came";
  close(consumer);
  return std::move(recorder.got);
}

Message full_message() {
  Message message;
  message.body = std::string("body with \0 in it", 17);
  message.content_type = "application/json";
  message.content_encoding = "identity";
  message.delivery_mode = 2;
  message.priority = 3;
  message.correlation_id = "correlation";
  message.reply_to = "answers";
  message.message_id = "message-1";
  message.timestamp = 1'700'000'000;
  message.type = "mail.send";
  message.app_id = "shop";
  message.cluster_id = "cluster";
  message.expiration = "3600000";
  using ports::Field;
  using Value = Field::Value;
  message.headers = {
      {"nothing", Field()},
      {"yes", Field(Value(true))},
      {"no", Field(Value(false))},
      {"int8", Field(Value(std::int8_t{-8}))},
      {"uint8", Field(Value(std::uint8_t{200}))},
      {"int16", Field(Value(std::int16_t{-16000}))},
      {"uint16", Field(Value(std::uint16_t{60000}))},
      {"int32", Field(Value(std::int32_t{-32}))},
      {"uint32", Field(Value(std::uint32_t{4'000'000'000}))},
      {"int64", Field(Value(std::int64_t{-6'400'000'000}))},
      {"float", Field(Value(1.5F))},
      {"double", Field(Value(-0.1))},
      {"decimal", Field(Value(Field::Decimal{2, 12345}))},
      {"text", Field("täxt")},
      {"bytes", Field(Value(Field::Bytes{std::string("\0\xff", 2)}))},
      {"time", Field(Value(Field::Time{1'700'000'001}))},
      {"array",
       Field(Value(ports::FieldArray{Field("one"), Field(Value(std::int32_t{2})), Field()}))},
      {"table", Field(Value(ports::FieldTable{
                    {"inner", Field(Value(ports::FieldTable{{"deep", Field("down")}}))}}))}};
  return message;
}

}  // namespace holdfast::conformance
