#pragma once

#include <memory>
#include <string_view>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "node/node.hpp"

namespace holdfast::server {

// The node of a URL. A store elsewhere that cannot be reached is tried for half a minute (T10): it
// may have been started together with us. The store itself says that it is tried. A file that
// somebody who is no server has open is waited for, too: for 5 seconds. Blocks.
[[nodiscard]] Result<std::shared_ptr<node::Node>> open_patiently(std::string_view url,
                                                                 const Logger& log);

}  // namespace holdfast::server
