#include "stores/sqlite/group_book.hpp"

#include <algorithm>

namespace holdfast::stores::sqlite {

// ?1 state and ?2 fingerprint in all of them.
GroupBook::GroupBook(Database& database)
    : database_(database),
      join_group_(database,
                  "insert into failure_group (state, fingerprint, count, first_seen, last_seen,"
                  " example, errors, timeouts, crashes, whole)"
                  " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1)"
                  " on conflict do update set count = count + excluded.count,"
                  " last_seen = max(last_seen, excluded.last_seen),"
                  " errors = errors + excluded.errors, timeouts = timeouts + excluded.timeouts,"
                  " crashes = crashes + excluded.crashes"),
      join_part_(database,
                 "insert into group_part values (?1, ?2, ?3, ?4, ?5)"
                 " on conflict do update set count = count + excluded.count"),
      join_slot_(database,
                 "update group_slot set count = count + ?4"
                 " where state = ?1 and fingerprint = ?2 and slot = ?3"),
      new_slot_(database, "insert into group_slot values (?1, ?2, ?3, ?4)"),
      prune_slots_(
          database,
          "delete from group_slot where state = ?1 and fingerprint = ?2 and slot <="
          " (select max(slot) from group_slot where state = ?1 and fingerprint = ?2) - ?3"),
      shrink_group_(database,
                    "update failure_group set count = count - ?3"
                    " where state = ?1 and fingerprint = ?2 returning count"),
      // What came before parts were counted is in none: its part may be too small, or not there.
      shrink_part_(database,
                   "update group_part set count = count - ?5"
                   " where state = ?1 and fingerprint = ?2 and queue = ?3 and type = ?4"),
      drop_part_(database,
                 "delete from group_part where state = ?1 and fingerprint = ?2 and queue = ?3"
                 " and type = ?4 and count <= 0"),
      drop_group_(database, "delete from failure_group where state = ?1 and fingerprint = ?2"),
      drop_parts_(database, "delete from group_part where state = ?1 and fingerprint = ?2"),
      drop_slots_(database, "delete from group_slot where state = ?1 and fingerprint = ?2") {}

GroupBook::Gathered& GroupBook::gathered(const Member& member, bool leaves) {
  const Key key{member.state, member.fingerprint};
  const auto [place, is_new] = groups_.try_emplace(key);
  Gathered& group = place->second;
  if (!is_new && group.leaves != leaves) {
    write(key, group);
    group = Gathered();
  }
  group.leaves = leaves;
  ++group.count;
  ++group.parts[{member.queue, member.type}];
  return group;
}

void GroupBook::enter(const Member& member, WallTime when, FailureKind by,
                      std::string_view example) {
  Gathered& group = gathered(member, false);
  if (group.count == 1) {
    group.first_seen = group.last_seen = when;
    group.example = example;
  }
  group.last_seen = std::max(group.last_seen, when);
  ++group.came_by[static_cast<std::size_t>(by)];
  ++group.slots[ports::slot_number(when)];
}

void GroupBook::leave(const Member& member) {
  (void)gathered(member, true);
}

void GroupBook::write() {
  for (const auto& [key, group] : groups_)
    write(key, group);
  groups_.clear();
}

void GroupBook::write(const Key& key, const Gathered& group) {
  group.leaves ? write_departures(key, group) : write_arrivals(key, group);
}

void GroupBook::write_arrivals(const Key& key, const Gathered& group) {
  const int state = static_cast<int>(key.first);
  const std::int64_t fingerprint = key.second;
  join_group_.run(state, fingerprint, group.count, group.first_seen, group.last_seen, group.example,
                  group.came_by[0], group.came_by[1], group.came_by[2]);
  for (const auto& [part, count] : group.parts)
    join_part_.run(state, fingerprint, part.first, part.second, count);
  bool has_new_slot = false;
  for (const auto& [slot, count] : group.slots) {
    join_slot_.run(state, fingerprint, slot, count);
    if (database_.changes() > 0) continue;
    new_slot_.run(state, fingerprint, slot, count);
    has_new_slot = true;
  }
  if (has_new_slot) prune_slots_.run(state, fingerprint, ports::kKeptSlots);
}

void GroupBook::write_departures(const Key& key, const Gathered& group) {
  const int state = static_cast<int>(key.first);
  const std::int64_t fingerprint = key.second;
  std::int64_t left = 0;
  shrink_group_.each([&](Row row) { left = row.integer(0); }, state, fingerprint, group.count);
  if (left <= 0) {
    drop_group_.run(state, fingerprint);
    drop_parts_.run(state, fingerprint);
    drop_slots_.run(state, fingerprint);
    return;
  }
  for (const auto& [part, count] : group.parts) {
    shrink_part_.run(state, fingerprint, part.first, part.second, count);
    drop_part_.run(state, fingerprint, part.first, part.second);
  }
}

}  // namespace holdfast::stores::sqlite
