#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "http/message.hpp"
#include "ports/loop.hpp"
#include "seeing/event_log.hpp"

namespace holdfast::http {

// Which happenings a reader wants. Alerts are for everyone; operations, which have neither queue
// nor type, for those who want everything.
struct EventFilter {
  std::string queue = {};               // empty: any
  std::string type = {};                // empty: any; of tasks only
  std::optional<TaskState> state = {};  // that a task comes to

  [[nodiscard]] bool wants(const seeing::Happening& happening) const;
};

// The stream of server-sent events, for any number of readers. All they have is a place in the log,
// so they cost nothing while they are slow; one that is overtaken by the log is cut off, and is
// told when it comes back that it has missed something.
//
// Threads: the loop's. The loop and the log must outlive it.
class EventStreams {
 public:
  static constexpr Duration kKeepAlive = std::chrono::seconds(15);

  EventStreams(ports::Loop& loop, seeing::EventLog& log);
  ~EventStreams();
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  // A new reader, which goes on after `last_id` if it can; nothing: with what happens from now on.
  // It is told nothing more, and ends, once it is not `is_still_in`; nothing: it stays.
  [[nodiscard]] std::shared_ptr<BodySource> open(EventFilter filter,
                                                 std::optional<std::string_view> last_id,
                                                 std::function<bool()> is_still_in = {});
  [[nodiscard]] std::size_t readers() const noexcept;

 private:
  class Reader;
  struct Parts;

  const std::shared_ptr<Parts> parts_;
};

}  // namespace holdfast::http
