#include <limits>

#include "stores/sqlite/cursor.hpp"
#include "stores/sqlite/query_statements.hpp"

namespace holdfast::stores::sqlite {

using namespace ports;
using core::State;

namespace {

// So many tasks are looked at for one page, however few of them match.
constexpr std::size_t kLooked = 10'000;

bool matches(const Filter& filter, const TaskRecord& record) {
  if (filter.state && record.task.state != *filter.state) return false;
  if (!filter.queue.empty() && record.queue != filter.queue) return false;
  if (!filter.type.empty() && record.type != filter.type) return false;
  if (filter.created_from && record.task.created < *filter.created_from) return false;
  if (filter.created_until && record.task.created >= *filter.created_until) return false;
  if (!filter.group) return true;
  const bool grouped = record.task.state == State::failed || record.task.state == State::dead;
  return grouped && record.fingerprint == *filter.group;
}

// Where a listing begins: before its first row, in the order it goes.
Cursor start_of(char listing) {
  using Limits = std::numeric_limits<std::int64_t>;
  const bool ascending = listing == 'w' || listing == 't';
  const std::int64_t first = ascending ? Limits::min() : Limits::max();
  return {.listing = listing, .at = {first, first, first, first}};
}

char listing_of(const Filter& filter) {
  if (!filter.state) return 'a';
  switch (*filter.state) {
    case State::pending: return 'w';
    case State::retrying: return 't';
    case State::running: return 'r';
    case State::succeeded: return 's';
    case State::failed: return filter.group ? 'F' : 'f';
    case State::dead: return filter.group ? 'D' : 'd';
    case State::canceled: return 'c';
  }
  return 'a';
}

}  // namespace

Result<List::Answer> Queries::answer(const List& verb) {
  const Filter& filter = verb.filter;
  const char listing = listing_of(filter);
  Result<Cursor> cursor =
      verb.cursor.empty() ? Result<Cursor>(start_of(listing)) : Cursor::parse(verb.cursor, listing);
  if (!cursor) return std::unexpected(cursor.error());

  // One queue alone is one stretch of the waiting.
  const bool by_queue = listing == 'w' || listing == 't';
  std::optional<Names::Id> only;
  if (by_queue && !filter.queue.empty()) {
    only = names_.find(filter.queue);
    if (!only) return List::Answer{};
    if (verb.cursor.empty()) cursor->at[0] = *only - 1;
    if (verb.cursor.empty()) cursor->at[1] = std::numeric_limits<std::int64_t>::max();
  }

  List::Answer answer;
  std::size_t looked = 0;
  bool more = false;
  const auto look = [&](Row row) {
    if (only && row.integer(0) != *only) return false;
    if (looked == kLooked || answer.tasks.size() == std::max<std::size_t>(verb.limit, 1)) {
      more = true;
      return false;
    }
    ++looked;
    for (int i = 0; i < 4; ++i)
      cursor->at[static_cast<std::size_t>(i)] = row.integer(i);
    if (listing == 'w' && row.integer(4) != static_cast<int>(State::pending)) return true;
    const std::int64_t seq = row.integer(3);
    std::optional<TaskRecord> found;
    statements_->by_seq.first([&](Row task) { found = record(task); }, seq);
    if (!found) return true;
    place(seq, *found);
    if (matches(filter, *found)) answer.tasks.push_back(std::move(*found));
    return true;
  };
  const Cursor from = *cursor;
  const auto& at = from.at;
  const auto parked = static_cast<std::int64_t>(filter.state.value_or(State::dead));
  const auto group = static_cast<std::int64_t>(filter.group.value_or(Fingerprint()).value());
  const std::size_t most = kLooked + 1;
  switch (listing) {
    case 'w': statements_->waiting_seqs.each(look, at[0], at[1], at[2], at[3], most); break;
    case 't': statements_->retrying_seqs.each(look, at[0], at[1], at[2], at[3], most); break;
    case 'r': statements_->running_seqs.each(look, 0, 0, 0, at[3], most); break;
    case 's': statements_->succeeded_seqs.each(look, 0, 0, at[2], at[3], most); break;
    case 'f':
    case 'd':
    case 'c': statements_->parked_seqs.each(look, parked, 0, at[2], at[3], most); break;
    case 'F':
    case 'D': statements_->group_seqs.each(look, parked, group, at[2], at[3], most); break;
    default: statements_->all_seqs.each(look, 0, 0, 0, at[3], most); break;
  }
  if (more) answer.next = cursor->text();
  return answer;
}

}  // namespace holdfast::stores::sqlite
