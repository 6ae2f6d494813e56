#include "node/open_remote.hpp"

#include <future>
#include <utility>

namespace holdfast::node {

Result<RemoteNode> open_remote(RemoteOptions options, Logger log) {
  auto server = RemoteServer::make(std::move(options));
  if (!server) return std::unexpected(std::move(server).error());
  RemoteNode remote;
  Opened opened;
  opened.url = server->url();
  opened.lane = [&](ports::Loop& loop) {
    auto lane = std::make_unique<RemoteLane>(loop, *std::move(server), system_clock());
    remote.lane = lane.get();
    return lane;
  };
  remote.node = std::make_shared<Node>(std::move(opened), log);
  return remote;
}

Result<void> RemoteNode::check(const Logger& log) const {
  std::promise<std::expected<void, RemoteFault>> promise;
  auto answer = promise.get_future();
  node->on_loop([&] {
    lane->probe(
        [&promise](std::expected<void, RemoteFault> told) { promise.set_value(std::move(told)); });
  });
  const auto told = answer.get();
  if (told) return {};
  if (!told.error().may_pass) return std::unexpected(told.error().error);
  log.log(Level::warning, "server.unavailable", "the server does not answer yet: asked again",
          {{"error", told.error().error.text()}});
  return {};
}

}  // namespace holdfast::node
