#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"

namespace holdfast::server {

// `holdfast serve` without its command line: a store, the handlers that the configuration names,
// and the API, from start() to stop().
//
// Members block, and may be called by any thread but those that call back.
class Service {
 public:
  struct Options {
    Logger log = {};
    // The store has failed for good: nothing runs any more, and stop() should be called. Must
    // neither block nor call the service.
    std::function<void(const Error&)> on_broken = {};
    // The first SIGINT or SIGTERM; the second ends the grace by itself. Likewise.
    std::function<void(int signal)> on_signal = {};
    std::function<void()> on_hangup = {};  // SIGHUP. Likewise.
  };

  // Returns once callers are served. What is wrong is said before anything is accepted.
  [[nodiscard]] static Result<std::unique_ptr<Service>> start(config::Config config,
                                                              Options options);
  ~Service();  // stops, if it has not been
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] std::string url() const;  // "http://127.0.0.1:8080"
  [[nodiscard]] std::uint16_t port() const;

  // Has another configuration hold, as far as that can be without a new start; the log says what
  // changed and what did not. Either all of that or, where something is wrong with it, nothing.
  // Attempts that are under way end as they began.
  [[nodiscard]] Result<void> reload(const config::Config& next);
  [[nodiscard]] const config::Config& config() const;  // that holds now

  // How a shutdown went (T3).
  struct Stopped {
    std::size_t finished = 0;
    std::size_t handed_back = 0;
    std::size_t cut_short = 0;
    std::size_t left_behind = 0;
    std::optional<Error> error = {};
  };
  // Accepts no more callers, lets what runs finish for its grace, hands back the rest, closes.
  Stopped stop();
  void hurry();  // no more grace

  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);  // see start()

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::server
