#include "brokers/rabbitmq/line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "io/lane.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

using std::chrono::milliseconds;

constexpr auto kGoodbye = std::chrono::seconds(1);

int poll_wait(SteadyTime now, SteadyTime until) {
  if (until == SteadyTime::max()) return -1;
  if (until <= now) return 0;
  const auto wait = std::chrono::ceil<milliseconds>(until - now);
  return static_cast<int>(std::min(wait, milliseconds(60'000)).count());
}

}  // namespace

Line::Line(Parts parts, ports::BrokerWay way)
    : parts_(std::move(parts)),
      way_(way),
      role_(way == ports::BrokerWay::publish ? "publish" : "consume"),
      place_(parts_.options.at.text()),
      hosts_(parts_.options.at.hosts()),
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Line::~Line() = default;

void Line::start() {
  thread_ = std::thread([this] { run(); });
}

void Line::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  ring();
  thread_.join();
}

void Line::ring() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof(one));
}

void Line::run() {
  io::name_this_thread("amqp " + role_);
  while (!stopping_) {
    take_orders();
    go_on(clock().now());
    if (connection_) {
      if (auto written = connection_->write(); !written) lose(written.error());
    }
    parts_.mail->send(events_);
    ended_.reset();
    wait();
  }
  if (!is_up()) return;
  take_orders();
  go_on(clock().now());
  say_goodbye();
}

void Line::wait() {
  pollfd polled[2] = {{bell_.get(), POLLIN, 0}, {-1, 0, 0}};
  SteadyTime until = next_time();
  if (connection_) {
    polled[1] = {connection_->fd(), connection_->events(), 0};
    until = std::min(until, connection_->next_time());
  }
  const auto now = clock().now();
  ::poll(polled, 2, poll_wait(now, until));
  if (polled[0].revents != 0) {
    std::uint64_t rung = 0;
    (void)!::read(bell_.get(), &rung, sizeof(rung));
  }
  if (!connection_) return;
  // An end is read even if nothing else is: or poll would report it again and again.
  if ((polled[1].revents & (POLLHUP | POLLERR)) != 0) connection_->set_reading(true);
  if (polled[1].revents == 0 && clock().now() < connection_->next_time()) return;
  if (auto turned = connection_->turn(); !turned) lose(turned.error());
}

void Line::connect() {
  tried_ = 0;
  failures_.clear();
  connect_to_host();
}

void Line::connect_to_host() {
  Connection::Listener& listener = *this;
  connection_ = std::make_unique<Connection>(
      options(), hosts_[at_], options().client + " (" + role_ + ")", clock(), listener);
  if (auto begun = connection_->begin(); !begun) lose(begun.error());
}

void Line::lose(const Error& why) {
  if (!connection_) return;
  ended_ = std::move(connection_);
  if (ended_->is_up()) {
    log().log(Level::warning, "broker.connection_lost", "The connection to the broker is lost.",
              {{"broker", place_}, {"host", host()}, {"role", role_}, {"error", why.message}});
    at_ = (at_ + 1) % hosts_.size();
    note_disconnected(why, true);
    return on_lost(why, true);
  }
  if (goes_on(why)) return connect_to_host();
  const Error reason = hosts_.size() == 1
                           ? why
                           : Error{why.code, why.operation, "no host can be used: " + failures_};
  note_disconnected(reason, false);
  on_lost(reason, false);
}

bool Line::goes_on(const Error& why) {
  const std::string failed = host();
  failures_ += (failures_.empty() ? "" : "; ") + failed + ": " + why.message;
  at_ = (at_ + 1) % hosts_.size();
  if (++tried_ >= hosts_.size() || stopping_) return false;
  log().log(Level::warning, "broker.next_host",
            "A host of the broker cannot be used; trying the next.",
            {{"broker", place_},
             {"host", failed},
             {"next", host()},
             {"role", role_},
             {"error", why.message}});
  return true;
}

void Line::note_connected() {
  log().log(Level::info, "broker.connected", "Connected to the broker.",
            {{"broker", place_}, {"host", host()}, {"role", role_}});
  if (!options().observer) return;
  tell(Call{[observer = options().observer, way = way_] { observer->connected(way); }});
}

void Line::note_disconnected(const Error& why, bool was_up) {
  if (!options().observer) return;
  tell(Call{[observer = options().observer, way = way_, why, was_up] {
    observer->disconnected(way, why, was_up);
  }});
}

void Line::note_blocked(bool is_blocked) {
  if (!options().observer) return;
  tell(Call{[observer = options().observer, is_blocked] { observer->blocked(is_blocked); }});
}

// What was said before is to arrive: a socket that is closed with something unread in it takes with
// it what the broker has not read yet.
void Line::say_goodbye() {
  if (!is_up()) return;
  connection_->say_goodbye();
  const auto until = clock().now() + kGoodbye;
  for (auto now = clock().now(); now < until; now = clock().now()) {
    if (!connection_->turn() || connection_->is_over()) break;
    pollfd polled{connection_->fd(), connection_->events(), 0};
    ::poll(&polled, 1, poll_wait(now, until));
  }
}

}  // namespace holdfast::brokers::rabbitmq
