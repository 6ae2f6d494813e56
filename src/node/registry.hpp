#pragma once

#include <memory>
#include <string_view>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "node/node.hpp"

namespace holdfast::node {

// The node of a URL: the one that is open in this process, or a new one. It is closed with its last
// reference; who asks meanwhile waits until it is. The first to open it says where it logs to.
// Threads: any.
[[nodiscard]] Result<std::shared_ptr<Node>> open(std::string_view url, Logger log);

}  // namespace holdfast::node
