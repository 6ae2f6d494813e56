#include <limits>
#include <map>

#include "stores/sqlite/cursor.hpp"
#include "stores/sqlite/query_statements.hpp"

namespace holdfast::stores::sqlite {

using core::State;
using ports::Filter;
using ports::List;
using ports::TaskRecord;
using ports::Uncarried;

namespace {

// So many tasks are looked at for one page, however few of them match.
constexpr std::size_t kLooked = 2'500;

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

// Takes seqs one by one and keeps of their tasks what matches, until the page is full.
class Queries::Lister {
 public:
  Lister(Queries& queries, const List& verb, Cursor cursor)
      : queries_(queries),
        verb_(verb),
        cursor_(cursor),
        queue_(number_of(verb.filter.queue)),
        type_(number_of(verb.filter.type)) {}

  // A queue or a type that no task ever had.
  [[nodiscard]] bool is_in_vain() const {
    return (!verb_.filter.queue.empty() && !queue_) || (!verb_.filter.type.empty() && !type_);
  }

  // Whether it wants more.
  bool look(const Row& row) {
    if (looked_ == kLooked || answer_.tasks.size() == std::max<std::size_t>(verb_.limit, 1)) {
      answer_.next = cursor_.text();
      return false;
    }
    ++looked_;
    for (int i = 0; i < 4; ++i)
      cursor_.at[static_cast<std::size_t>(i)] = row.integer(i);
    const bool retrying = cursor_.listing == 'w' && row.integer(4) != 0;
    if (!retrying) keep_if_it_matches(row.integer(3));
    return true;
  }

  [[nodiscard]] bool full() const { return !answer_.next.empty(); }
  [[nodiscard]] const Cursor& cursor() const { return cursor_; }
  [[nodiscard]] List::Answer answer() && { return std::move(answer_); }

 private:
  [[nodiscard]] std::optional<Names::Id> number_of(const std::string& name) const {
    return name.empty() ? std::nullopt : queries_.names_.find(name);
  }

  // Most that do not match are known by two numbers: to read all of them would cost ten times that.
  void keep_if_it_matches(std::int64_t seq) {
    std::optional<TaskRecord> found;
    queries_.statements_->by_seq.first(
        [&](Row row) {
          if (queue_ && row.integer(2) != *queue_) return;
          if (type_ && row.integer(3) != *type_) return;
          found = queries_.record(row);
        },
        seq);
    if (!found) return;
    queries_.place(seq, *found);
    if (!matches(verb_.filter, *found)) return;
    if (verb_.payloads) {
      queries_.statements_->payload.first([&](Row row) { found->payload = row.string(0); }, seq);
    }
    answer_.tasks.push_back(std::move(*found));
  }

  Queries& queries_;
  const List& verb_;
  Cursor cursor_;
  const std::optional<Names::Id> queue_;
  const std::optional<Names::Id> type_;
  List::Answer answer_;
  std::size_t looked_ = 0;
};

Result<List::Answer> Queries::answer(const List& verb) {
  const char listing = listing_of(verb.filter);
  const Result<Cursor> from =
      verb.cursor.empty() ? Result<Cursor>(start_of(listing)) : Cursor::parse(verb.cursor, listing);
  if (!from) return std::unexpected(from.error());
  Lister lister(*this, verb, *from);
  if (lister.is_in_vain()) return List::Answer();
  if (listing == 'w' || listing == 't') {
    list_waiting(verb, *from, lister);
  } else {
    list_others(verb, *from, lister);
  }
  return std::move(lister).answer();
}

void Queries::list_waiting(const List& verb, const Cursor& from, Lister& lister) {
  Statement& seqs = from.listing == 't' ? statements_->retrying_seqs : statements_->waiting_seqs;
  const auto look = [&](Row row) { return lister.look(row); };
  // By name: the queue where the last page ended, from there; those after it, whole.
  std::map<std::string, Names::Id> queues;
  statements_->queues.each(
      [&](Row row) { queues.emplace(names_.text(row.integer(0)), row.integer(0)); });
  const std::string begun = verb.cursor.empty() ? std::string() : names_.text(from.at[0]);
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  for (const auto& [name, queue] : queues) {
    if (name < begun || (!verb.filter.queue.empty() && name != verb.filter.queue)) continue;
    if (!verb.cursor.empty() && name == begun) {
      seqs.each(look, queue, from.at[1], from.at[2], from.at[3], kLooked + 1);
    } else {
      seqs.each(look, queue, kFirst, kFirst, kFirst, kLooked + 1);
    }
    if (lister.full()) return;
  }
}

void Queries::list_others(const List& verb, const Cursor& from, Lister& lister) {
  const auto look = [&](Row row) { return lister.look(row); };
  const auto& at = from.at;
  const auto state = static_cast<std::int64_t>(verb.filter.state.value_or(State::dead));
  const auto group = static_cast<std::int64_t>(verb.filter.group.value_or(Fingerprint()).value());
  const std::size_t most = kLooked + 1;
  switch (from.listing) {
    case 'r': statements_->running_seqs.each(look, 0, 0, 0, at[3], most); break;
    case 's': statements_->succeeded_seqs.each(look, 0, 0, at[2], at[3], most); break;
    case 'f':
    case 'd':
    case 'c': statements_->parked_seqs.each(look, state, 0, at[2], at[3], most); break;
    case 'F':
    case 'D': statements_->group_seqs.each(look, state, group, at[2], at[3], most); break;
    default: statements_->all_seqs.each(look, 0, 0, 0, at[3], most); break;
  }
}

// Those that wait first, then the dead: letters 'u' and 'U' of the cursor.
Result<Uncarried::Answer> Queries::answer(const Uncarried& verb) {
  Uncarried::Answer answer;
  const auto queue = names_.find(verb.queue);
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  const bool at_dead = verb.cursor.starts_with('U');
  Cursor cursor{.listing = 'u', .at = {0, kFirst, kFirst, kFirst}};
  if (!verb.cursor.empty()) {
    const Result<Cursor> from = Cursor::parse(verb.cursor, at_dead ? 'U' : 'u');
    if (!from) return std::unexpected(from.error());
    cursor = *from;
  }
  if (!queue) return answer;
  std::vector<std::int64_t> seqs;
  const std::size_t most = std::max<std::size_t>(verb.limit, 1);
  const auto look = [&](Row row) {
    for (int i = 0; i < 4; ++i)
      cursor.at[static_cast<std::size_t>(i)] = row.integer(i);
    seqs.push_back(row.integer(3));
  };
  if (at_dead) {
    statements_->uncarried_dead.each(look, *queue, 0, 0, cursor.at[3], most);
  } else {
    statements_->uncarried_waiting.each(look, *queue, cursor.at[1], cursor.at[2], cursor.at[3],
                                        most, verb.due_before.value_or(WallTime::min()));
  }
  for (const std::int64_t seq : seqs) {
    std::optional<TaskRecord> found;
    statements_->by_seq.first([&](Row row) { found = record(row); }, seq);
    if (!found) continue;
    place(seq, *found);
    statements_->payload.first(
        [&](Row row) {
          found->payload = row.string(0);
          if (!row.is_null(1)) found->trace = row.string(1);
          found->retry_on_failure = row.maybe_integer(2).value_or(0) != 0;
        },
        seq);
    answer.tasks.push_back(*std::move(found));
  }
  if (seqs.size() == most) {
    answer.next = cursor.text();
  } else if (!at_dead) {
    answer.next = Cursor{.listing = 'U', .at = {0, kFirst, kFirst, kFirst}}.text();
  }
  return answer;
}

}  // namespace holdfast::stores::sqlite
