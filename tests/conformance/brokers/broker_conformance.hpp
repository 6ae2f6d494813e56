// What every broker must do, written against ports/broker.hpp alone. A broker passes by one line in
// a program of its own that has these cases linked in:
//
//   INSTANTIATE_TEST_SUITE_P(RabbitMq, BrokerConformance, ::testing::Values(kind), name_of_broker);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/log.hpp>
#include <holdfast/testing/log_capture.hpp>

#include "ports/broker.hpp"
#include "support/real_loop.hpp"

namespace holdfast::conformance {

using namespace std::chrono_literals;
using ports::Delivery;
using ports::Fate;
using ports::Message;
using ports::Outgoing;
using ports::Sent;

struct BrokerKind {
  std::string name;  // letters and digits
  std::function<std::unique_ptr<ports::Broker>(ports::Loop&, Logger)> open;
  ports::QueueWish::Kind queues = ports::QueueWish::Kind::classic;
  // What some brokers cannot do by their nature; everything else holds for all.
  std::string ending = {};              // of the names of queues, from which they know what to be
  bool keeps_order = true;              // of messages without an id; SQS: only FIFO queues do
  bool keeps_order_of_all = true;       // SQS: a FIFO queue does for those of one group
  std::size_t large_bytes = 1'000'003;  // SQS: 1 MiB as it is written
  int delays = 50;                      // that one case waits for; SQS knows whole seconds only
};

inline std::ostream& operator<<(std::ostream& out, const BrokerKind& kind) {
  return out << kind.name;
}
[[nodiscard]] inline std::string name_of_broker(const ::testing::TestParamInfo<BrokerKind>& info) {
  return info.param.name;
}

// Keeps what comes.
class Recorder final : public ports::Receiver {
 public:
  void received(std::vector<Delivery> deliveries) override {
    for (Delivery& delivery : deliveries)
      got.push_back(std::move(delivery));
  }
  void interrupted(const Error& why) override { interruptions.push_back(why); }
  void consuming() override { ++times_consuming; }
  void refused(const Error& why) override { refusals.push_back(why); }

  [[nodiscard]] std::vector<std::string> bodies() const;

  std::vector<Delivery> got;
  std::vector<Error> interruptions;
  std::vector<Error> refusals;
  int times_consuming = 0;
};

// A loop and a broker on it, and questions whose answer is waited for.
class BrokerWorld {
 public:
  using Open = std::function<std::unique_ptr<ports::Broker>(ports::Loop&, Logger)>;

  explicit BrokerWorld(Open open);

  // A name that no other case has, and that every broker takes.
  [[nodiscard]] static std::string unique_name(const std::string& of);

  // A new queue, there.
  std::string new_queue(ports::QueueWish::Kind kind, const std::string& of = "queue",
                        const std::string& ending = "");
  Result<ports::Opened> make_sure(ports::Topology topology);
  Sent publish(Outgoing outgoing);
  Sent publish(const std::string& queue, std::string body);
  // Many, all asked before the first is answered.
  std::vector<Sent> publish_all(std::vector<Outgoing> all);
  Result<ports::Depth> depth(const std::string& queue);
  Result<std::vector<ports::QueueStatus>> list_queues(const std::string& pattern);
  // Waits until the queue has so many that are ready.
  bool has_ready(const std::string& queue, std::uint64_t count);
  void close(ports::ConsumerId consumer);
  bool until(const std::function<bool()>& condition) { return loop.until(condition); }
  // All that is in a queue, taken out of it: `count` of them.
  std::vector<Delivery> take_out(const std::string& queue, std::size_t count);

  testing::RealLoop loop;
  testing::LogCapture log;
  std::unique_ptr<ports::Broker> broker;
};

class BrokerConformance : public ::testing::TestWithParam<BrokerKind> {
 protected:
  BrokerConformance() : world(GetParam().open) {}

  [[nodiscard]] static std::string unique_name(const std::string& of) {
    return BrokerWorld::unique_name(of) + GetParam().ending;
  }
  std::string new_queue(const std::string& of = "queue") {
    return world.new_queue(GetParam().queues, of, GetParam().ending);
  }
  [[nodiscard]] ports::Broker& broker() { return *world.broker; }

  BrokerWorld world;
};

// A message with everything that one can have.
[[nodiscard]] Message full_message();

}  // namespace holdfast::conformance
