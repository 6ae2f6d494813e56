#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "core/states.hpp"
#include "ports/records.hpp"

namespace holdfast::ports {

// Where failed and dead tasks go before they are removed for good (N9): page by page, one heap at a
// time. Callbacks are called on the loop, exactly once, and never from within the call. Threads:
// the loop's.
class Spill {
 public:
  using Added = std::move_only_function<void(Result<void>)>;
  using Kept = std::move_only_function<void(Result<std::string>)>;

  virtual ~Spill() = default;

  // Puts whole tasks (of Find) onto the heap; the first ones begin it. After an error nothing of
  // the heap counts.
  virtual void add(core::State state, std::vector<TaskRecord> tasks, Added done) = 0;
  // The heap is where no crash and no power cut can take it, and ends with this. Answers its name,
  // for the log.
  virtual void keep(Kept done) = 0;
  // It is not wanted.
  virtual void drop() = 0;
};

// A few lines that outlive the process where that can be. What is lost of them costs time, and
// nothing else. Threads: the loop's.
class Memo {
 public:
  virtual ~Memo() = default;
  [[nodiscard]] virtual std::string_view last_life() const noexcept = 0;  // empty: nothing is known
  virtual void write(std::string text) = 0;                               // in place of all before
};

}  // namespace holdfast::ports
