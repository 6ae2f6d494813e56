// How what was decided is carried out: settlements of what was claimed here, worked out here, and
// all other changes, which their script works out.
#include <algorithm>
#include <iterator>
#include <unordered_set>
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
  if (told == 'c') return Change::Done::again;
  return told == 'm' ? Change::Done::moved_on : Change::Done::unknown_task;
}

// Tasks that go the same course.
struct Company {
  Course course;
  std::string_view example;
  std::vector<std::size_t> places = {};  // in the verb
  WordList words = {};                   // kSettlementWords for each
};

}  // namespace

// Those of a verb that were sent to be claimed again.
struct RedisStore::Again {
  std::vector<Company> companies;
};

// What goes out with at most two calls: no task is in it twice.
struct RedisStore::Slice {
  std::vector<std::size_t> changes;  // places in the verb
  std::vector<Company> companies;    // of settlements
  std::vector<Company> again;        // of those that are to be claimed again: they come last
  std::unordered_set<TaskId> tasks;
  std::size_t bytes = 0;

  [[nodiscard]] bool is_full() const { return tasks.size() >= kMostTasks || bytes >= kMostBytes; }

  void settle(const Change::One& one, std::size_t place, const Claimed& claimed) {
    const Course course = course_of(one, claimed);
    auto& all = course.again ? again : companies;
    auto company = std::find_if(all.rbegin(), all.rend(),
                                [&](const Company& known) { return known.course == course; });
    if (company == all.rend()) {
      all.push_back({.course = course, .example = example_of(one)});
      company = all.rbegin();
    }
    const std::size_t before = company->words.bytes().size();
    company->places.push_back(place);
    append_settlement(company->words, one, claimed);
    bytes += company->words.bytes().size() - before;
  }

  // Whether one of its settlements goes to a group. What is no settlement is carried out before
  // these, so where it comes after such a one, that has to go out first: or it might leave a group
  // that has nobody else yet.
  [[nodiscard]] bool goes_to_group() const {
    return std::ranges::any_of(
        companies, [](const Company& company) { return company.course.group.has_value(); });
  }

  // What has to wait for the end of the verb: those that are to be claimed again.
  [[nodiscard]] Slice take_again(const Change& verb) {
    Slice rest;
    rest.again = std::exchange(again, {});
    for (Company& company : rest.again) {
      rest.bytes += company.words.bytes().size();
      for (const std::size_t place : company.places)
        rest.tasks.insert(verb.changes[place].id);
    }
    return rest;
  }

  // One that is to be claimed again looks at what all others have done, so where it has to go as a
  // change, they do so too.
  void settle_together(const Change& verb) {
    const auto is_again = [&](std::size_t place) {
      return is_to_be_claimed_again(verb.changes[place]);
    };
    if (std::ranges::none_of(changes, is_again)) return;
    for (auto* all : {&companies, &again}) {
      for (const Company& company : *all)
        changes.insert(changes.end(), company.places.begin(), company.places.end());
      all->clear();
    }
    std::ranges::sort(changes);
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
  Again again;
  Slice slice;
  for (std::size_t at = 0; at < changes.size(); ++at) {
    if (slice.is_full() || slice.tasks.contains(changes[at].id)) {
      send(asked.verb, std::exchange(slice, {}), order, again);
    }
    const Claimed* const known = claim_of(changes[at]);
    if (!known && slice.goes_to_group()) {
      Slice rest = slice.take_again(asked.verb);
      send(asked.verb, std::exchange(slice, std::move(rest)), order, again);
    }
    slice.tasks.insert(changes[at].id);
    if (known) {
      slice.settle(changes[at], at, *known);
    } else {
      slice.changes.push_back(at);
    }
  }
  send(asked.verb, std::move(slice), order, again);
  then(first, [this, &asked, order = std::move(order), again = std::move(again)](Replies replies) {
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
    remember_again(asked.verb, answers, again);
    asked.answer = std::move(answers);
  });
}

void RedisStore::remember_again(const Change& verb, const Change::Answer& answers,
                                const Again& again) {
  for (const Company& company : again.companies) {
    for (std::size_t i = 0; i < company.places.size(); ++i) {
      const std::size_t place = company.places[i];
      const auto found = claims_.find(verb.changes[place].id);
      if (answers[place] != Change::Done::again || found == claims_.end()) continue;
      claim_again(found->second, company.words, kSettlementWords * i);
    }
  }
  for (std::size_t place = 0; place < answers.size(); ++place) {
    const auto found = claims_.find(verb.changes[place].id);
    if (found == claims_.end()) continue;
    const bool is_held = answers[place] == Change::Done::again &&
                         found->second.token > verb.changes[place].token &&
                         !has_all_attempts(found->second);
    if (!is_held) claims_.erase(found);
  }
}

void RedisStore::send(const Change& verb, Slice slice, std::vector<std::size_t>& order,
                      Again& again) {
  slice.settle_together(verb);
  if (!slice.changes.empty()) {
    std::vector<std::string> arguments;
    for (const std::size_t place : slice.changes)
      append_change(arguments.emplace_back(), verb.changes[place]);
    call_once(scripts().change, Words(arguments.begin(), arguments.end()));
    order.insert(order.end(), slice.changes.begin(), slice.changes.end());
  }
  if (slice.companies.empty() && slice.again.empty()) return;
  WordList courses;
  for (const auto* all : {&slice.companies, &slice.again}) {
    for (const Company& company : *all) {
      append_course(courses, company.course, company.places.size(), company.example);
      order.insert(order.end(), company.places.begin(), company.places.end());
    }
  }
  Words words;
  words.reserve(courses.size() + kSettlementWords * slice.tasks.size());
  std::size_t next = 0;
  for (const auto* all : {&slice.companies, &slice.again}) {
    for (const Company& company : *all) {
      for (std::size_t i = 0; i < kCourseWords; ++i)
        words.push_back(courses[next++]);
      company.words.append_to(words);
    }
  }
  call_once(scripts().settle, words);
  std::ranges::move(slice.again, std::back_inserter(again.companies));
}

}  // namespace holdfast::stores::redis
