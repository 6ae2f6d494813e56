#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <holdfast/result.hpp>

#include "cli/connect.hpp"
#include "cli/top_model.hpp"
#include "node/remote_connection.hpp"
#include "node/remote_server.hpp"

namespace holdfast::cli {

// Where `holdfast top` looks: at a server, or, where there is none, into the store itself. A file
// that nobody has open is opened for each look and closed again, so that a server can be started
// meanwhile; then that is asked. Blocks; threads: one, but close().
class TopSource {
 public:
  explicit TopSource(Target target) : target_(std::move(target)) {}

  [[nodiscard]] Result<Snapshot> look();
  // What was done, in a line for people; `report` hears of what takes long.
  using Report = std::function<void(std::string)>;
  [[nodiscard]] Result<std::string> act(const Action& action, const Report& report);

  // What is asked for and not answered yet fails. Threads: any.
  void close();

 private:
  struct Server {
    node::RemoteServer server;
    std::shared_ptr<node::RemoteConnection> connection;

    [[nodiscard]] node::RemoteAnswer ask(const node::RemoteCall& call) const;
  };

  // Finds a server, or gives the client of a store.
  [[nodiscard]] Result<std::optional<Connected>> find();
  [[nodiscard]] Result<Snapshot> look_at_server();
  [[nodiscard]] Result<std::string> replay(const wire::GroupNow& group, bool canary,
                                           const Report& report);
  [[nodiscard]] Result<std::string> replay_pages(const wire::GroupNow& group, const Report& report);

  const Target target_;
  std::mutex mutex_;                // of what follows
  std::optional<Server> server_;    // once it is found, and as long as it answers
  std::optional<Connected> store_;  // that many share
  bool is_closed_ = false;
};

}  // namespace holdfast::cli
