#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "node/remote_server.hpp"

namespace holdfast::server {

// `holdfast worker` without its command line: runs the commands and webhooks of a configuration,
// from start() to stop(). It pulls their tasks from a server, or claims them itself from a store
// that many share.
//
// Members block, and may be called by any thread but those that call back.
class TaskWorker {
 public:
  struct Options {
    // One of these two.
    std::optional<node::RemoteOptions> server = {};
    std::string store = {};  // its URL
    Logger log = {};
    // The first SIGINT or SIGTERM; the second ends the grace by itself. Must neither block nor call
    // the worker.
    std::function<void()> on_signal = {};
    // The store has failed for good: nothing runs any more, and stop() should be called. Likewise.
    std::function<void(const Error&)> on_broken = {};
  };

  // Fails if there is nothing to run, or the server does not let it, or the store cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<TaskWorker>> start(const config::Config& config,
                                                                 Options options);
  ~TaskWorker();  // stops, if it has not been
  TaskWorker(const TaskWorker&) = delete;
  TaskWorker& operator=(const TaskWorker&) = delete;

  struct Stopped {
    std::size_t handed_back = 0;
    std::size_t cut_short = 0;
    std::optional<Error> error = {};
  };
  Stopped stop();

  struct Parts;
  explicit TaskWorker(std::unique_ptr<Parts> parts);  // see start()

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::server
