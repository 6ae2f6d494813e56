#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "core/name_pattern.hpp"
#include "ports/broker.hpp"
#include "recovery/run.hpp"
#include "support/engine_world.hpp"

// A world for tests of recoveries: a broker in memory that does what RabbitMQ does, and goes wrong
// when it is told to.
namespace holdfast::recovery::testing {

using engine::testing::ManualLoop;

inline ports::Field table(ports::FieldTable fields) {
  return {ports::Field::Value(std::move(fields))};
}

// One death as RabbitMQ writes it.
inline ports::Field death(const std::string& queue, const std::string& reason,
                          const std::string& exchange, const std::string& key,
                          std::uint64_t time = 1'893'450'000) {
  return table({{"count", std::int64_t{1}},
                {"reason", reason},
                {"queue", queue},
                {"time", ports::Field::Value(ports::Field::Time{time})},
                {"exchange", exchange},
                {"routing-keys", ports::Field::Value(ports::FieldArray{ports::Field(key)})}});
}

inline ports::Message dead(std::string id, const std::string& key = "scan",
                           const std::string& reason = "rejected") {
  ports::Message message{.body = "body of " + id, .headers = {}};
  message.message_id = std::move(id);
  message.delivery_mode = 2;
  message.headers = {
      {"x-death", ports::Field::Value(ports::FieldArray{death("work", reason, "jobs", key)})},
      {"x-first-death-exchange", "jobs"},
      {"x-first-death-queue", "work"},
      {"x-first-death-reason", reason}};
  return message;
}

// A queue that counts returns, and destroys what is returned more often than this.
inline ports::QueueFacts counts(std::optional<std::int64_t> limit) {
  return {.kind = ports::QueueFacts::Kind::counts, .return_limit = limit, .limit_is_known = true};
}

class ModelBroker final : public ports::Broker {
 public:
  struct Stored {
    ports::Message message;
    ports::Address from = {};
    bool redelivered = false;
    std::int64_t handed_back = 0;
  };

  explicit ModelBroker(ManualLoop& loop) : loop_(loop) {}

  std::map<std::string, std::deque<Stored>> queues;
  // Exchanges, each with its queues by routing key.
  std::map<std::string, std::multimap<std::string, std::string>> exchanges;
  // What becomes of a publish, where that is not what it should be. Copies of fate unknown are
  // there or not, as `unknown_arrives` says.
  std::function<std::optional<ports::Sent>(const ports::Outgoing&)> fault;
  bool unknown_arrives = true;
  bool answers = true;          // publishes; later by answer()
  bool counts_returns = false;  // as quorum queues do
  ports::QueueFacts facts = {.kind = ports::QueueFacts::Kind::plain, .limit_is_known = true};
  std::vector<std::string> destroyed;  // returned more often than `facts.return_limit`
  std::vector<std::size_t> widths;     // of the window, as it was changed
  bool acknowledges = true;            // else acknowledgements are lost on the way
  // What the queue says it has once it has no consumer any more, one answer after the other: a
  // broker counts late what was returned.
  std::deque<std::uint64_t> late_counts;
  std::uint64_t other_consumers = 0;
  bool has_leader = true;      // not so: queues that count returns seem to have nothing
  std::size_t on_its_way = 0;  // so much of the queue is delivered while the consumer is drained
  std::vector<ports::Outgoing> published;
  std::size_t most_in_flight = 0;
  std::size_t acknowledged = 0;
  std::vector<std::string> log;  // "publish ID", "confirm ID", "ack ID"

  void put(const std::string& queue, ports::Message message) {
    queues[queue].push_back({.message = std::move(message)});
    deliver_soon();
  }
  [[nodiscard]] std::vector<std::string> ids(const std::string& queue) const {
    std::vector<std::string> all;
    const auto found = queues.find(queue);
    if (found == queues.end()) return all;
    for (const Stored& stored : found->second)
      all.push_back(stored.message.message_id.value_or("?"));
    return all;
  }

  // The connection of the consumer is lost: all comes back, and is delivered again.
  void cut(bool reconnects = true) {
    if (!consumer_) return;
    hand_all_back();
    ++line_;
    connected_ = false;
    loop_.post([this] {
      if (consumer_) consumer_->receiver->interrupted({ErrorCode::unavailable, "test", "cut"});
    });
    if (reconnects) loop_.post([this] { connect(); });
  }
  // Somebody deletes it while it is consumed: its messages are gone, and nobody connects again.
  void remove(const std::string& queue) {
    queues.erase(queue);
    out_.clear();
    cut(false);
  }
  void connect() {
    if (!consumer_) return;
    connected_ = true;
    consumer_->receiver->consuming();
    deliver_soon();
  }
  void refuse(const Error& why) {
    if (consumer_) consumer_->receiver->refused(why);
  }
  void answer() {
    answers = true;
    auto late = std::exchange(late_, {});
    for (auto& one : late)
      one();
  }

  void open(ports::Topology, std::move_only_function<void(Result<ports::Opened>)>) override {
    ADD_FAILURE() << "a recovery makes no queues";
  }

  void publish(ports::Outgoing outgoing, std::move_only_function<void(ports::Sent)> then) override {
    log.push_back("publish " + id_of(outgoing.message));
    published.push_back(outgoing);
    most_in_flight = std::max(most_in_flight, ++in_flight_);
    auto carry_out = [this, outgoing = std::move(outgoing), then = std::move(then)]() mutable {
      --in_flight_;
      then(route(std::move(outgoing)));
    };
    if (answers) return loop_.post(std::move(carry_out));
    late_.push_back(std::move(carry_out));
  }

  [[nodiscard]] ports::ConsumerId consume(ports::Intake intake,
                                          ports::Receiver& receiver) override {
    consumer_ = Consumer{std::move(intake), &receiver};
    paused_ = false;
    consumed_ = true;
    loop_.post([this] { connect(); });
    return 7;
  }
  void pause(ports::ConsumerId) override { paused_ = true; }
  void resume(ports::ConsumerId) override { paused_ = false; }
  void set_prefetch(ports::ConsumerId, std::size_t prefetch) override {
    if (!consumer_) return;
    consumer_->intake.prefetch = prefetch;
    widths.push_back(prefetch);
    deliver_soon();
  }
  void drain(ports::ConsumerId, std::move_only_function<void()> then) override {
    auto deliveries = hand_out(std::exchange(on_its_way, 0));
    paused_ = true;
    if (deliveries.empty()) return loop_.post(std::move(then));
    drain_timer_ =
        loop_.after(std::chrono::milliseconds(10),
                    [this, deliveries = std::move(deliveries), then = std::move(then)]() mutable {
                      if (consumer_) consumer_->receiver->received(std::move(deliveries));
                      then();
                    });
  }
  void close(ports::ConsumerId, std::move_only_function<void()> then) override {
    hand_all_back();
    consumer_.reset();
    loop_.post(std::move(then));
  }

  void acknowledge(ports::ConsumerId, ports::DeliveryTag tag) override {
    const auto found = out_.find(tag);
    EXPECT_LE(tag.line, line_) << "acknowledged what was never delivered";
    if (tag.line != line_) return;  // void
    EXPECT_NE(found, out_.end()) << "acknowledged twice";
    if (found == out_.end() || !acknowledges) return;
    log.push_back("ack " + id_of(found->second.stored.message));
    out_.erase(found);
    ++acknowledged;
    deliver_soon();
  }
  void hand_back(ports::ConsumerId, ports::DeliveryTag) override {
    ADD_FAILURE() << "a recovery hands back at its end only";
  }
  void hold(ports::ConsumerId, ports::DeliveryTag tag) override {
    if (tag.line != line_) return;
    const auto found = out_.find(tag);
    ASSERT_NE(found, out_.end());
    found->second.held = true;
    deliver_soon();
  }
  void depth(std::string queue, std::move_only_function<void(Result<ports::Depth>)> then) override {
    loop_.post([this, queue = std::move(queue), then = std::move(then)]() mutable {
      const auto found = queues.find(queue);
      if (found == queues.end()) {
        return then(fail(ErrorCode::not_found, "depth", "there is no queue " + queue));
      }
      std::uint64_t ready = found->second.size();
      if (!consumer_ && consumed_ && !late_counts.empty()) {
        ready = late_counts.front();
        late_counts.pop_front();
      }
      const bool is_reached = has_leader || facts.kind == ports::QueueFacts::Kind::plain;
      if (!is_reached) return then(ports::Depth{.is_sure = false});
      const bool is_sure = ready > 0 || other_consumers > 0 || consumer_;
      then(ports::Depth{.ready = ready, .consumers = other_consumers, .is_sure = is_sure});
    });
  }
  void inspect(std::string,
               std::move_only_function<void(Result<ports::QueueFacts>)> then) override {
    loop_.post([this, then = std::move(then)]() mutable { then(facts); });
  }
  void find_exchange(std::string exchange,
                     std::move_only_function<void(Result<bool>)> then) override {
    loop_.post([this, exchange = std::move(exchange), then = std::move(then)]() mutable {
      then(exchanges.contains(exchange));
    });
  }
  void list_queues(
      std::string pattern,
      std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)> then) override {
    loop_.post([this, pattern = NamePattern(pattern), then = std::move(then)]() mutable {
      std::vector<ports::QueueStatus> found;
      for (const auto& [name, queue] : queues) {
        if (!pattern.matches(name)) continue;
        found.push_back({.name = name,
                         .kind = ports::QueueStatus::Kind::classic,
                         .ready = queue.size(),
                         .is_approximate = false});
      }
      then(std::move(found));
    });
  }

 private:
  struct Consumer {
    ports::Intake intake;
    ports::Receiver* receiver;
  };
  struct Out {
    Stored stored;
    bool held = false;
  };

  static std::string id_of(const ports::Message& message) {
    return message.message_id.value_or("?");
  }

  ports::Sent route(ports::Outgoing outgoing) {
    auto sent = fault ? fault(outgoing) : std::nullopt;
    const ports::Fate fate = sent ? sent->fate : ports::Fate::confirmed;
    const bool arrives =
        fate == ports::Fate::confirmed || (fate == ports::Fate::unknown && unknown_arrives);
    if (!arrives) return *sent;
    std::vector<std::string> targets;
    if (outgoing.to.exchange.empty()) {
      if (queues.contains(outgoing.to.routing_key)) targets.push_back(outgoing.to.routing_key);
    } else if (const auto found = exchanges.find(outgoing.to.exchange); found != exchanges.end()) {
      const auto [from, until] = found->second.equal_range(outgoing.to.routing_key);
      for (auto at = from; at != until; ++at)
        targets.push_back(at->second);
    }
    if (targets.empty())
      return {ports::Fate::returned, {ErrorCode::not_found, "publish", "NO_ROUTE"}};
    for (const std::string& target : targets)
      queues[target].push_back({.message = outgoing.message, .from = outgoing.to});
    log.push_back("confirm " + id_of(outgoing.message));
    deliver_soon();
    return sent.value_or(ports::Sent{.fate = fate});
  }

  void hand_all_back() {
    if (!consumer_ || out_.empty()) return;
    auto& queue = queues[consumer_->intake.queue];
    for (auto out = out_.rbegin(); out != out_.rend(); ++out) {
      out->second.stored.redelivered = true;
      ++out->second.stored.handed_back;
      if (facts.return_limit && out->second.stored.handed_back > *facts.return_limit) {
        destroyed.push_back(id_of(out->second.stored.message));
        continue;
      }
      queue.push_front(std::move(out->second.stored));
    }
    out_.clear();
  }

  void deliver_soon() {
    if (std::exchange(delivering_, true)) return;
    loop_.post([this] { deliver(); });
  }

  void deliver() {
    delivering_ = false;
    if (!consumer_ || paused_ || !connected_) return;
    const auto counted = static_cast<std::size_t>(
        std::ranges::count_if(out_, [](const auto& out) { return !out.second.held; }));
    const std::size_t prefetch = consumer_->intake.prefetch;
    auto deliveries = hand_out(prefetch - std::min(counted, prefetch));
    if (!deliveries.empty()) consumer_->receiver->received(std::move(deliveries));
  }

  std::vector<ports::Delivery> hand_out(std::size_t most) {
    std::vector<ports::Delivery> deliveries;
    const auto found = queues.find(consumer_->intake.queue);
    if (found == queues.end()) return deliveries;
    while (!found->second.empty() && deliveries.size() < most) {
      Stored stored = std::move(found->second.front());
      found->second.pop_front();
      const ports::DeliveryTag tag{line_, ++count_};
      ports::Delivery delivery{.tag = tag,
                               .message = stored.message,
                               .from = stored.from,
                               .redelivered = stored.redelivered || stored.handed_back > 0};
      if (counts_returns && stored.handed_back > 0) {
        ports::set_field(delivery.message.headers, "x-delivery-count",
                         ports::Field(stored.handed_back));
      }
      out_.emplace(tag, Out{std::move(stored)});
      deliveries.push_back(std::move(delivery));
    }
    return deliveries;
  }

  ManualLoop& loop_;
  std::optional<Consumer> consumer_;
  std::map<ports::DeliveryTag, Out> out_;
  std::vector<ports::Loop::Work> late_;
  std::unique_ptr<ports::Loop::Timer> drain_timer_;
  std::uint64_t line_ = 1;
  std::uint64_t count_ = 0;
  std::size_t in_flight_ = 0;
  bool paused_ = false;
  bool connected_ = false;
  bool consumed_ = false;  // at least once
  bool delivering_ = false;
};

class SeenBy final : public Observer {
 public:
  void found(std::uint64_t messages) override { at_start = messages; }
  void warned(const Warning& warning) override { warnings.push_back(warning); }
  void moved(const Summary& so_far) override { last = so_far; }

  [[nodiscard]] std::size_t count(Warning::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count(warnings, kind, &Warning::kind));
  }

  std::optional<std::uint64_t> at_start;
  std::vector<Warning> warnings;
  Summary last;
};

class JournalText final : public Journal {
 public:
  [[nodiscard]] Result<void> append(std::string_view lines) override {
    if (broken) return fail(ErrorCode::exhausted, "journal", "no space left on device");
    text += lines;
    return {};
  }
  [[nodiscard]] Result<void> sync() override { return {}; }

  [[nodiscard]] EarlierCopies unsettled() const {
    EarlierRuns runs;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      runs.read(std::string_view(text).substr(at, end - at));
      at = end == std::string::npos ? text.size() : end + 1;
    }
    return runs.unsettled("dlq");
  }

  std::string text;
  bool broken = false;
};

class BackupText final : public Backup {
 public:
  // `log`: of the broker, which gets a line "stored" for each sync.
  explicit BackupText(std::vector<std::string>& log) : log_(log) {}

  [[nodiscard]] Result<void> append(std::string_view lines) override {
    if (broken) return fail(ErrorCode::exhausted, "backup", "b.jsonl: No space left on device");
    unsynced_ += lines;
    return {};
  }
  [[nodiscard]] Result<void> sync() override {
    text += std::exchange(unsynced_, {});
    log_.emplace_back("stored");
    return {};
  }

  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      const auto line = parse_backup_line(std::string_view(text).substr(at, end - at));
      EXPECT_TRUE(line);
      if (line && line->run.empty()) all.push_back(line->delivery.message.message_id.value_or("?"));
    }
    return all;
  }

  std::string text;
  bool broken = false;

 private:
  std::vector<std::string>& log_;
  std::string unsynced_;
};

struct World {
  holdfast::testing::FakeClock clock;
  holdfast::testing::FakeRandom random;
  ManualLoop loop{clock};
  std::unique_ptr<Run> current;  // outlives the broker
  ModelBroker broker{loop};
  ports::Broker* to = nullptr;  // another one that messages go to
  SeenBy seen;
  JournalText journal;
  bool journals = false;
  BackupText backup{broker.log};
  bool backs_up = false;
  std::optional<Run::Outcome> outcome;
  Options options;

  World() {
    options.queue = "dlq";
    options.rules.run = "run 1";
    options.rules.routes = {.to = Routes::To::queue, .queue = "target"};
    options.window = 4;
    broker.queues["dlq"];
    broker.queues["target"];
  }

  void put(std::size_t count, const std::string& prefix = "m") {
    for (std::size_t i = 1; i <= count; ++i)
      broker.put("dlq", dead(prefix + std::to_string(i)));
  }

  void start() {
    outcome.reset();
    current = std::make_unique<Run>(
        Run::Parts{.broker = broker,
                   .loop = loop,
                   .clock = clock,
                   .random = random,
                   .observer = seen,
                   .journal = journals ? &journal : nullptr,
                   .backup = backs_up ? &backup : nullptr,
                   .earlier = journals ? journal.unsettled() : EarlierCopies(),
                   .to = to},
        options);
    current->start([this](Run::Outcome done) { outcome = std::move(done); });
    loop.settle();
  }

  // To its end, for as long as that takes.
  const Summary& finish(Duration most = std::chrono::hours(1)) {
    for (Duration passed{}; !outcome && passed < most; passed += std::chrono::milliseconds(100))
      loop.pass(std::chrono::milliseconds(100));
    EXPECT_TRUE(outcome) << "the run did not end";
    if (!outcome) outcome.emplace();
    return outcome->summary;
  }
  const Summary& run() {
    start();
    return finish();
  }

  // Every message that was ever put is somewhere.
  [[nodiscard]] std::multiset<std::string> everywhere() const {
    std::multiset<std::string> all;
    for (const auto& [name, queue] : broker.queues) {
      for (const auto& stored : queue)
        all.insert(stored.message.message_id.value_or("?"));
    }
    return all;
  }
};

}  // namespace holdfast::recovery::testing
