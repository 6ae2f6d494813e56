#pragma once

#include <memory>
#include <string>

#include <holdfast/result.hpp>

#include "cli/connect.hpp"
#include "node/remote_connection.hpp"
#include "node/remote_server.hpp"

namespace holdfast::cli {

// Calls of the API that only a server answers, since they are not about tasks in a store. Block.
class ServerCalls {
 public:
  // Fails with invalid_argument where the target is a store that no server has open.
  [[nodiscard]] static Result<ServerCalls> open(const Target& target);

  // The body of the answer.
  [[nodiscard]] Result<std::string> get(const std::string& operation, std::string path) const;
  [[nodiscard]] Result<std::string> post(const std::string& operation, std::string path,
                                         std::string body) const;

 private:
  ServerCalls(node::RemoteServer server, std::shared_ptr<node::RemoteConnection> connection)
      : server_(std::move(server)), connection_(std::move(connection)) {}
  [[nodiscard]] Result<std::string> ask(const node::RemoteCall& call) const;

  node::RemoteServer server_;
  std::shared_ptr<node::RemoteConnection> connection_;
};

}  // namespace holdfast::cli
