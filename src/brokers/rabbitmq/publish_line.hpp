#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "brokers/rabbitmq/declarer.hpp"
#include "brokers/rabbitmq/delay_queues.hpp"
#include "brokers/rabbitmq/line.hpp"
#include "brokers/rabbitmq/proven_routes.hpp"

namespace holdfast::brokers::rabbitmq {

// The header by which a message that comes back is known: the broker returns it without the number
// that it confirms it by. Taken off what is received.
inline constexpr std::string_view kSequenceHeader = "x-holdfast-seq";

// Publishes: all in one stream, confirmed by the broker as they come, every one mandatory.
//
// A broker that does not like a message closes the channel, and does not say which it was. So that
// one bad message never has others suffer twice, what may be refused that way is sent alone, with
// nothing else unanswered: the first message to each exchange, one in the name of another user, one
// of uncommon size, one with CC or BCC headers. Alone it is known to be the one: refused. When a
// channel is closed while several are unanswered (an exchange was deleted under way), each of them
// is unknown, since any may have been taken before; and each exchange has to be proven again.
//
// A message is numbered (kSequenceHeader) until its address has taken one: what is returned after
// that is rare (a queue was deleted under way), and every message pays for a header where it is
// kept. If one without a number is returned, those to its address that are unanswered are unknown,
// and those that follow are numbered.
//
// Messages that the broker does not take (connection.blocked, or it has stopped reading) wait for
// `blocked_patience`, no longer: what was not sent is unsent then, what was is unknown.
class PublishLine final : public Line {
 public:
  explicit PublishLine(Parts parts);
  ~PublishLine() override;

  // Threads: any.
  void publish(ports::Outgoing outgoing, std::move_only_function<void(ports::Sent)> then);

 private:
  struct Ask {
    ports::Outgoing outgoing;
    std::move_only_function<void(ports::Sent)> then;
    SteadyTime since{};
    std::optional<DelayQueue> delay = {};
    bool again = false;  // its delay queue was gone, and it has had its second chance
  };
  struct InFlight {
    Ask ask;
    SteadyTime since{};                                // when it was sent
    bool answered = false;                             // by us, since it took too long
    bool confirmed = false;                            // by the broker, or refused
    std::optional<std::string> returned = {};          // what the broker said
    std::optional<std::string> perhaps_returned = {};  // this one, or another to its address
  };
  struct Returned {
    ports::Address to;  // as it was published
    std::string why;    // what the broker said
  };
  enum class State : std::uint8_t { closed, opening, confirming, ready };

  void take_orders() override;
  void go_on(SteadyTime now) override;
  void on_lost(const Error& why, bool was_up) override;
  [[nodiscard]] SteadyTime next_time() const override;

  void on_up() override;
  Result<void> on_method(ChannelNumber channel, const MethodReader::Method& method) override;
  Result<void> on_content(ChannelNumber channel, const MethodReader::Content& content) override;
  Result<void> on_body(ChannelNumber channel, std::string_view part) override;

  void open_channel();
  void on_returned_without_number(const Returned& returned);
  void on_channel_closed(const amqp_channel_close_t& close);
  void on_confirmed(std::uint64_t tag, bool multiple, bool taken);
  void on_blocked(std::string_view reason);
  void on_unblocked();

  [[nodiscard]] SteadyTime answer_due() const;
  void send_what_can(SteadyTime now);
  [[nodiscard]] std::optional<Error> unsendable(Ask& ask) const;
  [[nodiscard]] bool goes_alone(const Ask& ask) const;
  // Whether the delay queue of the one in front is there; else it is asked for.
  [[nodiscard]] bool delay_is_there(Ask& ask, SteadyTime now);
  void declare_delay(const DelayQueue& queue);
  void no_delay(const DelayQueue& queue, Declarer::Answer why);
  void refuse_front(ports::Fate fate, Error error);
  [[nodiscard]] std::optional<Error> send(Ask& ask);

  void finish(InFlight& one, bool taken);
  void answer(Ask& ask, ports::Fate fate, Error error = {});
  void answer_all_in_flight(ports::Fate fate, const Error& error);
  void drop_overdue(SteadyTime now);
  [[nodiscard]] std::optional<SteadyTime> not_taken_since() const;

  std::mutex mutex_;
  std::vector<Ask> inbox_;  // guarded by it; the rest is the thread's

  std::deque<Ask> waiting_;
  std::deque<InFlight> in_flight_;  // numbered by the broker from first_tag_ on
  std::uint64_t first_tag_ = 1;
  bool alone_ = false;                         // the one in flight stays the only one
  std::set<std::string, std::less<>> proven_;  // exchanges that have taken something
  ProvenRoutes routes_;
  State state_ = State::closed;
  SteadyTime state_since_{};
  bool was_full_ = false;              // there was more to send than is written at once
  bool was_of_use_ = false;            // this connection: something was sent by it
  std::optional<Returned> returning_;  // whose content is coming back
  std::optional<SteadyTime> blocked_since_;
  TableForWire headers_;

  Declarer declarer_;
  DelayQueues delays_;
  bool declaring_ = false;
};

}  // namespace holdfast::brokers::rabbitmq
