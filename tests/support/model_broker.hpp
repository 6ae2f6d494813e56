#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/name_pattern.hpp"
#include "ports/broker.hpp"
#include "ports/loop.hpp"

namespace holdfast::testing {

// The queues of a broker that outlives those who are connected to it: what is in them is what a
// test counts in the end.
class ModelQueues {
 public:
  struct Kept {
    std::uint64_t number = 0;
    ports::Message message;
    bool redelivered = false;
  };

  std::map<std::string, std::deque<Kept>> ready;
  std::uint64_t count = 0;
  std::uint64_t published = 0;
  std::uint64_t acknowledged = 0;

  void put(const std::string& queue, ports::Message message) {
    ready[queue].push_back({++count, std::move(message), false});
  }
  [[nodiscard]] std::size_t depth(const std::string& queue) const {
    const auto found = ready.find(queue);
    return found == ready.end() ? 0 : found->second.size();
  }
};

// A broker that does what the port says, on a loop that a test moves: a model for tests of those
// who use brokers, never in the place of a real one. A test can have it lie, and lose connections.
class ModelBroker final : public ports::Broker {
 public:
  ModelBroker(ports::Loop& loop, std::shared_ptr<ModelQueues> queues)
      : loop_(loop), queues_(std::move(queues)) {}
  ~ModelBroker() override { *alive_ = false; }

  // What becomes of a publish: nothing: as it should be. A fate of `unknown` is carried out, too,
  // if `does` says so.
  std::function<std::optional<ports::Fate>(const ports::Outgoing&)> fault;
  bool unknown_arrives = true;
  bool answers = true;  // false: what is published is never heard of again
  std::vector<ports::Topology> opened;
  ports::QueueFound found = ports::QueueFound::ready;
  bool has_leader = true;  // not so: queues seem to have neither messages nor consumers
  std::vector<std::pair<std::string, Duration>> delays;

  // Every delivery that is not settled is void, and comes again.
  void interrupt() {
    for (auto& [id, consumer] : consumers_)
      give_all_back(consumer);
    ++line_;
    for (auto& [id, consumer] : consumers_) {
      ports::Receiver* const receiver = consumer.receiver;
      later([this, receiver, id] {
        if (!consumers_.contains(id)) return;
        give_all_back(consumers_[id]);  // what was delivered before it heard of the loss
        ++line_;
        receiver->interrupted(error("connection lost"));
        receiver->consuming();
        deliver();
      });
    }
  }

  void open(ports::Topology topology,
            std::move_only_function<void(Result<ports::Opened>)> then) override {
    ports::Opened answer;
    for (const ports::QueueWish& wish : topology.queues) {
      queues_->ready.try_emplace(wish.name);
      answer.queues.push_back({wish.name, found, found == ports::QueueFound::ready ? "" : "406"});
    }
    opened.push_back(std::move(topology));
    later([answer = std::move(answer), then = std::move(then)]() mutable {
      then(std::move(answer));
    });
  }

  void publish(ports::Outgoing outgoing, std::move_only_function<void(ports::Sent)> then) override {
    if (!answers) return;
    const auto wrong = fault ? fault(outgoing) : std::nullopt;
    const bool known = queues_->ready.contains(outgoing.to.routing_key);
    const ports::Fate fate = wrong.value_or(known ? ports::Fate::confirmed : ports::Fate::returned);
    const bool arrives = fate == ports::Fate::confirmed ||
                         (fate == ports::Fate::unknown && unknown_arrives && known);
    if (arrives) arrive(std::move(outgoing));
    later([fate, then = std::move(then)]() mutable {
      if (fate == ports::Fate::confirmed) return then({fate, {}});
      if (fate == ports::Fate::refused)
        return then({fate, {ErrorCode::exhausted, "broker", "not taken"}});
      then({fate, error("connection refused")});
    });
  }

  [[nodiscard]] ports::ConsumerId consume(ports::Intake intake,
                                          ports::Receiver& receiver) override {
    const ports::ConsumerId id = ++last_consumer_;
    consumers_[id] = {std::move(intake), &receiver, {}, false, 0};
    later([this, id] {
      if (!consumers_.contains(id)) return;
      consumers_[id].receiver->consuming();
      deliver();
    });
    return id;
  }
  void pause(ports::ConsumerId consumer) override { consumers_[consumer].paused = true; }
  void resume(ports::ConsumerId consumer) override {
    consumers_[consumer].paused = false;
    later([this] { deliver(); });
  }
  void set_prefetch(ports::ConsumerId consumer, std::size_t prefetch) override {
    consumers_[consumer].intake.prefetch = prefetch;
    later([this] { deliver(); });
  }
  void drain(ports::ConsumerId consumer, std::move_only_function<void()> then) override {
    pause(consumer);
    later(std::move(then));
  }
  void inspect(std::string,
               std::move_only_function<void(Result<ports::QueueFacts>)> then) override {
    later([then = std::move(then)]() mutable {
      then(ports::QueueFacts{.kind = ports::QueueFacts::Kind::plain, .limit_is_known = true});
    });
  }
  void find_exchange(std::string, std::move_only_function<void(Result<bool>)> then) override {
    later([then = std::move(then)]() mutable { then(true); });
  }
  void list_queues(
      std::string pattern,
      std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)> then) override {
    later([this, pattern = NamePattern(pattern), then = std::move(then)]() mutable {
      std::vector<ports::QueueStatus> found;
      for (const auto& [name, queue] : queues_->ready) {
        if (!pattern.matches(name)) continue;
        found.push_back({.name = name,
                         .kind = ports::QueueStatus::Kind::classic,
                         .ready = queue.size(),
                         .is_approximate = false});
      }
      then(std::move(found));
    });
  }
  void close(ports::ConsumerId consumer, std::move_only_function<void()> then) override {
    give_all_back(consumers_[consumer]);
    consumers_.erase(consumer);
    later(std::move(then));
  }
  void acknowledge(ports::ConsumerId consumer, ports::DeliveryTag tag) override {
    if (take(consumer, tag)) ++queues_->acknowledged;
    later([this] { deliver(); });
  }
  void hand_back(ports::ConsumerId consumer, ports::DeliveryTag tag) override {
    auto kept = take(consumer, tag);
    if (!kept) return;
    kept->redelivered = true;
    queues_->ready[consumers_[consumer].intake.queue].push_front(std::move(*kept));
    later([this] { deliver(); });
  }
  void hold(ports::ConsumerId consumer, ports::DeliveryTag tag) override {
    if (consumers_[consumer].unsettled.contains(tag)) ++consumers_[consumer].held;
    later([this] { deliver(); });
  }
  void depth(std::string queue, std::move_only_function<void(Result<ports::Depth>)> then) override {
    later([this, queue = std::move(queue), then = std::move(then)]() mutable {
      const auto of_queue = std::ranges::count_if(
          consumers_, [&](const auto& one) { return one.second.intake.queue == queue; });
      if (!has_leader) return then(ports::Depth{.is_sure = false});
      then(ports::Depth{queues_->depth(queue), static_cast<std::uint64_t>(of_queue)});
    });
  }

  [[nodiscard]] std::size_t unsettled() const {
    std::size_t count = 0;
    for (const auto& [id, consumer] : consumers_)
      count += consumer.unsettled.size();
    return count;
  }

  // For the message of a test that fails.
  [[nodiscard]] std::string unsettled_text() const {
    std::string text;
    for (const auto& [id, consumer] : consumers_) {
      for (const auto& [tag, kept] : consumer.unsettled) {
        text += " " + kept.message.body + " (" + std::to_string(tag.line) + "." +
                std::to_string(tag.number) + ", message " + std::to_string(kept.number) + ")";
      }
    }
    return text;
  }

  // Hands out what is ready; publishing and the like do so by themselves.
  void deliver() {
    for (auto& [id, consumer] : consumers_) {
      std::vector<ports::Delivery> batch;
      auto& ready = queues_->ready[consumer.intake.queue];
      while (!consumer.paused && !ready.empty() &&
             consumer.unsettled.size() < consumer.intake.prefetch + consumer.held) {
        ModelQueues::Kept kept = std::move(ready.front());
        ready.pop_front();
        const ports::DeliveryTag tag{line_, ++tag_};
        batch.push_back({tag, kept.message, {"", consumer.intake.queue}, kept.redelivered});
        consumer.unsettled.emplace(tag, std::move(kept));
      }
      if (!batch.empty()) consumer.receiver->received(std::move(batch));
    }
  }

 private:
  struct Consumer {
    ports::Intake intake;
    ports::Receiver* receiver = nullptr;
    std::map<ports::DeliveryTag, ModelQueues::Kept> unsettled;
    bool paused = false;
    std::size_t held = 0;  // of these, not counted by the prefetch
  };

  struct Waiting {
    std::string queue;
    ports::Message message;
    std::unique_ptr<ports::Loop::Timer> timer;
  };

  static Error error(const char* what) { return {ErrorCode::unavailable, "broker", what}; }

  template <class Work>
  void later(Work work) {
    loop_.post([alive = alive_, work = std::move(work)]() mutable {
      if (*alive) work();
    });
  }

  void arrive(ports::Outgoing outgoing) {
    ++queues_->published;
    if (outgoing.delay <= Duration::zero()) {
      queues_->put(outgoing.to.routing_key, std::move(outgoing.message));
      return later([this] { deliver(); });
    }
    delays.emplace_back(outgoing.to.routing_key, outgoing.delay);
    const auto place = waiting_.insert(
        waiting_.end(), {outgoing.to.routing_key, std::move(outgoing.message), nullptr});
    place->timer = loop_.after(outgoing.delay, [this, place] {
      queues_->put(place->queue, std::move(place->message));
      waiting_.erase(place);
      deliver();
    });
  }

  std::optional<ModelQueues::Kept> take(ports::ConsumerId consumer, ports::DeliveryTag tag) {
    const auto at = consumers_.find(consumer);
    if (at == consumers_.end()) return std::nullopt;
    const auto found = at->second.unsettled.find(tag);
    if (found == at->second.unsettled.end()) return std::nullopt;
    ModelQueues::Kept kept = std::move(found->second);
    at->second.unsettled.erase(found);
    return kept;
  }

  void give_all_back(Consumer& consumer) {
    auto& ready = queues_->ready[consumer.intake.queue];
    for (auto at = consumer.unsettled.rbegin(); at != consumer.unsettled.rend(); ++at) {
      at->second.redelivered = true;
      ready.push_front(std::move(at->second));
    }
    consumer.unsettled.clear();
    consumer.held = 0;
  }

 public:
  // Of a crash: what was delivered comes again to whoever connects next, what waits goes on.
  void die() {
    for (auto& [id, consumer] : consumers_)
      give_all_back(consumer);
    consumers_.clear();
    for (Waiting& waiting : waiting_)
      queues_->put(waiting.queue, std::move(waiting.message));
    waiting_.clear();
  }

 private:
  ports::Loop& loop_;
  const std::shared_ptr<ModelQueues> queues_;
  std::map<ports::ConsumerId, Consumer> consumers_;
  std::list<Waiting> waiting_;
  ports::ConsumerId last_consumer_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t tag_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::testing
