// What is told of groups of failures.
#include "ports/groups.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "stores/redis/cursor.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::stores::redis {

using core::State;
using ports::Asked;
using ports::Group;

namespace {

constexpr char kOrder = 'g';

template <class Number>
Number integer_of(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Cursor cursor_of(const Group& group) {
  return {.order = kOrder,
          .priority = static_cast<std::int64_t>(group.state),
          .score = static_cast<double>(microseconds(group.last_seen)),
          .number = static_cast<std::int64_t>(group.fingerprint.value())};
}

Group group_of(const Reply& told) {
  std::string name(told[0].text());
  for (char& byte : name)
    byte = static_cast<char>(~byte);
  Group group{.state = static_cast<State>(name.at(0)),
              .fingerprint = Fingerprint(read_big_endian(std::string_view(name).substr(1))),
              .count = static_cast<std::uint64_t>(told[1].integer()),
              .first_seen = wall_time(told[2].text()),
              .last_seen = wall_time(told[3].text()),
              .example = std::string(told[4].text())};
  for (std::size_t by = 0; by < group.came_by.size(); ++by)
    group.came_by[by] = integer_of<std::uint64_t>(told[5][by].text());
  const Reply parts = told[6];
  for (std::size_t at = 0; at + 2 < parts.size(); at += 3) {
    group.parts.push_back({.queue = std::string(parts[at].text()),
                           .type = std::string(parts[at + 1].text()),
                           .count = integer_of<std::uint64_t>(parts[at + 2].text())});
  }
  ports::sort_parts(group.parts);
  const Reply slots = told[7];
  for (std::size_t at = 0; at + 1 < slots.size(); at += 2) {
    group.trend.push_back({.slot = ports::slot_begin(integer_of<std::int64_t>(slots[at].text())),
                           .count = integer_of<std::uint64_t>(slots[at + 1].text())});
  }
  std::ranges::sort(group.trend, {}, &Group::Arrivals::slot);
  return group;
}

}  // namespace

void RedisStore::plan(Asked<ports::Groups>& asked) {
  const ports::Groups& verb = asked.verb;
  std::optional<Cursor> after;
  if (!verb.cursor.empty()) {
    after = parse_cursor(verb.cursor, kOrder);
    if (!after || !after->queue.empty()) {
      asked.answer = fail(ErrorCode::invalid_argument, "groups",
                          "no page of groups gave the cursor \"" + verb.cursor + "\"");
      return;
    }
  }
  const std::size_t first = pipeline_.size();
  if (verb.only) {
    const std::string dead = group_name(State::dead, *verb.only);
    const std::string failed = group_name(State::failed, *verb.only);
    call(scripts().groups, {"these", dead, failed});
  } else {
    // One more than wanted, to know whether there is a next page.
    const std::string many =
        std::to_string(verb.limit == 0 ? 0 : std::min(verb.limit, kMostLimit) + 1);
    Words words{"page", many};
    std::string score;
    std::string name;
    if (after) {
      score = fmt::format("{:.17g}", after->score);
      name = group_name(static_cast<State>(after->priority),
                        Fingerprint(static_cast<std::uint64_t>(after->number)));
      words.insert(words.end(), {score, name});
    }
    call(scripts().groups, words);
  }
  then(first, [&asked](Replies replies) {
    if (!replies[0]) {
      asked.answer = std::unexpected(replies[0].error());
      return;
    }
    const Reply told = replies[0]->view();
    ports::Groups::Answer answer;
    for (std::size_t at = 0; at < told.size(); ++at)
      answer.groups.push_back(group_of(told[at]));
    if (asked.verb.only) {
      std::ranges::sort(answer.groups, std::greater(), &Group::last_seen);
    } else if (answer.groups.size() > asked.verb.limit) {
      answer.groups.resize(asked.verb.limit);
      answer.next = to_text(cursor_of(answer.groups.back()));
    }
    asked.answer = std::move(answer);
  });
}

}  // namespace holdfast::stores::redis
