// The verbs of RedisStore that change nothing, and the one that removes what was found.
#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "ports/listing.hpp"
#include "stores/redis/cursor.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::stores::redis {

using core::State;
using ports::Asked;

namespace {

// So many are looked at for one page, however few of them match.
constexpr std::size_t kMostLooks = 2000;
// With their payloads, in one answer.
constexpr std::size_t kMostInFull = 100;

double double_of(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool waits(State state) {
  return state == State::pending || state == State::retrying;
}

enum class Order : char { waiting = 'w', running = 'r', changed = 'c', submitted = 's' };

Order order_of(const ports::Filter& filter) {
  if (!filter.state) return Order::submitted;
  if (waits(*filter.state)) return Order::waiting;
  return *filter.state == State::running ? Order::running : Order::changed;
}

}  // namespace

void RedisStore::plan(Asked<ports::Find>& asked) {
  const std::size_t first = pipeline_.size();
  call(scripts().fetch, {"full", id_bytes(asked.verb.id)});
  then(first, [&asked](Replies replies) {
    if (!replies[0]) {
      asked.answer = std::unexpected(replies[0].error());
      return;
    }
    const Reply told = replies[0]->view();
    asked.answer = ports::Find::Answer();
    if (told[0].text().empty()) return;
    auto kept = read_record(asked.verb.id, told[0].text());
    if (!kept || !read_attempts(told[1].text(), kept->record)) {
      asked.answer = not_ours("task " + asked.verb.id.text());
      return;
    }
    kept->record.queue = told[2].text();
    kept->record.owner = told[3].text();
    asked.answer = std::move(kept->record);
  });
}

void RedisStore::plan(Asked<ports::Count>& asked) {
  const std::size_t first = pipeline_.size();
  call(scripts().count, {});
  then(first, [&asked](Replies replies) {
    if (!replies[0]) {
      asked.answer = std::unexpected(replies[0].error());
      return;
    }
    const Reply told = replies[0]->view();
    ports::Count::Answer queues;
    for (std::size_t at = 0; at < told.size(); ++at) {
      ports::QueueCounts& queue = queues.emplace_back();
      queue.queue = told[at][0].text();
      for (std::size_t state = 0; state < queue.by_state.size(); ++state)
        queue.by_state[state] = static_cast<std::uint64_t>(told[at][1][state].integer());
      queue.paused = told[at][2].integer() != 0;
      queue.concurrency = static_cast<int>(told[at][3].integer());
      queue.backlog = static_cast<int>(told[at][4].integer());
      if (!told[at][5].text().empty()) queue.oldest_due = wall_time(told[at][5].text());
    }
    std::ranges::sort(queues, {}, &ports::QueueCounts::queue);
    asked.answer = std::move(queues);
  });
}

void RedisStore::plan(Asked<ports::List>& asked) {
  flush();
  asked.answer = list(asked.verb);
  if (asked.verb.payloads && asked.answer) asked.answer = with_payloads(*std::move(asked.answer));
}

void RedisStore::plan(Asked<ports::Uncarried>& asked) {
  flush();
  asked.answer = uncarried(asked.verb);
}

void RedisStore::plan(Asked<ports::Purge>& asked) {
  flush();
  asked.answer = purge(asked.verb);
}

Result<std::size_t> RedisStore::purge(const ports::Purge& verb) {
  if (!core::is_terminal(verb.state)) {
    return fail(ErrorCode::invalid_argument, "purge",
                "tasks that are " + std::string(to_string(verb.state)) + " have not ended");
  }
  constexpr std::size_t kSlice = 250;
  const std::string state = std::to_string(static_cast<int>(verb.state));
  const std::string before = std::to_string(microseconds(verb.ended_before));
  std::size_t purged = 0;
  while (purged < verb.max) {
    const std::size_t wanted = std::min(kSlice, verb.max - purged);
    auto told = ask_now_once(scripts().purge, {state, before, std::to_string(wanted)});
    if (!told) return std::unexpected(told.error());
    const auto gone = static_cast<std::size_t>(told->view().integer());
    purged += gone;
    if (gone < wanted) break;
  }
  return purged;
}

Result<std::vector<RedisStore::Queue>> RedisStore::queues() {
  flush();
  const std::string names = root_ + "q";
  pipeline_.add(std::array<std::string_view, 2>{"HGETALL", names});
  auto told = run_now();
  if (!told) return std::unexpected(told.error());
  std::vector<Queue> all;
  for (std::size_t at = 0; at + 1 < told->view().size(); at += 2) {
    all.push_back(
        {std::string(told->view()[at].text()), std::string(told->view()[at + 1].text()), {}});
  }
  std::ranges::sort(all, {}, &Queue::name);
  for (const Queue& queue : all) {
    const std::string key = root_ + "p" + queue.number;
    pipeline_.add(std::array<std::string_view, 4>{"ZRANGE", key, "0", "-1"});
  }
  if (all.empty()) return all;
  auto priorities = session_.run(pipeline_);
  pipeline_.clear();
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (!priorities[at]) return std::unexpected(priorities[at].error());
    const Reply in_use = priorities[at]->view();
    for (std::size_t next = 0; next < in_use.size(); ++next)
      all[at].priorities.push_back(static_cast<int>(double_of(in_use[next].text())));
  }
  return all;
}

Result<std::vector<RedisStore::Found>> RedisStore::page(const std::string& key, bool up,
                                                        std::size_t many, const Place* after) {
  const std::string limit = std::to_string(many);
  Words words{key, up ? "up" : "down", limit};
  std::string score;
  std::string number;
  if (after) {
    score = fmt::format("{:.17g}", after->score);
    number = std::to_string(after->number);
    words.insert(words.end(), {score, number});
  }
  auto told = ask_now(scripts().page, words);
  if (!told) return std::unexpected(told.error());
  std::vector<Found> found;
  for (std::size_t at = 0; at + 1 < told->view().size(); at += 2) {
    const std::string_view member = told->view()[at].text();
    if (member.size() != 24) continue;  // somebody else's: an audit finds it
    Found& one = found.emplace_back();
    one.id = task_id(member.substr(8));
    one.place.number = static_cast<std::int64_t>(read_big_endian(member.substr(0, 8)));
    one.place.score = double_of(told->view()[at + 1].text());
  }
  return found;
}

Result<std::vector<std::optional<Kept>>> RedisStore::fetch(std::span<const Found> found,
                                                           Told told_how) {
  std::vector<std::optional<Kept>> all;
  const bool in_full = told_how == Told::in_full;
  const std::size_t slice = in_full ? kMostInFull : 500;
  for (std::size_t at = 0; at < found.size(); at += slice) {
    const auto part = found.subspan(at, std::min(slice, found.size() - at));
    Words words{in_full ? "full" : "list"};
    for (const Found& one : part)
      words.push_back(id_bytes(one.id));
    auto told = ask_now(scripts().fetch, words);
    if (!told) return std::unexpected(told.error());
    for (std::size_t next = 0; next < part.size(); ++next) {
      const Reply answer = told->view();
      if (answer[4 * next].text().empty()) {
        all.emplace_back();
        continue;
      }
      auto kept = read_record(part[next].id, answer[4 * next].text());
      const std::string_view attempts = answer[4 * next + 1].text();
      if (!kept || !(in_full ? read_attempts(attempts, kept->record)
                             : read_last_failure(attempts, kept->record))) {
        return not_ours("task " + part[next].id.text());
      }
      kept->record.queue = answer[4 * next + 2].text();
      kept->record.owner = answer[4 * next + 3].text();
      all.push_back(std::move(kept));
    }
  }
  return all;
}

Result<std::vector<RedisStore::Found>> RedisStore::walk_waiting(const ports::Filter& filter,
                                                                const Place* after,
                                                                std::size_t many) {
  auto all = queues();
  if (!all) return std::unexpected(all.error());
  std::vector<Found> found;
  for (const Queue& queue : *all) {
    if (!filter.queue.empty() && queue.name != filter.queue) continue;
    if (after && queue.name < after->queue) continue;
    const bool is_its_queue = after && queue.name == after->queue;
    for (const int priority : queue.priorities) {
      if (is_its_queue && priority > after->priority) continue;
      const bool is_its_line = is_its_queue && priority == after->priority;
      auto part = page(fmt::format("w{}:{}", queue.number, priority), true, many - found.size(),
                       is_its_line ? after : nullptr);
      if (!part) return part;
      for (Found& one : *part) {
        one.place.queue = queue.name;
        one.place.priority = priority;
        found.push_back(std::move(one));
      }
      if (found.size() >= many) return found;
    }
  }
  return found;
}

// Their line is by the ends of leases, which move while somebody turns the pages: by number
// instead.
Result<std::vector<RedisStore::Found>> RedisStore::walk_running(const Place* after,
                                                                std::size_t many) {
  auto found = page("r", true, std::numeric_limits<std::int32_t>::max(), nullptr);
  if (!found) return found;
  for (Found& one : *found)
    one.place.score = 0;
  std::erase_if(*found,
                [&](const Found& one) { return after && one.place.number <= after->number; });
  std::ranges::sort(*found, {}, [](const Found& one) { return one.place.number; });
  if (found->size() > many) found->resize(many);
  return found;
}

Result<std::vector<RedisStore::Found>> RedisStore::walk_ended(const ports::Filter& filter,
                                                              const Place* after,
                                                              std::size_t many) {
  if (filter.group) return page("g" + group_name(*filter.state, *filter.group), false, many, after);
  auto all = queues();
  if (!all) return std::unexpected(all.error());
  std::vector<Found> found;
  for (const Queue& queue : *all) {
    if (!filter.queue.empty() && queue.name != filter.queue) continue;
    auto part = page(fmt::format("e{}:{}", static_cast<int>(*filter.state), queue.number), false,
                     many, after);
    if (!part) return part;
    std::ranges::move(*part, std::back_inserter(found));
  }
  std::ranges::sort(found, std::greater(),
                    [](const Found& one) { return std::pair(one.place.score, one.place.number); });
  if (found.size() > many) found.resize(many);
  return found;
}

Result<std::vector<RedisStore::Found>> RedisStore::walk_submitted(const Place* after,
                                                                  std::size_t many) {
  std::vector<Found> found;
  std::string below = after ? std::to_string(after->number) : "";
  do {
    const std::string limit = std::to_string(many - found.size());
    auto told = ask_now(scripts().numbers, {below, limit});
    if (!told) return std::unexpected(told.error());
    for (std::size_t at = 1; at < told->view().size(); ++at) {
      const std::string_view member = told->view()[at].text();
      Found& one = found.emplace_back();
      one.id = task_id(member.substr(8));
      one.place.number = static_cast<std::int64_t>(read_big_endian(member.substr(0, 8)));
    }
    below = told->view()[0].text();
  } while (!below.empty() && found.size() < many);
  return found;
}

Result<ports::List::Answer> RedisStore::list(const ports::List& verb) {
  const Order order = order_of(verb.filter);
  std::optional<Place> after;
  if (!verb.cursor.empty()) {
    auto cursor = parse_cursor(verb.cursor, static_cast<char>(order));
    if (!cursor) {
      return fail(ErrorCode::invalid_argument, "list",
                  "no page of this list gave the cursor \"" + verb.cursor + "\"");
    }
    after = Place{std::move(cursor->queue), cursor->priority, cursor->score, cursor->number};
  }
  const std::size_t limit = std::max<std::size_t>(verb.limit, 1);
  ports::List::Answer answer;
  std::size_t looks = 0;
  while (true) {
    // One more than wanted, to know whether there is a next page.
    const std::size_t many = std::min(limit - answer.tasks.size() + 1, kMostLooks);
    const Place* const from = after ? &*after : nullptr;
    auto found = order == Order::waiting   ? walk_waiting(verb.filter, from, many)
                 : order == Order::running ? walk_running(from, many)
                 : order == Order::changed ? walk_ended(verb.filter, from, many)
                                           : walk_submitted(from, many);
    if (!found) return std::unexpected(found.error());
    auto records = fetch(*found, Told::without_payload);
    if (!records) return std::unexpected(records.error());
    for (std::size_t at = 0; at < found->size(); ++at) {
      if (answer.tasks.size() == limit || looks == kMostLooks) {
        answer.next = to_text(
            {static_cast<char>(order), after->priority, after->score, after->number, after->queue});
        return answer;
      }
      ++looks;
      after = (*found)[at].place;
      auto& record = (*records)[at];
      if (record && ports::matches(record->record, verb.filter)) {
        answer.tasks.push_back(ports::for_list(std::move(record->record), false));
      }
    }
    if (found->size() < many) return answer;
  }
}

// Of what is told only, not of all that was looked at. What is gone meanwhile is not told.
Result<ports::List::Answer> RedisStore::with_payloads(ports::List::Answer page) {
  std::vector<Found> found;
  found.reserve(page.tasks.size());
  for (const ports::TaskRecord& task : page.tasks)
    found.push_back({.id = task.id, .place = {}});
  auto records = fetch(found, Told::in_full);
  if (!records) return std::unexpected(records.error());
  ports::List::Answer answer{.tasks = {}, .next = std::move(page.next)};
  for (std::size_t at = 0; at < page.tasks.size(); ++at) {
    if (!(*records)[at]) continue;
    page.tasks[at].payload = std::move((*records)[at]->record.payload);
    answer.tasks.push_back(std::move(page.tasks[at]));
  }
  return answer;
}

// First what waits, then what is dead; a cursor says which of them by its order.
Result<ports::Uncarried::Answer> RedisStore::uncarried(const ports::Uncarried& verb) {
  constexpr char kWaiting = 'u';
  constexpr char kDead = 'd';
  constexpr double kLaterThanAny = 1e300;
  bool is_dead = false;
  std::optional<Place> after;
  if (!verb.cursor.empty()) {
    auto cursor = parse_cursor(verb.cursor, kWaiting);
    if (!cursor) {
      cursor = parse_cursor(verb.cursor, kDead);
      is_dead = true;
    }
    if (!cursor) return fail(ErrorCode::invalid_argument, "uncarried", "no page gave this cursor");
    after = Place{std::move(cursor->queue), cursor->priority, cursor->score, cursor->number};
  }
  const std::size_t limit = std::max<std::size_t>(verb.limit, 1);
  ports::Uncarried::Answer answer;
  std::size_t looks = 0;
  while (true) {
    const ports::Filter filter{.state = is_dead ? State::dead : State::pending,
                               .queue = verb.queue};
    const Place* const from = after ? &*after : nullptr;
    auto found =
        is_dead ? walk_ended(filter, from, kMostInFull) : walk_waiting(filter, from, kMostInFull);
    if (!found) return std::unexpected(found.error());
    auto records = fetch(*found, Told::in_full);
    if (!records) return std::unexpected(records.error());
    for (std::size_t at = 0; at < found->size(); ++at) {
      if (answer.tasks.size() == limit || looks == kMostLooks) {
        answer.next = to_text({is_dead ? kDead : kWaiting, after->priority, after->score,
                               after->number, after->queue});
        return answer;
      }
      ++looks;
      after = (*found)[at].place;
      auto& kept = (*records)[at];
      if (!kept || kept->record.queue != verb.queue) continue;
      const core::Task& task = kept->record.task;
      const bool died = task.state == State::dead && kept->carried;
      if (!(waits(task.state) || died)) continue;
      const bool late = waits(task.state) && verb.due_before && task.due < *verb.due_before;
      if (kept->carried == task.token && !late) continue;
      kept->record.key.clear();
      kept->record.attempts.clear();
      answer.tasks.push_back(std::move(kept->record));
    }
    if (found->size() == kMostInFull) continue;
    if (is_dead) return answer;
    is_dead = true;
    after = Place{.score = kLaterThanAny};  // a page that is full now goes on with the dead
  }
}

}  // namespace holdfast::stores::redis
