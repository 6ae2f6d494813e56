// Groups of failures in a MemoryStore: who comes, who leaves, and what is told of them.
#include <algorithm>
#include <charconv>
#include <tuple>

#include "ports/groups.hpp"
#include "stores/memory/memory_store.hpp"

namespace holdfast::stores {

using ports::Group;
using ports::TaskRecord;

namespace {

std::string example_of(const core::Transition& transition) {
  if (transition.failure) return transition.failure->message;
  return transition.dead_reason ? std::string(to_string(*transition.dead_reason)) : "";
}

Group::Part& part_of(Group& group, const TaskRecord& record) {
  const auto found = std::ranges::find_if(group.parts, [&](const Group::Part& part) {
    return part.queue == record.queue && part.type == record.type;
  });
  if (found != group.parts.end()) return *found;
  return group.parts.emplace_back(Group::Part{.queue = record.queue, .type = record.type});
}

void count_arrival(std::vector<Group::Arrivals>& trend, WallTime time) {
  const WallTime slot = ports::slot_begin(ports::slot_number(time));
  const auto place = std::ranges::lower_bound(trend, slot, {}, &Group::Arrivals::slot);
  if (place != trend.end() && place->slot == slot) {
    ++place->count;
  } else {
    trend.insert(place, {.slot = slot, .count = 1});
  }
  const std::int64_t latest = ports::slot_number(trend.back().slot);
  std::erase_if(trend, [&](const Group::Arrivals& one) {
    return ports::slot_number(one.slot) <= latest - ports::kKeptSlots;
  });
}

// Where a group stands in their list: the smallest comes first, which is the one seen last.
using GroupPlace = std::tuple<std::int64_t, int, Fingerprint>;

GroupPlace place_of(const Group& group) {
  return {~group.last_seen.time_since_epoch().count(), static_cast<int>(group.state),
          group.fingerprint};
}

std::string cursor_text(const GroupPlace& place) {
  return "g" + std::to_string(std::get<0>(place)) + " " + std::to_string(std::get<1>(place)) + " " +
         std::to_string(std::get<2>(place).value()) + ".";
}

Result<GroupPlace> parse_cursor(const std::string& cursor) {
  std::int64_t time = 0;
  int state = 0;
  std::uint64_t fingerprint = 0;
  const char* at = cursor.data();
  const char* const end = at + cursor.size();
  const auto take = [&](char before, auto& number) {
    if (at == end || *at != before) return false;
    const auto [next, error] = std::from_chars(at + 1, end, number);
    at = next;
    return error == std::errc();
  };
  if (take('g', time) && take(' ', state) && take(' ', fingerprint) && end - at == 1 &&
      *at == '.') {
    return GroupPlace{time, state, Fingerprint(fingerprint)};
  }
  return fail(ErrorCode::invalid_argument, "groups",
              "no page of groups gave the cursor \"" + cursor + "\"");
}

}  // namespace

void MemoryStore::enter_group(const TaskRecord& record, const core::Transition& transition) {
  const GroupKey key{record.task.state, record.fingerprint};
  const auto [place, is_new] = groups_.try_emplace(key);
  Group& group = place->second;
  if (is_new) {
    group = {.state = record.task.state,
             .fingerprint = record.fingerprint,
             .first_seen = record.changed,
             .last_seen = record.changed,
             .example = example_of(transition)};
  }
  ++group.count;
  ++part_of(group, record).count;
  ports::sort_parts(group.parts);
  ++group.came_by[static_cast<std::size_t>(ports::came_by(transition))];
  count_arrival(group.trend, record.changed);
  group.last_seen = std::max(group.last_seen, record.changed);
}

void MemoryStore::leave_group(const TaskRecord& record) {
  const auto found = groups_.find({record.task.state, record.fingerprint});
  if (found == groups_.end()) return;
  Group& group = found->second;
  if (--group.count == 0) {
    groups_.erase(found);
    return;
  }
  Group::Part& part = part_of(group, record);
  if (part.count > 0) --part.count;
  std::erase_if(group.parts, [](const Group::Part& one) { return one.count == 0; });
  ports::sort_parts(group.parts);
}

Result<ports::Groups::Answer> MemoryStore::run(const ports::Groups& verb) {
  std::optional<GroupPlace> after;
  if (!verb.cursor.empty()) {
    const auto cursor = parse_cursor(verb.cursor);
    if (!cursor) return std::unexpected(cursor.error());
    after = *cursor;
  }
  std::map<GroupPlace, const Group*> matching;
  for (const auto& [key, group] : groups_) {
    if (verb.only ? group.fingerprint == *verb.only : !after || place_of(group) > *after)
      matching.emplace(place_of(group), &group);
  }
  ports::Groups::Answer answer;
  const std::size_t limit = verb.only ? matching.size() : verb.limit;
  for (const auto& [place, group] : matching) {
    if (answer.groups.size() == limit) {
      if (limit > 0) answer.next = cursor_text(place_of(answer.groups.back()));
      break;
    }
    answer.groups.push_back(*group);
  }
  return answer;
}

}  // namespace holdfast::stores
