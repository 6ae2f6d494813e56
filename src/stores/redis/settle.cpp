// How what was decided is carried out: settlements of what was claimed here, worked out here, and
// all other changes, which their script works out.
#include <algorithm>
#include <set>
#include <utility>

#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::stores::redis {

using ports::Asked;
using ports::Change;

namespace {

// A process that claims more and never settles it has lost them all.
constexpr std::size_t kMostRemembered = 100'000;

Change::Done done(char told) {
  if (told == 'a') return Change::Done::applied;
  return told == 'm' ? Change::Done::moved_on : Change::Done::unknown_task;
}

// Tasks that go the same course.
struct Company {
  Course course;
  std::string_view example;
  std::vector<std::size_t> places = {};
  std::vector<std::string> words = {};  // kSettlementWords for each
};

}  // namespace

// What goes out with at most two calls: no task is in it twice.
struct RedisStore::Slice {
  std::vector<std::size_t> changes;  // places in the verb
  std::vector<Company> companies;    // of settlements
  std::set<TaskId> tasks;
  std::size_t bytes = 0;

  [[nodiscard]] bool is_full() const { return tasks.size() >= kMostTasks || bytes >= kMostBytes; }

  void settle(const Change::One& one, std::size_t place, const Claimed& claimed) {
    Course course = course_of(one, claimed);
    auto company = std::find_if(companies.rbegin(), companies.rend(),
                                [&](const Company& known) { return known.course == course; });
    if (company == companies.rend()) {
      companies.push_back({.course = std::move(course), .example = example_of(one)});
      company = companies.rbegin();
    }
    company->places.push_back(place);
    append_settlement(company->words, one, claimed);
    bytes += company->words.back().size();  // its attempts: the others are small
  }
};

void RedisStore::remember(const TaskId& id, Claimed claimed) {
  if (claims_.size() >= kMostRemembered) claims_.clear();
  if (!has_all_attempts(claimed)) claims_.insert_or_assign(id, std::move(claimed));
}

const Claimed* RedisStore::claim_of(const Change::One& one) const {
  if (one.transition.from != core::State::running) return nullptr;
  const auto found = claims_.find(one.id);
  return found != claims_.end() && found->second.token == one.token ? &found->second : nullptr;
}

void RedisStore::plan(Asked<Change>& asked) {
  const std::vector<Change::One>& changes = asked.verb.changes;
  for (const Change::One& one : changes) {
    if (one.transition.to != core::State::running) continue;
    asked.answer = fail(ErrorCode::invalid_argument, "change",
                        "task " + one.id.text() +
                            " cannot be made running by a change: it would have no owner and no "
                            "lease. Claim it");
    return;
  }
  const std::size_t first = pipeline_.size();
  std::vector<std::size_t> order;  // in which they are answered
  Slice slice;
  for (std::size_t at = 0; at < changes.size(); ++at) {
    if (slice.is_full() || slice.tasks.contains(changes[at].id)) {
      send(asked.verb, std::exchange(slice, {}), order);
    }
    slice.tasks.insert(changes[at].id);
    if (const Claimed* const known = claim_of(changes[at])) {
      slice.settle(changes[at], at, *known);
    } else {
      slice.changes.push_back(at);
    }
  }
  send(asked.verb, slice, order);
  then(first, [this, &asked, order = std::move(order)](Replies replies) {
    Change::Answer answers(asked.verb.changes.size(), Change::Done::unknown_task);
    std::size_t next = 0;
    for (auto& reply : replies) {
      if (!reply) {
        asked.answer = std::unexpected(reply.error());
        return;
      }
      for (const char told : reply->view().text()) {
        if (next < order.size()) answers[order[next++]] = done(told);
      }
    }
    for (const Change::One& one : asked.verb.changes)
      claims_.erase(one.id);
    asked.answer = std::move(answers);
  });
}

void RedisStore::send(const Change& verb, const Slice& slice, std::vector<std::size_t>& order) {
  if (!slice.changes.empty()) {
    std::vector<std::string> arguments;
    for (const std::size_t place : slice.changes)
      append_change(arguments.emplace_back(), verb.changes[place]);
    call_once(scripts().change, Words(arguments.begin(), arguments.end()));
    order.insert(order.end(), slice.changes.begin(), slice.changes.end());
  }
  if (slice.companies.empty()) return;
  Words words;
  std::vector<std::string> counts;
  counts.reserve(slice.companies.size());
  for (const Company& company : slice.companies) {
    counts.push_back(std::to_string(company.places.size()));
    words.insert(words.end(), {company.course.queue, company.course.priority, company.course.to,
                               counts.back(), company.course.group, company.example});
    words.insert(words.end(), company.words.begin(), company.words.end());
    order.insert(order.end(), company.places.begin(), company.places.end());
  }
  call_once(scripts().settle, words);
}

}  // namespace holdfast::stores::redis
