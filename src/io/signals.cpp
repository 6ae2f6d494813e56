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
    if (abandoned_) return;
    for (std::size_t at = 0; at < kServerSignals.size(); ++at)
      ::sigaction(kServerSignals[at], &before_[at], nullptr);
  }
  // Restores nothing.
  void abandon() { abandoned_ = true; }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

 private:
  std::array<struct sigaction, kServerSignals.size()> before_{};
  bool abandoned_ = false;
};

// Takes signals and does nothing about them. With the last set of a signal Asio restores the
// default action, and the next signal would kill: so one set that nobody destroys makes them
// harmless until the process ends. Made while there are files to be had, not when a signal is
// heard.
struct IgnoredSignals {
  explicit IgnoredSignals(bool with_hangup) {
    if (with_hangup) set.add(SIGHUP);
  }
  asio::io_context context;
  asio::signal_set set{context, SIGINT, SIGTERM};
};

void keep_until_exit(std::unique_ptr<IgnoredSignals> ignored) {
  [[maybe_unused]] static const IgnoredSignals* const kept = ignored.release();
}

}  // namespace

struct Signals::Parts : std::enable_shared_from_this<Parts> {
  Actions actions;                          // restored after the sets below have gone
  std::unique_ptr<IgnoredSignals> ignored;  // until a signal was heard; then it stays for ever
  asio::signal_set set;
  Heard heard;
  std::move_only_function<void()> hung_up;
  const Afterwards afterwards;
  int count = 0;

  Parts(asio::io_context& context, Heard then, std::move_only_function<void()> then_hung_up,
        Afterwards then_afterwards)
      : set(context),
        heard(std::move(then)),
        hung_up(std::move(then_hung_up)),
        afterwards(then_afterwards) {
    const bool with_hangup = hung_up != nullptr;
    for (const int signal : kServerSignals) {
      if (signal != SIGHUP || with_hangup) set.add(signal);
    }
    if (afterwards == Afterwards::ignored_once_heard)
      ignored = std::make_unique<IgnoredSignals>(with_hangup);
  }

  void listen() {
    set.async_wait([weak = weak_from_this()](const boost::system::error_code& error, int signal) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->listen();
      if (signal == SIGHUP) return self->hung_up();
      if (self->ignored) {
        keep_until_exit(std::move(self->ignored));
        self->actions.abandon();
      }
      self->heard(signal, ++self->count);
    });
  }
};

Signals::Signals(Loop& loop, Heard heard, std::move_only_function<void()> hung_up,
                 Afterwards afterwards)
    : parts_(std::make_shared<Parts>(loop.context(), std::move(heard), std::move(hung_up),
                                     afterwards)) {
  parts_->listen();
}

Signals::~Signals() = default;

}  // namespace holdfast::io
