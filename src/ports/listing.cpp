#include "ports/listing.hpp"

namespace holdfast::ports {

bool matches(const TaskRecord& record, const Filter& filter) {
  const core::State state = record.task.state;
  if (filter.state && state != *filter.state) return false;
  if (!filter.queue.empty() && record.queue != filter.queue) return false;
  if (!filter.type.empty() && record.type != filter.type) return false;
  if (filter.group) {
    if (state != core::State::failed && state != core::State::dead) return false;
    if (record.fingerprint != *filter.group) return false;
  }
  if (filter.created_from && record.task.created < *filter.created_from) return false;
  return !filter.created_until || record.task.created < *filter.created_until;
}

TaskRecord for_list(TaskRecord record, bool with_payload) {
  if (!with_payload) record.payload.clear();
  record.key.clear();
  record.trace.clear();
  record.retry_on_failure = false;
  record.result.reset();
  record.attempts.clear();
  return record;
}

}  // namespace holdfast::ports
