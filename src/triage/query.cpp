#include "triage/query.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "triage/payload_path.hpp"
#include "triage/text_match.hpp"

namespace holdfast::triage {
namespace {

using Field = Term::Field;
using Compare = Term::Compare;

template <class Value>
bool is_one_of(const std::vector<Value>& values, const Value& value) {
  return std::ranges::find(values, value) != values.end();
}

bool any_like(const Term& term, std::string_view text) {
  return std::ranges::any_of(term.values, [&](const auto& value) { return is_like(text, value); });
}

std::string_view error_of(const ports::TaskRecord& record) {
  return record.task.last_failure ? std::string_view(record.task.last_failure->message)
                                  : std::string_view();
}

bool has_group(core::State state) {
  return state == core::State::failed || state == core::State::dead;
}

bool has_word(const Term& term, const ports::TaskRecord& record) {
  return std::ranges::any_of(term.values, [&](const std::string& word) {
    return contains(error_of(record), word) || contains(record.type, word) ||
           contains(record.id.text(), word);
  });
}

bool is_so(const Term& term, const ports::TaskRecord& record) {
  const core::Task& task = record.task;
  const auto counted = [&](int count) {
    return holds(term.compare, static_cast<double>(count), term.number);
  };
  switch (term.field) {
    case Field::state: return is_one_of(term.states, task.state);
    case Field::queue: return any_like(term, record.queue);
    case Field::type: return any_like(term, record.type);
    case Field::group: return has_group(task.state) && is_one_of(term.groups, record.fingerprint);
    case Field::id: return is_one_of(term.ids, record.id);
    case Field::reason: return task.dead_reason && is_one_of(term.reasons, *task.dead_reason);
    case Field::attempts: return counted(task.spent.attempts);
    case Field::crashes: return counted(task.spent.crashes);
    case Field::replays: return counted(task.spent.replays);
    case Field::since: return record.changed >= term.time;
    case Field::until: return record.changed < term.time;
    case Field::created: return holds(term.compare, task.created, term.time);
    case Field::error:
      return std::ranges::any_of(
          term.values, [&](const auto& value) { return contains(error_of(record), value); });
    case Field::payload: return payload_holds(record.payload, term);
    case Field::word: return has_word(term, record);
  }
  return false;
}

// The one name that must match, if there is such; a store can look for it.
const std::string* only_name(const std::vector<Term>& terms, Field field) {
  for (const Term& term : terms) {
    const bool plain = term.field == field && !term.negated && term.values.size() == 1;
    if (plain && term.values.front().find('*') == std::string::npos) return &term.values.front();
  }
  return nullptr;
}

std::vector<std::optional<core::State>> states_of(const std::vector<Term>& terms) {
  constexpr std::array kAll = {core::State::dead,     core::State::failed,  core::State::running,
                               core::State::retrying, core::State::pending, core::State::succeeded,
                               core::State::canceled};
  bool named = false;
  std::vector<std::optional<core::State>> states;
  for (const core::State state : kAll) {
    const bool fits = std::ranges::all_of(terms, [&](const Term& term) {
      if (term.field == Field::group && !term.negated) {
        named = true;
        return has_group(state);
      }
      if (term.field != Field::state) return true;
      named = true;
      return is_one_of(term.states, state) != term.negated;
    });
    if (fits) states.emplace_back(state);
  }
  if (!named) return {std::nullopt};
  return states;
}

void set_created(ports::Filter& filter, const Term& term) {
  if (term.negated) return;
  if (term.compare == Compare::at_least) filter.created_from = term.time;
  if (term.compare == Compare::less) filter.created_until = term.time;
}

bool is_sieved_by_store(const Term& term) {
  switch (term.field) {
    case Field::state: return true;
    case Field::group: return !term.negated && term.groups.size() == 1;
    case Field::queue:
    case Field::type:
      return !term.negated && term.values.size() == 1 &&
             term.values.front().find('*') == std::string::npos;
    case Field::created:
      return !term.negated && (term.compare == Compare::at_least || term.compare == Compare::less);
    default: return false;
  }
}

}  // namespace

bool Query::matches(const ports::TaskRecord& record) const {
  return std::ranges::all_of(terms_,
                             [&](const Term& term) { return is_so(term, record) != term.negated; });
}

bool Query::needs_payload() const noexcept {
  return std::ranges::any_of(terms_, [](const Term& term) { return term.field == Field::payload; });
}

bool Query::is_left_to_store() const noexcept {
  // A field that is named twice may say two things; a filter has room for one of them.
  std::array<int, 16> named{};
  return std::ranges::all_of(terms_, [&](const Term& term) {
    return is_sieved_by_store(term) &&
           (term.field == Field::state || ++named[static_cast<std::size_t>(term.field)] == 1);
  });
}

std::vector<ports::Filter> Query::filters() const {
  ports::Filter filter;
  if (const auto* queue = only_name(terms_, Field::queue)) filter.queue = *queue;
  if (const auto* type = only_name(terms_, Field::type)) filter.type = *type;
  for (const Term& term : terms_) {
    if (term.field == Field::created) set_created(filter, term);
    if (term.field == Field::group && is_sieved_by_store(term)) filter.group = term.groups.front();
  }
  std::vector<ports::Filter> all;
  for (const auto& state : states_of(terms_)) {
    filter.state = state;
    all.push_back(filter);
  }
  return all;
}

std::optional<WallTime> Query::changed_from() const {
  std::optional<WallTime> from;
  for (const Term& term : terms_) {
    if (term.field != Field::since || term.negated) continue;
    from = from ? std::max(*from, term.time) : term.time;
  }
  return from;
}

const std::vector<TaskId>* Query::ids() const noexcept {
  for (const Term& term : terms_)
    if (term.field == Field::id && !term.negated) return &term.ids;
  return nullptr;
}

Query Query::of_ids(std::vector<TaskId> ids) {
  Query query;
  query.terms_.push_back({.field = Field::id, .ids = std::move(ids)});
  return query;
}

Query Query::with_states(std::vector<core::State> states) const {
  Query query = *this;
  query.terms_.push_back({.field = Field::state, .states = std::move(states)});
  return query;
}

Query Query::with_until(WallTime time) const {
  Query query = *this;
  query.terms_.push_back({.field = Field::until, .time = time});
  return query;
}

}  // namespace holdfast::triage
