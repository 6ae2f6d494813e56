#pragma once

#include <optional>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "brokers/rabbitmq/frames.hpp"
#include "brokers/rabbitmq/rabbitmq.hpp"
#include "io/tcp_wire.hpp"

namespace holdfast::brokers::rabbitmq {

// What a broker says when it ends a channel or a connection, as an error of ours: 404 is not_found,
// 406 a conflict, what we asked for wrongly invalid_argument, the rest unavailable.
[[nodiscard]] Error said_by_broker(std::string operation, int code, std::string_view text);

// One connection to a broker, from the first byte to the last: greeting, heartbeats, end. It waits
// for nothing; whoever has it polls, and calls turn(). Threads: one.
class Connection {
 public:
  // Hears what comes. `reader` has decoded the last method, and decodes contents.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_up() = 0;
    // Of channels, and of the connection itself: blocked and unblocked.
    virtual Result<void> on_method(ChannelNumber channel, const MethodReader::Method& method) = 0;
    virtual Result<void> on_content(ChannelNumber channel,
                                    const MethodReader::Content& content) = 0;
    virtual Result<void> on_body(ChannelNumber channel, std::string_view part) = 0;
  };

  // `name`: as the management page shows it.
  Connection(const Options& options, Host at, std::string name, const Clock& clock,
             Listener& listener);

  [[nodiscard]] Result<void> begin();
  [[nodiscard]] bool is_up() const noexcept { return state_ == State::up; }

  [[nodiscard]] int fd() const noexcept { return wire_ ? wire_->fd() : -1; }
  [[nodiscard]] short events();
  // When turn() is to be called if nothing comes.
  [[nodiscard]] SteadyTime next_time() const noexcept;

  // Reads what there is, tells the listener, and writes what it has asked for. An error: the
  // connection is over, and says why.
  [[nodiscard]] Result<void> turn();
  [[nodiscard]] Result<void> write();

  [[nodiscard]] FrameWriter& out() noexcept { return out_; }
  [[nodiscard]] std::size_t unsent_bytes() const noexcept { return out_.unsent().size(); }
  // Not reading leaves what comes with the broker, whose connection then fills up.
  void set_reading(bool reads) noexcept { reads_ = reads; }
  // The first number of the broker's version; 0: it did not say.
  [[nodiscard]] int broker_version() const noexcept { return broker_version_; }
  [[nodiscard]] ChannelNumber channel_most() const noexcept { return channel_most_; }
  // Since when the broker takes nothing of what there is for it.
  [[nodiscard]] std::optional<SteadyTime> stuck_since() const noexcept { return stuck_since_; }

  // Says goodbye: nothing is to be sent after it. is_over() when the broker has answered.
  void say_goodbye();
  [[nodiscard]] bool is_over() const noexcept { return state_ == State::over; }

 private:
  enum class State : std::uint8_t { connecting, greeting, tuning, opening, up, leaving, over };

  [[nodiscard]] Result<void> take_turn();
  [[nodiscard]] Result<void> read();
  [[nodiscard]] Result<void> take_frames();
  [[nodiscard]] bool reads() const noexcept { return reads_ || state_ != State::up; }
  [[nodiscard]] Result<void> take(const Frame& frame);
  [[nodiscard]] Result<void> take_own(const MethodReader::Method& method);
  void note_version(const amqp_connection_start_t& start);
  [[nodiscard]] Result<void> answer_start(const amqp_connection_start_t& start);
  void answer_tune(const amqp_connection_tune_t& tune);
  [[nodiscard]] Error closed_by_broker(const amqp_connection_close_t& close) const;
  [[nodiscard]] Result<void> keep_alive(SteadyTime now);

  const Options& options_;
  const Host at_;
  const std::string name_;
  const Clock& clock_;
  Listener& listener_;

  State state_ = State::connecting;
  std::optional<io::TcpWire> wire_;
  FrameReader in_;
  MethodReader methods_;
  FrameWriter out_;
  ChannelNumber channel_most_ = 0;
  int broker_version_ = 0;
  bool reads_ = true;
  bool has_frames_ = false;  // read, and not taken since it was told not to read
  Duration heartbeat_{};     // zero: none
  SteadyTime give_up_at_{};
  SteadyTime last_read_{};
  SteadyTime last_written_{};
  std::optional<SteadyTime> stuck_since_;
};

}  // namespace holdfast::brokers::rabbitmq
