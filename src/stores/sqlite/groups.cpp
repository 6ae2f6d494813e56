// What is told of groups of failures.
#include "ports/groups.hpp"

#include <algorithm>
#include <limits>

#include "stores/sqlite/cursor.hpp"
#include "stores/sqlite/query_statements.hpp"

namespace holdfast::stores::sqlite {

using core::State;
using ports::Group;
using ports::Groups;

namespace {

constexpr char kListing = 'g';

Cursor cursor_of(const Group& group) {
  return {.listing = kListing,
          .at = {to_us(group.last_seen), static_cast<std::int64_t>(group.state),
                 static_cast<std::int64_t>(group.fingerprint.value()), 0}};
}

Group group_of(const Row& row) {
  return {.state = static_cast<State>(row.integer(0)),
          .fingerprint = Fingerprint(static_cast<std::uint64_t>(row.integer(1))),
          .count = static_cast<std::uint64_t>(row.integer(2)),
          .first_seen = row.time(3),
          .last_seen = row.time(4),
          .example = row.string(5),
          .came_by = {static_cast<std::uint64_t>(row.integer(6)),
                      static_cast<std::uint64_t>(row.integer(7)),
                      static_cast<std::uint64_t>(row.integer(8))}};
}

}  // namespace

Result<Groups::Answer> Queries::answer(const Groups& verb) {
  Groups::Answer answer;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  Cursor from{.listing = kListing, .at = {kLast, kLast, kLast, 0}};
  if (!verb.cursor.empty()) {
    const Result<Cursor> parsed = Cursor::parse(verb.cursor, kListing);
    if (!parsed) return std::unexpected(parsed.error());
    from = *parsed;
  }
  if (verb.only) {
    statements_->groups_of.each([&](Row row) { answer.groups.push_back(group_of(row)); },
                                verb.only->value());
  } else if (verb.limit > 0) {
    const auto take = [&](Row row) {
      if (answer.groups.size() == verb.limit) {
        answer.next = cursor_of(answer.groups.back()).text();
        return false;
      }
      answer.groups.push_back(group_of(row));
      return true;
    };
    statements_->groups.each(take, from.at[0], from.at[1], from.at[2]);
  }
  for (Group& group : answer.groups)
    tell_more(group);
  return answer;
}

void Queries::tell_more(Group& group) {
  const int state = static_cast<int>(group.state);
  const std::uint64_t fingerprint = group.fingerprint.value();
  statements_->parts.each(
      [&](Row row) {
        group.parts.push_back({.queue = names_.text(row.integer(0)),
                               .type = names_.text(row.integer(1)),
                               .count = static_cast<std::uint64_t>(row.integer(2))});
      },
      state, fingerprint);
  ports::sort_parts(group.parts);
  statements_->slots.each(
      [&](Row row) {
        group.trend.push_back({.slot = ports::slot_begin(row.integer(0)),
                               .count = static_cast<std::uint64_t>(row.integer(1))});
      },
      state, fingerprint);
}

}  // namespace holdfast::stores::sqlite
