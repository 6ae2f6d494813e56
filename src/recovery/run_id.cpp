#include "recovery/run_id.hpp"

#include <chrono>

#include <fmt/format.h>

#include "core/time_text.hpp"

namespace holdfast::recovery {

std::string run_id(WallTime now, Random& random) {
  std::string id;
  append_rfc3339(id, std::chrono::floor<std::chrono::seconds>(now));  // 2026-11-16T03:12:45.000Z
  id.resize(id.find('.'));
  std::erase_if(id, [](char c) { return c == '-' || c == ':'; });
  return id + fmt::format("Z-{:08x}", random.next() >> 32U);
}

}  // namespace holdfast::recovery
