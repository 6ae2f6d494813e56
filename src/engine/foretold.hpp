#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/time.hpp>

#include "core/states.hpp"

namespace holdfast::engine {

// Which removals have been announced, and since when: all tasks that ended before a time were, at
// another. What a shorter time to keep, a long absence or a leap of the clock adds is not among
// them, and is announced first.
class Foretold {
 public:
  Foretold() = default;
  // Of the lines of a state; those that make no sense are passed over.
  Foretold(core::State state, std::string_view lines);

  // Tasks that ended before `ended_before` are announced now.
  void say(WallTime now, WallTime ended_before);
  // What ended before this was announced at `when` or earlier. WallTime::min(): nothing was.
  [[nodiscard]] WallTime known_since(WallTime when) const;
  // When the removal of a task that ended then was announced first; WallTime::max(): not yet.
  [[nodiscard]] WallTime said_of(WallTime ended) const;
  // Forgets what known_since(when) and all later ones do not need.
  void forget(WallTime when);

  // "dead 2026-03-01T12:00:00.000000Z 2026-02-01T12:00:00.000000Z", a line for each.
  void append_lines(core::State state, std::string& out) const;

 private:
  struct Said {
    WallTime at;
    WallTime ended_before;
  };
  std::vector<Said> said_;  // both grow
};

}  // namespace holdfast::engine
