#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "brokers/rabbitmq/consume_line.hpp"
#include "brokers/rabbitmq/mail.hpp"
#include "brokers/rabbitmq/management.hpp"
#include "brokers/rabbitmq/publish_line.hpp"
#include "brokers/rabbitmq/rabbitmq.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

// The broker itself and an API that may be another broker's: the lower limit of both, and nothing
// that they contradict each other in.
ports::QueueFacts agreed(const ports::QueueFacts& broker, ports::QueueFacts api) {
  if (broker.kind != ports::QueueFacts::Kind::unknown && broker.kind != api.kind) {
    ports::QueueFacts facts = broker;
    facts.unknown_because =
        "the management API describes a queue of another type: is it of this broker?";
    return facts;
  }
  if (broker.return_limit)
    api.return_limit =
        std::min(api.return_limit.value_or(*broker.return_limit), *broker.return_limit);
  return api;
}

// The side of the loop: hands on what is asked to two threads, and what they have to whoever asked.
class RabbitMq final : public ports::Broker {
 public:
  RabbitMq(ports::Loop& loop, Options options, Logger log)
      : loop_(loop),
        options_(std::move(options)),
        log_(log),
        mail_(std::make_shared<Mail>(loop, [this](Event event) { take(std::move(event)); })) {}

  ~RabbitMq() override {
    mail_->close();
    // What acknowledges first: it has the last word about what is done.
    consuming_.reset();
    publishing_.reset();
  }
  RabbitMq(const RabbitMq&) = delete;
  RabbitMq& operator=(const RabbitMq&) = delete;

  void open(ports::Topology topology,
            std::move_only_function<void(Result<ports::Opened>)> then) override {
    has_topologies_ = true;
    consuming().ask(ConsumeLine::Open{std::move(topology), std::move(then)});
  }

  void publish(ports::Outgoing outgoing, std::move_only_function<void(ports::Sent)> then) override {
    if (!publishing_) publishing_ = std::make_unique<PublishLine>(parts());
    publishing_->publish(std::move(outgoing), std::move(then));
  }

  ports::ConsumerId consume(ports::Intake intake, ports::Receiver& receiver) override {
    const ports::ConsumerId id = ++last_consumer_;
    receivers_.emplace(id, Receiving{.receiver = &receiver});
    consuming().ask(ConsumeLine::Consume{id, std::move(intake)});
    return id;
  }

  void pause(ports::ConsumerId consumer) override {
    const auto found = receivers_.find(consumer);
    if (found == receivers_.end()) return;
    found->second.is_paused = true;
    consuming().ask(ConsumeLine::Alter{consumer, ConsumeLine::Change::pause});
  }

  void resume(ports::ConsumerId consumer) override {
    const auto found = receivers_.find(consumer);
    if (found == receivers_.end()) return;
    found->second.is_paused = false;
    consuming().ask(ConsumeLine::Alter{consumer, ConsumeLine::Change::resume});
  }

  void set_prefetch(ports::ConsumerId consumer, std::size_t prefetch) override {
    consuming().ask(ConsumeLine::SetPrefetch{consumer, prefetch});
  }
  void drain(ports::ConsumerId consumer, std::move_only_function<void()> then) override {
    consuming().ask(ConsumeLine::Drain{consumer, std::move(then)});
  }

  void close(ports::ConsumerId consumer, std::move_only_function<void()> then) override {
    const auto found = receivers_.find(consumer);
    if (found == receivers_.end()) return;
    found->second.receiver = nullptr;
    found->second.closed = std::move(then);
    consuming().ask(ConsumeLine::Alter{consumer, ConsumeLine::Change::close});
  }

  void acknowledge(ports::ConsumerId /*consumer*/, ports::DeliveryTag tag) override {
    consuming().ask(ConsumeLine::Settle{tag, AckWindow::Say::acknowledge});
  }
  void hand_back(ports::ConsumerId /*consumer*/, ports::DeliveryTag tag) override {
    consuming().ask(ConsumeLine::Settle{tag, AckWindow::Say::hand_back});
  }
  void hold(ports::ConsumerId /*consumer*/, ports::DeliveryTag tag) override {
    consuming().ask(ConsumeLine::Settle{tag, AckWindow::Say::hold});
  }

  void depth(std::string queue, std::move_only_function<void(Result<ports::Depth>)> then) override {
    consuming().ask(ConsumeLine::Count{std::move(queue), std::move(then)});
  }

  void inspect(std::string queue,
               std::move_only_function<void(Result<ports::QueueFacts>)> then) override {
    consuming().ask(
        ConsumeLine::Inspect{queue, [this, queue, then = std::move(then)](
                                        Result<ports::QueueFacts> facts, int version) mutable {
                               // A declaration does not show policies.
                               if (!facts || facts->limit_is_known) return then(std::move(facts));
                               ask_for_policies(queue, version, *std::move(facts), std::move(then));
                             }});
  }

  void find_exchange(std::string exchange,
                     std::move_only_function<void(Result<bool>)> then) override {
    consuming().ask(ConsumeLine::FindExchange{std::move(exchange), std::move(then)});
  }

  void list_queues(
      std::string pattern,
      std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)> then) override {
    management().list(pattern, std::move(then));
  }

 private:
  struct Receiving {
    ports::Receiver* receiver = nullptr;  // none: it is being closed
    bool is_paused = false;
    std::move_only_function<void()> closed = nullptr;
  };

  [[nodiscard]] Line::Parts parts() {
    return {.options = options_, .clock = system_clock(), .log = log_, .mail = mail_};
  }
  [[nodiscard]] ConsumeLine& consuming() {
    if (!consuming_) consuming_ = std::make_unique<ConsumeLine>(parts());
    return *consuming_;
  }

  [[nodiscard]] Management& management() {
    if (!management_) management_ = std::make_unique<Management>(loop_, options_);
    return *management_;
  }

  void ask_for_policies(const std::string& queue, int version, ports::QueueFacts facts,
                        std::move_only_function<void(Result<ports::QueueFacts>)> then) {
    if (!options_.asks_management) return then(std::move(facts));
    management().queue(
        queue, version,
        [facts = std::move(facts), then = std::move(then)](Result<ports::QueueFacts> said) mutable {
          if (said) return then(agreed(facts, *said));
          if (!facts.unknown_because.empty()) facts.unknown_because += "; ";
          facts.unknown_because += said.error().message;
          then(std::move(facts));
        });
  }

  void take(Event event) {
    std::visit([this](auto& one) { take_one(one); }, event);
  }
  void take_one(Answer& answer) {
    // Somebody may have deleted a queue that is ours.
    if (answer.sent.fate == ports::Fate::returned && has_topologies_)
      consuming().ask(ConsumeLine::MakeSure{});
    answer.then(std::move(answer.sent));
  }
  void take_one(Call& call) { call.work(); }
  void take_one(Received& received) {
    const auto found = receivers_.find(received.consumer);
    if (found == receivers_.end() || !found->second.receiver) return;
    if (!found->second.is_paused) {
      return found->second.receiver->received(std::move(received.deliveries));
    }
    // They were under way when it was paused.
    for (const ports::Delivery& delivery : received.deliveries) {
      hand_back(received.consumer, delivery.tag);
    }
  }
  void take_one(Interrupted& interrupted) {
    if (auto* const receiver = receiver_of(interrupted.consumer))
      receiver->interrupted(interrupted.why);
  }
  void take_one(Consuming& consuming) {
    if (auto* const receiver = receiver_of(consuming.consumer)) receiver->consuming();
  }
  void take_one(Refused& refused) {
    if (auto* const receiver = receiver_of(refused.consumer)) receiver->refused(refused.why);
  }
  void take_one(Unreadable& unreadable) {
    if (auto* const receiver = receiver_of(unreadable.consumer))
      receiver->unreadable(unreadable.why);
  }
  void take_one(Closed& closed) {
    auto gone = receivers_.extract(closed.consumer);
    if (gone && gone.mapped().closed) gone.mapped().closed();
  }
  [[nodiscard]] ports::Receiver* receiver_of(ports::ConsumerId consumer) {
    const auto found = receivers_.find(consumer);
    return found == receivers_.end() ? nullptr : found->second.receiver;
  }

  ports::Loop& loop_;
  const Options options_;
  const Logger log_;
  const std::shared_ptr<Mail> mail_;
  std::unique_ptr<Management> management_;
  std::map<ports::ConsumerId, Receiving> receivers_;
  ports::ConsumerId last_consumer_ = 0;
  bool has_topologies_ = false;
  std::unique_ptr<PublishLine> publishing_;
  std::unique_ptr<ConsumeLine> consuming_;
};

}  // namespace

std::unique_ptr<ports::Broker> open(ports::Loop& loop, Options options, Logger log) {
  return std::make_unique<RabbitMq>(loop, std::move(options), log);
}

}  // namespace holdfast::brokers::rabbitmq
