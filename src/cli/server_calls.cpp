#include "cli/server_calls.hpp"

#include <utility>

namespace holdfast::cli {

Result<ServerCalls> ServerCalls::open(const Target& target) {
  auto connected = connect(target, Missing::is_an_error);
  if (!connected) return std::unexpected(std::move(connected).error());
  if (!node::is_remote(connected->where)) {
    return fail(ErrorCode::invalid_argument, "open",
                "no server has " + connected->where +
                    " open, and only a server knows brokers: start holdfast serve, or name one "
                    "with --server URL. holdfast recover needs none");
  }
  auto server = node::RemoteServer::make({.url = connected->where,
                                          .token = token_of_environment(),
                                          .ca_file = target.ca_file,
                                          .token_in_the_clear = target.token_in_the_clear});
  if (!server) return std::unexpected(std::move(server).error());
  auto connection = node::RemoteConnection::start(server->client_options());
  if (!connection) return std::unexpected(std::move(connection).error());
  return ServerCalls(*std::move(server), *std::move(connection));
}

Result<std::string> ServerCalls::get(const std::string& operation, std::string path) const {
  return ask({.operation = operation,
              .method = "GET",
              .path = std::move(path),
              .timeout = kServerPatience});
}

Result<std::string> ServerCalls::post(const std::string& operation, std::string path,
                                      std::string body) const {
  return ask({.operation = operation,
              .path = std::move(path),
              .body = std::move(body),
              .timeout = 2 * kServerPatience});
}

Result<std::string> ServerCalls::ask(const node::RemoteCall& call) const {
  auto answer = server_.answer(connection_->ask(server_.request(call)), call.operation,
                               system_clock().wall_now());
  if (!answer) return std::unexpected(std::move(answer).error().error);
  return *std::move(answer);
}

}  // namespace holdfast::cli
