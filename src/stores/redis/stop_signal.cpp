#include "stores/redis/stop_signal.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/eventfd.h>

namespace holdfast::stores::redis {

StopSignal::StopSignal() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void StopSignal::give() noexcept {
  source_.request_stop();
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof(one));  // fails only when it is readable already
}

}  // namespace holdfast::stores::redis
