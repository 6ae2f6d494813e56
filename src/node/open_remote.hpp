#pragma once

#include <memory>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "node/node.hpp"
#include "node/remote_lane.hpp"
#include "node/remote_server.hpp"

namespace holdfast::node {

// A node whose tasks are a server's: what a worker elsewhere works with. Others of the same process
// do not share it.
struct RemoteNode {
  std::shared_ptr<Node> node;
  RemoteLane* lane = nullptr;  // lives as long as the node; on its loop only

  // Whether the server lets it work. One that cannot be reached now is no error, but said.
  [[nodiscard]] Result<void> check(const Logger& log) const;
};

[[nodiscard]] Result<RemoteNode> open_remote(RemoteOptions options, Logger log);

}  // namespace holdfast::node
