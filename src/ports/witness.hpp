#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ports/store.hpp"

namespace holdfast::ports {

// Knows, when a process has died, which attempts it was working on: those are to blame, and the
// rest of what it had claimed is not (N7). Costs no write to disk, so it is exact after the death
// of a process, and says that it cannot tell after that of a machine.
class Witness {
 public:
  using Place = std::size_t;

  virtual ~Witness() = default;

  // An attempt begins; one ends. Threads: any.
  [[nodiscard]] virtual Place begin(const Held& claim) noexcept = 0;
  virtual void end(Place place, const Held& claim) noexcept = 0;

  // What was under way when the last process ended; nothing: it cannot tell, so any claim may have
  // been. Set when the witness is made. May name claims that are settled since.
  [[nodiscard]] virtual const std::optional<std::vector<Held>>& last_life() const noexcept = 0;

  // What is left of the last life is settled in the store. Until this is said, the next life is
  // told of it too: a process may die before it has come to it. Threads: any.
  virtual void forget_last_life() noexcept {}
};

}  // namespace holdfast::ports
