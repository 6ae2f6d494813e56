#pragma once

#include <functional>
#include <memory>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "node/remote_server.hpp"

namespace holdfast::server {

// `holdfast worker` without its command line: runs the commands and webhooks of a configuration,
// whose tasks it pulls from a server, from start() to stop().
//
// Members block, and may be called by any thread but those that call back.
class PullWorker {
 public:
  struct Options {
    node::RemoteOptions server = {};
    Logger log = {};
    // The first SIGINT or SIGTERM; the second ends the grace by itself. Must neither block nor call
    // the worker.
    std::function<void()> on_signal = {};
  };

  // Fails if there is nothing to run, or the server does not let it.
  [[nodiscard]] static Result<std::unique_ptr<PullWorker>> start(const config::Config& config,
                                                                 Options options);
  ~PullWorker();  // stops, if it has not been
  PullWorker(const PullWorker&) = delete;
  PullWorker& operator=(const PullWorker&) = delete;

  struct Stopped {
    std::size_t handed_back = 0;
    std::size_t cut_short = 0;
    std::optional<Error> error = {};
  };
  Stopped stop();

  struct Parts;
  explicit PullWorker(std::unique_ptr<Parts> parts);  // see start()

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::server
