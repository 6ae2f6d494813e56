#include "io/held_signals.hpp"

#include <sys/signalfd.h>

namespace holdfast::io {
namespace {

bool is_ignored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM}) {
    if (!is_ignored(signal)) ::sigaddset(&held, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  file_.reset(::signalfd(-1, &held, SFD_CLOEXEC));
}

HeldSignals::~HeldSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace holdfast::io
