#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/operation.hpp>
#include <holdfast/result.hpp>

#include "core/uuid.hpp"
#include "ports/store_lane.hpp"

namespace holdfast::triage {

// Who did what: an entry for each action of a person or a schedule, in the store, so that it
// outlives the process and is the same for all who share it. Threads: the loop's.
class AuditLog {
 public:
  AuditLog(ports::StoreLane& writer, ports::StoreLane& reader, Clock& clock, Random& random,
           Logger log);

  // Its id and time are made here. `then` comes when it is durable, or cannot be: the action has
  // been carried out by then, so that is logged, and no reason to call it failed.
  void note(AuditEntry entry, std::move_only_function<void()> then = nullptr);

  void page(std::size_t limit, std::string cursor,
            std::move_only_function<void(Result<AuditPage>)> then);

 private:
  ports::StoreLane& writer_;
  ports::StoreLane& reader_;
  Clock& clock_;
  UuidSource ids_;
  Logger log_;
};

}  // namespace holdfast::triage
