// What the adapter of RabbitMQ carries: publishes COUNT persistent messages of 500 bytes, consumes
// them with an acknowledgement each, and moves them from one queue to another.
//   tests/support/rabbitmq.py run -- build/release/bench/broker_throughput [COUNT [WINDOW]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <holdfast/clock.hpp>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "support/real_loop.hpp"

namespace holdfast {
namespace {

class Bench final : public ports::Receiver {
 public:
  Bench(int count, int window, const brokers::rabbitmq::Location& at)
      : count_(count),
        window_(window),
        broker_(brokers::rabbitmq::open(loop_, {.at = at}, Logger())) {}

  int run() {
    bool opened = false;
    broker_->open({.queues = {{.name = kFrom}, {.name = kTo}}},
                  [&](const auto&) { opened = true; });
    loop_.until([&] { return opened; });
    measure("publish", [&] { publish_more(); }, [&] { return confirmed_ == count_; });
    move_ = true;
    confirmed_ = asked_ = 0;
    consume("move", kFrom);
    move_ = false;
    consume("consume", kTo);
    return failed_ == 0 ? 0 : 1;
  }

  void received(std::vector<ports::Delivery> deliveries) override {
    got_ += static_cast<int>(deliveries.size());
    for (ports::Delivery& delivery : deliveries) {
      if (!move_) {
        broker_->acknowledge(consumer_, delivery.tag);
        continue;
      }
      ports::move_on(*broker_, consumer_, delivery.tag,
                     {.to = {.routing_key = kTo}, .message = std::move(delivery.message)},
                     [this](const ports::Sent& sent) { note(sent); });
    }
  }
  void interrupted(const Error& why) override {
    std::printf("interrupted: %s\n", why.text().c_str());
  }
  void consuming() override {}

 private:
  static constexpr const char* kFrom = "holdfast-bench.from";
  static constexpr const char* kTo = "holdfast-bench.to";

  void note(const ports::Sent& sent) {
    ++confirmed_;
    failed_ += sent.fate == ports::Fate::confirmed ? 0 : 1;
  }
  void publish_more() {
    for (; asked_ < count_ && asked_ - confirmed_ < window_; ++asked_) {
      broker_->publish(
          {.to = {.routing_key = kFrom},
           .message = {.body = std::string(500, 'x'), .headers = {}, .delivery_mode = 2}},
          [this](const ports::Sent& sent) {
            note(sent);
            publish_more();
          });
    }
  }
  void consume(const char* what, const char* queue) {
    got_ = 0;
    measure(
        what,
        [&] {
          consumer_ = broker_->consume(
              {.queue = queue, .prefetch = static_cast<std::size_t>(window_)}, *this);
        },
        [&] { return got_ == count_ && (!move_ || confirmed_ == count_); });
    bool closed = false;
    broker_->close(consumer_, [&] { closed = true; });
    loop_.until([&] { return closed; });
  }
  void measure(const char* what, const std::function<void()>& begin,
               const std::function<bool()>& is_done) {
    const auto start = system_clock().now();
    begin();
    if (!loop_.until(is_done, std::chrono::minutes(10))) ++failed_;
    const std::chrono::duration<double> took = system_clock().now() - start;
    std::printf("%-8s %7d messages %7.2f s %9.0f/s\n", what, count_, took.count(),
                count_ / took.count());
    std::fflush(stdout);
  }

  const int count_;
  const int window_;
  testing::RealLoop loop_;
  std::unique_ptr<ports::Broker> broker_;
  ports::ConsumerId consumer_ = 0;
  bool move_ = false;
  int asked_ = 0;
  int confirmed_ = 0;
  int failed_ = 0;
  int got_ = 0;
};

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  const char* const url = std::getenv("HOLDFAST_RABBITMQ");
  const auto at = holdfast::brokers::rabbitmq::parse_location(url ? url : "");
  if (!at) return std::fprintf(stderr, "HOLDFAST_RABBITMQ: %s\n", at.error().text().c_str()), 2;
  holdfast::Bench bench(argc > 1 ? std::atoi(argv[1]) : 100'000,
                        argc > 2 ? std::atoi(argv[2]) : 1000, *at);
  return bench.run();
}
