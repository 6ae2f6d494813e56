#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "brokers/sqs/api.hpp"
#include "brokers/sqs/consumer.hpp"
#include "brokers/sqs/json.hpp"
#include "brokers/sqs/queue_list.hpp"
#include "brokers/sqs/queues.hpp"
#include "brokers/sqs/sender.hpp"
#include "brokers/sqs/sqs.hpp"
#include "brokers/sqs/topologies.hpp"
#include "io/loop.hpp"

namespace holdfast::brokers::sqs {
namespace {

// How long the end of a broker waits for what was said to reach SQS.
constexpr Duration kLastWords = std::chrono::seconds(5);

// The way to the loop of whoever asks. Nothing comes through once it is shut.
class Door : public std::enable_shared_from_this<Door> {
 public:
  explicit Door(ports::Loop& loop) : loop_(loop) {}

  // Threads: any.
  void post(ports::Loop::Work work) {
    loop_.post([self = shared_from_this(), work = std::move(work)]() mutable {
      if (self->is_open_) work();
    });
  }
  // Threads: the loop's.
  void shut() { is_open_ = false; }
  [[nodiscard]] bool is_open() const { return is_open_; }

 private:
  ports::Loop& loop_;
  bool is_open_ = true;  // the loop's
};

// What lives on the broker's own thread: HTTP, JSON and signatures take time, and its end must be
// able to wait for the last words while the loop of whoever asks stands still.
struct Side {
  Side(io::Loop& own, const Options& options, const Logger& log, std::shared_ptr<Door> to)
      : loop(own),
        door(std::move(to)),
        api(own, options, system_clock(), log),
        queues(api),
        sender(api, queues),
        topologies(api, queues),
        list(api, queues) {
    if (!options.observer) return;
    api.on_change([observer = options.observer, door = door,
                   was_up = false](const std::optional<Trouble>& trouble) mutable {
      const bool lost = std::exchange(was_up, !trouble);
      door->post([observer, lost, trouble] {
        if (!trouble) return observer->connected(ports::BrokerWay::consume);
        observer->disconnected(ports::BrokerWay::consume, trouble->error("ask SQS"), lost);
      });
    });
  }

  struct Told {
    Sender::Then then;
    ports::Sent sent;
  };

  // What ends together is told together.
  void tell(Sender::Then then, ports::Sent sent) {
    told.push_back({std::move(then), std::move(sent)});
    if (told.size() > 1) return;
    loop.post([this] {
      door->post([door = door, all = std::exchange(told, {})]() mutable {
        for (Told& one : all) {
          if (!door->is_open()) return;  // what it was told has ended the broker
          one.then(std::move(one.sent));
        }
      });
    });
  }

  void end() {
    std::erase_if(consumers, [](const auto& one) { return one.second->is_over(); });
    auto left = std::make_shared<std::size_t>(consumers.size());
    if (*left == 0) return loop.stop();
    for (const auto& [id, consumer] : consumers) {
      consumer->close([this, left] {
        if (--*left == 0) loop.stop();
      });
    }
    api.at(api.clock().now() + kLastWords, [this] { loop.stop(); });
  }

  io::Loop& loop;
  const std::shared_ptr<Door> door;
  Api api;
  Queues queues;
  Sender sender;
  Topologies topologies;
  QueueList list;
  std::map<ports::ConsumerId, std::unique_ptr<Consumer>> consumers;
  std::vector<Told> told;
};

// The side of the loop: hands on what is asked, and what there is to whoever asked.
class Sqs final : public ports::Broker {
 public:
  Sqs(ports::Loop& loop, Options options, Logger log)
      : options_(std::move(options)), log_(log), door_(std::make_shared<Door>(loop)) {
    thread_ = std::thread([this] {
      Side side(own_, options_, log_, door_);
      side_ = &side;
      own_.run();
    });
  }

  ~Sqs() override {
    door_->shut();
    ask([](Side& side) { side.end(); });
    hand_over();
    thread_.join();
  }
  Sqs(const Sqs&) = delete;
  Sqs& operator=(const Sqs&) = delete;

  void open(ports::Topology topology,
            std::move_only_function<void(Result<ports::Opened>)> then) override {
    ask([topology = std::move(topology), then = through_door(std::move(then))](Side& side) mutable {
      side.topologies.open(std::move(topology), std::move(then));
    });
  }

  void publish(ports::Outgoing outgoing, std::move_only_function<void(ports::Sent)> then) override {
    ask([outgoing = std::move(outgoing), then = std::move(then)](Side& side) mutable {
      side.sender.publish(outgoing, [&side, then = std::move(then)](ports::Sent sent) mutable {
        side.tell(std::move(then), std::move(sent));
      });
    });
  }

  ports::ConsumerId consume(ports::Intake intake, ports::Receiver& receiver) override {
    const ports::ConsumerId id = ++last_consumer_;
    receivers_.emplace(id, Receiving{.receiver = &receiver});
    ask([id, intake = std::move(intake), hooks = hooks_of(id)](Side& side) mutable {
      hooks.over = [&side, id] { side.loop.post([&side, id] { side.consumers.erase(id); }); };
      const Consumer::Parts parts{side.api, side.queues, side.sender, side.topologies};
      auto& made = side.consumers[id];
      made = std::make_unique<Consumer>(parts, id, std::move(intake), std::move(hooks));
      made->start();
    });
    return id;
  }

  void pause(ports::ConsumerId consumer) override {
    const auto found = receivers_.find(consumer);
    if (found == receivers_.end()) return;
    found->second.is_paused = true;
    ask_consumer(consumer, [](Consumer& one) { one.pause(); });
  }
  void resume(ports::ConsumerId consumer) override {
    const auto found = receivers_.find(consumer);
    if (found == receivers_.end()) return;
    found->second.is_paused = false;
    ask_consumer(consumer, [](Consumer& one) { one.resume(); });
  }

  void set_prefetch(ports::ConsumerId consumer, std::size_t prefetch) override {
    ask_consumer(consumer, [prefetch](Consumer& one) { one.set_prefetch(prefetch); });
  }
  // SQS does not count it against a message that one hands it back in a dead-letter queue.
  void drain(ports::ConsumerId consumer, std::move_only_function<void()> then) override {
    pause(consumer);
    ask([then = through_door(std::move(then))](Side&) mutable { then(); });
  }

  void close(ports::ConsumerId consumer, std::move_only_function<void()> then) override {
    const auto found = receivers_.find(consumer);
    if (found == receivers_.end() || !found->second.receiver) return;
    found->second.receiver = nullptr;
    ask([this, consumer, then = std::move(then)](Side& side) mutable {
      side.consumers.at(consumer)->close([this, &side, consumer, then = std::move(then)]() mutable {
        side.door->post([this, consumer, then = std::move(then)]() mutable {
          receivers_.erase(consumer);
          if (then) then();
        });
      });
    });
  }

  void acknowledge(ports::ConsumerId consumer, ports::DeliveryTag tag) override {
    ask_consumer(consumer, [tag](Consumer& one) { one.acknowledge(tag); });
  }
  void hand_back(ports::ConsumerId consumer, ports::DeliveryTag tag) override {
    ask_consumer(consumer, [tag](Consumer& one) { one.hand_back(tag); });
  }
  void hold(ports::ConsumerId consumer, ports::DeliveryTag tag) override {
    ask_consumer(consumer, [tag](Consumer& one) { one.hold(tag); });
  }

  void depth(std::string queue, std::move_only_function<void(Result<ports::Depth>)> then) override {
    ask([queue = std::move(queue), then = through_door(std::move(then))](Side& side) mutable {
      side.queues.call({.queue = queue,
                        .operation = "GetQueueAttributes",
                        .members = R"("AttributeNames":["ApproximateNumberOfMessages"])"},
                       [then = std::move(then)](const Answer& answer) mutable {
                         if (!answer) return then(std::unexpected(answer.error().error("depth")));
                         then(depth_of(*answer));
                       });
    });
  }

  void inspect(std::string queue,
               std::move_only_function<void(Result<ports::QueueFacts>)> then) override {
    depth(std::move(queue), [then = std::move(then)](Result<ports::Depth> depth) mutable {
      if (!depth) return then(std::unexpected(std::move(depth).error()));
      then(ports::QueueFacts{.kind = ports::QueueFacts::Kind::plain, .limit_is_known = true});
    });
  }
  void find_exchange(std::string /*exchange*/,
                     std::move_only_function<void(Result<bool>)> then) override {
    ask([then = through_door(std::move(then))](Side&) mutable {
      then(fail(ErrorCode::invalid_argument, "find exchange", "SQS has no exchanges"));
    });
  }
  void list_queues(
      std::string pattern,
      std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)> then) override {
    ask([pattern = std::move(pattern), then = through_door(std::move(then))](Side& side) mutable {
      side.list.list(pattern, std::move(then));
    });
  }

 private:
  struct Receiving {
    ports::Receiver* receiver = nullptr;  // none: it is being closed
    bool is_paused = false;
  };

  // Nothing: somebody else's answer.
  static Result<ports::Depth> depth_of(const std::string& answer) {
    const auto attributes = Json(answer).find("Attributes");
    const auto count = attributes ? attributes->find("ApproximateNumberOfMessages") : std::nullopt;
    const auto number = count ? count->number() : std::nullopt;
    if (!number || *number < 0)
      return fail(ErrorCode::unavailable, "depth", "an answer without ApproximateNumberOfMessages");
    return ports::Depth{.ready = static_cast<std::uint64_t>(*number), .consumers = 0};
  }

  // What is asked in one turn of the loop is handed over together, so it can share requests: SQS
  // takes ten at a time, and wants to be paid for each.
  void ask(std::move_only_function<void(Side&)> what) {
    asked_.push_back(std::move(what));
    if (asked_.size() == 1 && door_->is_open()) door_->post([this] { hand_over(); });
  }
  void hand_over() {
    own_.post([this, all = std::exchange(asked_, {})]() mutable {
      for (auto& what : all)
        what(*side_);
    });
  }
  template <class Ask>
  void ask_consumer(ports::ConsumerId consumer, Ask what) {
    ask([consumer, what = std::move(what)](Side& side) mutable {
      const auto found = side.consumers.find(consumer);
      if (found != side.consumers.end()) what(*found->second);
    });
  }

  std::move_only_function<void()> through_door(std::move_only_function<void()> then) {
    return [door = door_, then = std::move(then)]() mutable { door->post(std::move(then)); };
  }
  template <class Value>
  std::move_only_function<void(Value)> through_door(std::move_only_function<void(Value)> then) {
    return [door = door_, then = std::move(then)](Value value) mutable {
      door->post(
          [then = std::move(then), value = std::move(value)]() mutable { then(std::move(value)); });
    };
  }

  Consumer::Hooks hooks_of(ports::ConsumerId id) {
    return {.received =
                [this, id](std::vector<ports::Delivery> deliveries) {
                  door_->post([this, id, deliveries = std::move(deliveries)]() mutable {
                    received(id, std::move(deliveries));
                  });
                },
            .interrupted =
                [this, id](Error why) {
                  door_->post([this, id, why = std::move(why)] {
                    if (auto* const receiver = receiver_of(id)) receiver->interrupted(why);
                  });
                },
            .consuming =
                [this, id] {
                  door_->post([this, id] {
                    if (auto* const receiver = receiver_of(id)) receiver->consuming();
                  });
                },
            .gave_up =
                [this](Error why) {
                  door_->post([this, why = std::move(why)] {
                    if (options_.on_gave_up) options_.on_gave_up(why);
                  });
                },
            .over = nullptr};
  }

  void received(ports::ConsumerId id, std::vector<ports::Delivery> deliveries) {
    const auto found = receivers_.find(id);
    if (found == receivers_.end() || !found->second.receiver) return;
    if (!found->second.is_paused) return found->second.receiver->received(std::move(deliveries));
    // They were under way when it was paused.
    for (const ports::Delivery& delivery : deliveries)
      hand_back(id, delivery.tag);
  }

  [[nodiscard]] ports::Receiver* receiver_of(ports::ConsumerId id) {
    const auto found = receivers_.find(id);
    return found == receivers_.end() ? nullptr : found->second.receiver;
  }

  const Options options_;
  const Logger log_;
  const std::shared_ptr<Door> door_;
  std::map<ports::ConsumerId, Receiving> receivers_;
  ports::ConsumerId last_consumer_ = 0;
  std::vector<std::move_only_function<void(Side&)>> asked_;
  io::Loop own_;
  Side* side_ = nullptr;  // the thread's
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ports::Broker> open(ports::Loop& loop, Options options, Logger log) {
  return std::make_unique<Sqs>(loop, std::move(options), log);
}

}  // namespace holdfast::brokers::sqs
