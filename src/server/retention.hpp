#pragma once

#include <memory>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "engine/options.hpp"
#include "ports/loop.hpp"
#include "ports/spill.hpp"

namespace holdfast::server {

[[nodiscard]] engine::Keep keep_of(const config::Store& store);

// What failed and dead tasks leave outside of the store when their time is over: the files that
// they are written to, and a line that says since when their removal is announced. Both may be
// missing: nothing of it is configured, or there is no place for it. They block a thread of their
// own.
struct Retention {
  std::shared_ptr<ports::Spill> spill = {};
  std::shared_ptr<ports::Memo> memo = {};
};
[[nodiscard]] Retention retention_of(const config::Store& store, ports::Loop& loop,
                                     const Logger& log);

}  // namespace holdfast::server
