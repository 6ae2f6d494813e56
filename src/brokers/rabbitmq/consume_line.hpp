#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "brokers/rabbitmq/ack_window.hpp"
#include "brokers/rabbitmq/declarer.hpp"
#include "brokers/rabbitmq/line.hpp"
#include "brokers/rabbitmq/patience.hpp"
#include "brokers/rabbitmq/topologies.hpp"

namespace holdfast::brokers::rabbitmq {

// Receives and settles, declares queues and counts what is in them.
//
// Each consumer has a channel of its own. What it holds stays unacknowledged there. When half of
// the prefetch is taken up by what is held, it consumes anew under another name: the broker counts
// the prefetch for each name, on classic and on quorum queues. When a channel holds much, the
// consumer moves to a new one, since for each single acknowledgement a broker searches all that its
// channel has not acknowledged; the old one stays open with what it holds. The old name is
// cancelled, and that confirmed, before the next is used: so the order of the queue is kept.
class ConsumeLine final : public Line {
 public:
  explicit ConsumeLine(Parts parts);
  ~ConsumeLine() override;

  // What can be asked of it. Threads: any.
  struct Open {
    ports::Topology topology;
    std::move_only_function<void(Result<ports::Opened>)> then;
  };
  struct Count {
    std::string queue;
    std::move_only_function<void(Result<ports::Depth>)> then;
  };
  struct Inspect {
    std::string queue;
    // With the version of the broker.
    std::move_only_function<void(Result<ports::QueueFacts>, int)> then;
  };
  struct MakeSure {};  // of all topologies again: a queue of one may be gone
  struct FindExchange {
    std::string exchange;
    std::move_only_function<void(Result<bool>)> then;
  };
  struct Consume {
    ports::ConsumerId consumer = 0;
    ports::Intake intake;
  };
  enum class Change : std::uint8_t { pause, resume, close };
  struct Alter {
    ports::ConsumerId consumer = 0;
    Change change = Change::pause;
  };
  struct SetPrefetch {
    ports::ConsumerId consumer = 0;
    std::size_t prefetch = 1;
  };
  struct Drain {
    ports::ConsumerId consumer = 0;
    std::move_only_function<void()> then;
  };
  struct Settle {
    ports::DeliveryTag tag;
    AckWindow::Say say = AckWindow::Say::acknowledge;
  };
  using Order = std::variant<Settle, Alter, SetPrefetch, Drain, Consume, Open, Count, Inspect,
                             FindExchange, MakeSure>;
  void ask(Order order);

 private:
  struct Channel;
  struct Consumer;
  struct Probing;

  void take_orders() override;
  void go_on(SteadyTime now) override;
  void on_lost(const Error& why, bool was_up) override;
  [[nodiscard]] SteadyTime next_time() const override;

  void on_up() override;
  Result<void> on_method(ChannelNumber channel, const MethodReader::Method& method) override;
  Result<void> on_content(ChannelNumber channel, const MethodReader::Content& content) override;
  Result<void> on_body(ChannelNumber channel, std::string_view part) override;

  void carry_out(Settle& settle);
  void carry_out(Alter& alter);
  void carry_out(Consume& consume);
  void carry_out(Open& open);
  void carry_out(Count& count);
  void carry_out(SetPrefetch& change);
  void carry_out(Drain& drain);
  void carry_out(Inspect& inspect);
  void carry_out(FindExchange& find);
  void carry_out(MakeSure& again);

  // The connection.
  [[nodiscard]] bool has_lasting_purpose() const;
  void forward_questions();
  // As soon as there is a connection; answered as lost where there is none.
  void ask_declarer(Declarer::Wish wish, Declarer::Then then);
  void probe(const std::shared_ptr<Probing>& probing);
  void give_up(const Error& why);
  [[nodiscard]] SteadyTime answer_due() const;
  void fail_questions(const Error& why);

  // One consumer, brought nearer to what it is to be.
  void advance(Consumer& consumer, SteadyTime now);
  void begin(Consumer& consumer, SteadyTime now);
  void wind_down(Consumer& consumer);
  void close_channels(Consumer& consumer);
  void open_channel(Consumer& consumer);
  void limit(Channel& channel);
  void name_and_start(Channel& channel);
  void cancel(Channel& channel);
  void stop_deliveries(Channel& channel, SteadyTime now);
  void tell_drained(Consumer& consumer);
  void read_or_wait();
  void flush(Channel& channel, const std::string& queue);
  void hand_all_back(Channel& channel);
  void close(Channel& channel);
  void on_consuming(Channel& channel);
  // Its tags are void; it is to consume again.
  void interrupt(Consumer& consumer, const Error& why);
  void try_again(Consumer& consumer, const Error& why);
  void tell_gave_up(const Error& why);
  void write_acks(Channel& channel);
  void forget(Channel& channel);
  [[nodiscard]] Channel* channel(ChannelNumber number);

  void on_cancelled(Channel& channel);
  void on_deliver(Channel& channel, const amqp_basic_deliver_t& deliver);
  void on_channel_closed(Channel& channel, const amqp_channel_close_t& close);
  void deliver(Channel& channel);

  std::mutex mutex_;
  std::vector<Order> inbox_;  // guarded by it; the rest is the thread's

  Declarer declarer_;
  Topologies topologies_;
  struct Question {
    Declarer::Wish wish;
    Declarer::Then then;
  };
  std::vector<Question> questions_;  // until there is a connection
  std::map<ports::ConsumerId, std::unique_ptr<Consumer>> consumers_;
  std::vector<std::unique_ptr<Channel>> channels_;  // by number
  std::unordered_map<std::uint64_t, Channel*> lines_;
  std::vector<Channel*> with_acks_;
  std::uint64_t last_line_ = 0;

  Patience patience_;
  std::optional<SteadyTime> next_attempt_;  // to connect
  SteadyTime up_since_{};
  std::size_t short_lives_ = 0;  // connections in a row that were lost at once
  bool gave_up_ = false;
  Error last_error_;
};

}  // namespace holdfast::brokers::rabbitmq
