#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>

#include "brokers/rabbitmq/connection.hpp"
#include "brokers/rabbitmq/mail.hpp"
#include "brokers/rabbitmq/rabbitmq.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::brokers::rabbitmq {

// A thread with at most one connection to the broker: it polls the connection and its own bell, and
// does everything else between two polls. Whoever derives from it says what; all of that is called
// on the thread.
class Line : protected Connection::Listener {
 public:
  struct Parts {
    const Options& options;
    Clock& clock;
    Logger log;
    std::shared_ptr<Mail> mail;
  };

  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

 protected:
  Line(Parts parts, ports::BrokerWay way);
  ~Line() override;

  void start();
  // Says goodbye to the broker, within a second, and ends the thread. To be called by the
  // destructor of what derives.
  void stop();
  // Has the thread look at what it was asked. Threads: any.
  void ring() noexcept;

  // Takes what was asked.
  virtual void take_orders() = 0;
  // Everything that came is dealt with: what is due, and what is to be written.
  virtual void go_on(SteadyTime now) = 0;
  // The connection is gone, or there was none at any of the hosts; `was_up` says which.
  virtual void on_lost(const Error& why, bool was_up) = 0;
  // When to go on if nothing comes.
  [[nodiscard]] virtual SteadyTime next_time() const = 0;

  // To the host that is next, and if that fails at once to each of the others. May call on_lost().
  void connect();
  [[nodiscard]] std::size_t host_count() const noexcept { return hosts_.size(); }
  // The host of the connection, for logs.
  [[nodiscard]] std::string host() const { return hosts_[at_].text(); }
  // As if the broker had ended the connection.
  void give_up_connection(const Error& why) { lose(why); }
  // A broker that lives, and does not answer for so long what was asked: a quorum queue without a
  // leader has been seen to keep a channel waiting for ever.
  [[nodiscard]] Duration longest_answer() const { return 6 * options().connect_timeout; }
  [[nodiscard]] Connection* connection() noexcept { return connection_.get(); }
  [[nodiscard]] const Connection* connection() const noexcept { return connection_.get(); }
  [[nodiscard]] bool is_up() const noexcept { return connection_ && connection_->is_up(); }
  [[nodiscard]] FrameWriter& out() noexcept { return connection_->out(); }

  [[nodiscard]] const Options& options() const noexcept { return parts_.options; }
  [[nodiscard]] Clock& clock() const noexcept { return parts_.clock; }
  [[nodiscard]] const Logger& log() const noexcept { return parts_.log; }
  [[nodiscard]] const std::string& place() const noexcept { return place_; }  // for logs
  [[nodiscard]] const std::string& role() const noexcept { return role_; }
  // Has the loop tell the observer.
  void note_connected();
  void note_blocked(bool is_blocked);
  void tell(Event event) { events_.push_back(std::move(event)); }
  [[nodiscard]] std::vector<Event>& events() noexcept { return events_; }

 private:
  void run();
  void wait();
  void connect_to_host();
  void lose(const Error& why);
  // Whether another host is tried in the place of the one that has failed.
  [[nodiscard]] bool goes_on(const Error& why);
  void note_disconnected(const Error& why, bool was_up);
  void say_goodbye();

  const Parts parts_;
  const ports::BrokerWay way_;
  const std::string role_;  // "consume", "publish"
  const std::string place_;
  const std::vector<Host> hosts_;
  std::size_t at_ = 0;     // of hosts_: the one that is connected to, or tried next
  std::size_t tried_ = 0;  // since there was a connection, or all were tried
  std::string failures_;   // of those
  io::UniqueFd bell_;
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Connection> ended_;  // one that is still on the stack when it ends
  std::vector<Event> events_;
  std::thread thread_;
};

}  // namespace holdfast::brokers::rabbitmq
