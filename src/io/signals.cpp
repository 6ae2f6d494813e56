#include "io/signals.hpp"

#include <array>
#include <csignal>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "io/loop.hpp"

namespace asio = boost::asio;

namespace holdfast::io {
namespace {

constexpr std::array kServerSignals{SIGINT, SIGTERM, SIGHUP};

// Asio leaves the default action behind, which may not be what was there.
class Actions {
 public:
  Actions() {
    for (std::size_t at = 0; at < kServerSignals.size(); ++at)
      ::sigaction(kServerSignals[at], nullptr, &before_[at]);
  }
  ~Actions() {
    for (std::size_t at = 0; at < kServerSignals.size(); ++at)
      ::sigaction(kServerSignals[at], &before_[at], nullptr);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

 private:
  std::array<struct sigaction, kServerSignals.size()> before_{};
};

}  // namespace

struct Signals::Parts : std::enable_shared_from_this<Parts> {
  Actions actions;  // restored after the set below has gone
  asio::signal_set set;
  Heard heard;
  std::move_only_function<void()> hung_up;
  int count = 0;

  Parts(asio::io_context& context, Heard then, std::move_only_function<void()> then_hung_up)
      : set(context), heard(std::move(then)), hung_up(std::move(then_hung_up)) {
    for (const int signal : kServerSignals) {
      if (signal != SIGHUP || hung_up) set.add(signal);
    }
  }

  void listen() {
    set.async_wait([weak = weak_from_this()](const boost::system::error_code& error, int signal) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->listen();
      if (signal == SIGHUP) return self->hung_up();
      self->heard(signal, ++self->count);
    });
  }
};

Signals::Signals(Loop& loop, Heard heard, std::move_only_function<void()> hung_up)
    : parts_(std::make_shared<Parts>(loop.context(), std::move(heard), std::move(hung_up))) {
  parts_->listen();
}

Signals::~Signals() = default;

}  // namespace holdfast::io
