#pragma once

#include <stop_token>

#include "io/unique_fd.hpp"

namespace holdfast::stores::redis {

// Ends what another thread waits for, whether it polls or sleeps. Once given it stays. Threads:
// any.
class StopSignal {
 public:
  StopSignal();

  void give() noexcept;
  [[nodiscard]] bool given() const noexcept { return source_.stop_requested(); }

  // For poll: readable from then on.
  [[nodiscard]] int fd() const noexcept { return event_.get(); }
  // For sleeps.
  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  std::stop_source source_;
  io::UniqueFd event_;
};

}  // namespace holdfast::stores::redis
