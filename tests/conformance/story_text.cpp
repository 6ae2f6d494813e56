// Answers to a story as text.
#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/record_text.hpp"
#include "conformance/store_conformance.hpp"
#include "conformance/story.hpp"

namespace holdfast::conformance {
namespace {

using ports::Asked;

std::string text(const Asked<ports::Submit>& asked) {
  std::string text = "submit:";
  for (const auto& answer : *asked.answer) {
    text += answer ? fmt::format(" {}{}", answer->id.text(), answer->existed ? " existed" : "")
                   : fmt::format(" {}", to_string(answer.error().code));
  }
  return text + "\n";
}

std::string text(const Asked<ports::Claim>& asked) {
  std::string text =
      fmt::format("claim of {}: next due {}{}\n", asked.verb.queue, text_of(asked.answer->next_due),
                  asked.answer->blocked ? ", blocked" : "");
  for (const TaskRecord& record : asked.answer->tasks)
    text += text_of(record);
  for (const auto& left : asked.answer->left) {
    text += fmt::format("  left {}: {}, token {}, due {}{}\n", left.id.text(),
                        left.state ? core::to_string(*left.state) : "unknown", left.token.value,
                        text_of(std::optional(left.due)), left.carried ? ", carried" : "");
  }
  return text;
}

std::string text(const Asked<ports::Carried>& asked) {
  return fmt::format("carried: {}\n", *asked.answer);
}

std::string text(const Asked<ports::Withdraw>& asked) {
  return fmt::format("withdraw: {}\n", fmt::join(*asked.answer, " "));
}

std::string text(const Asked<ports::Uncarried>&) {
  return "uncarried\n";  // a page may be of any length: compared as a whole
}

std::string text(const Asked<ports::Renew>& asked) {
  return fmt::format("renew: {}\n", fmt::join(*asked.answer, " "));
}

std::string text(const Asked<ports::Change>& asked) {
  std::string text = "change:";
  for (std::size_t i = 0; i < asked.answer->size(); ++i) {
    const auto& one = asked.verb.changes.at(i);
    const Done done = (*asked.answer)[i];
    text += fmt::format("\n  {} by {} to {}: {}", one.id.text(), to_string(one.transition.event),
                        to_string(one.transition.to),
                        done == Done::applied    ? "applied"
                        : done == Done::again    ? "applied, and claimed again"
                        : done == Done::moved_on ? "moved on"
                                                 : "unknown task");
  }
  return text + "\n";
}

// In any order; and which of them, if there were more than were asked for.
std::string text(const Asked<ports::Overdue>& asked) {
  std::string text = fmt::format("overdue: {}\n", asked.answer->size());
  if (asked.answer->size() == asked.verb.max) return text;
  auto tasks = *asked.answer;
  std::ranges::sort(tasks, std::less(), &TaskRecord::id);
  for (const TaskRecord& record : tasks)
    text += text_of(record);
  return text;
}

std::string text(const Asked<ports::Purge>& asked) {
  return fmt::format("purge: {}\n", *asked.answer);
}

std::string text(const Asked<ports::Configure>&) {
  return "configure\n";
}

std::string text(const Asked<ports::Find>& asked) {
  return "find: " + (*asked.answer ? text_of(**asked.answer) : "none\n");
}

std::string text(const Asked<ports::List>&) {
  throw std::logic_error("a page may be of any length: lists are compared as a whole");
}

std::string text(const Asked<ports::Count>& asked) {
  std::string text = "count:\n";
  for (const auto& queue : *asked.answer)
    text += "  " + text_of(queue);
  return text;
}

// Those that were seen last at one time come in any order.
std::string text(const Asked<ports::Groups>& asked) {
  auto groups = asked.answer->groups;
  const bool is_sorted = std::ranges::is_sorted(groups, std::greater(), &ports::Group::last_seen);
  std::ranges::sort(groups, std::less(), [](const ports::Group& group) {
    return std::pair(group.state, group.fingerprint);
  });
  std::string text = is_sorted ? "groups:\n" : "groups, not the latest seen first:\n";
  for (const auto& group : groups)
    text += "  " + text_of(group);
  return text;
}

std::string text(const Asked<ports::Jot>& asked) {
  return *asked.answer ? fmt::format("jot: {}\n", **asked.answer) : "jot: another version\n";
}

std::string text(const Asked<ports::Notes>& asked) {
  std::string text = "notes:\n";
  for (const auto& note : *asked.answer)
    text += "  " + text_of(note);
  return text;
}

std::string text(const Asked<ports::Audit>& asked) {
  const auto& report = *asked.answer;
  std::string text =
      fmt::format("audit: {} accepted, {} there, {} removed, {} found\n", report.accepted,
                  fmt::join(report.present, " "), fmt::join(report.removed, " "), report.found);
  for (const auto& finding : report.findings)
    text += "  " + finding.what + "\n";
  return text;
}

template <class Verb>
std::string asked(ports::Store& store, Verb verb) {
  ports::Request request = Asked<Verb>{std::move(verb)};
  store.carry_out({&request, 1});
  return text_of_answer(request);
}

// Whether a list is in the order that the port promises, as far as times go.
bool is_in_order(const std::vector<TaskRecord>& tasks, std::optional<State> state) {
  if (!state || !core::is_terminal(*state)) return true;
  return std::ranges::is_sorted(tasks, std::greater(), &TaskRecord::changed);
}

// With what may come in any order put into one: queues among the waiting, tasks that run, tasks
// that ended together.
std::string in_one_order(const std::vector<TaskRecord>& tasks, std::optional<State> state) {
  std::map<std::string, std::string> parts;
  for (const TaskRecord& record : tasks) {
    const bool is_exact = !state;
    const bool is_waiting = state == State::pending || state == State::retrying;
    parts[is_exact ? "" : is_waiting ? record.queue : record.id.text()] += text_of(record);
  }
  std::string text;
  for (const auto& [part, records] : parts)
    text += records;
  return text;
}

std::string listed(ports::Store& store, const ports::Filter& filter, bool payloads = false) {
  std::vector<TaskRecord> tasks;
  std::string cursor;
  do {
    auto page = ports::ask(
        store, ports::List{.filter = filter, .cursor = cursor, .limit = 3, .payloads = payloads});
    if (!page) return "list: " + page.error().text() + "\n";
    std::ranges::move(page->tasks, std::back_inserter(tasks));
    cursor = page->next;
  } while (!cursor.empty());

  std::string text =
      fmt::format("list of {} {} {}:\n", filter.state ? to_string(*filter.state) : "all",
                  filter.queue, filter.group ? filter.group->text() : "");
  if (!is_in_order(tasks, filter.state)) text += "out of order\n";
  return text + in_one_order(tasks, filter.state);
}

// In any order.
std::string uncarried(ports::Store& store, const char* queue) {
  std::vector<TaskRecord> tasks;
  std::string cursor;
  do {
    auto page = ports::ask(store, ports::Uncarried{.queue = queue, .cursor = cursor, .limit = 3});
    if (!page) return "uncarried: " + page.error().text() + "\n";
    std::ranges::move(page->tasks, std::back_inserter(tasks));
    cursor = page->next;
  } while (!cursor.empty());
  std::ranges::sort(tasks, std::less(), &TaskRecord::id);
  std::string text = fmt::format("uncarried of {}: {}\n", queue, tasks.size());
  for (const TaskRecord& record : tasks)
    text += text_of(record);
  return text;
}

// Page by page.
std::string grouped(ports::Store& store) {
  Asked<ports::Groups> all{.verb = {.limit = 2}, .answer = ports::Groups::Answer()};
  do {
    auto page = ports::ask(store, all.verb);
    if (!page) return "groups: " + page.error().text() + "\n";
    std::ranges::move(page->groups, std::back_inserter(all.answer->groups));
    all.verb.cursor = page->next;
  } while (!all.verb.cursor.empty());
  return text(all);
}

}  // namespace

std::string text_of_answer(const ports::Request& request) {
  return std::visit(
      [](const auto& asked) {
        return asked.answer ? text(asked)
                            : fmt::format("{}\n", to_string(asked.answer.error().code));
      },
      request);
}

std::string text_of_everything(ports::Store& store) {
  std::string text = asked(store, ports::Count()) + grouped(store) + asked(store, ports::Audit());
  for (const char* queue : {"mail", "scan"})
    text += uncarried(store, queue);
  for (const char* shelf : {"operations", "journal"})
    text += asked(store, ports::Notes{.shelf = shelf, .limit = 1000});
  for (int state = 0; state < 7; ++state) {
    text += listed(store, {.state = static_cast<State>(state)});
  }
  text += listed(store, {}) + listed(store, {.queue = "mail"}) +
          listed(store, {.state = State::dead, .type = "send"}) +
          listed(store, {.group = Fingerprint(1)}, true) +
          listed(store, {.state = State::pending, .queue = "scan"});
  const auto all = ports::ask(store, ports::List{.filter = {}, .cursor = {}, .limit = 1000});
  for (const TaskRecord& record : all.value().tasks)
    text += asked(store, ports::Find{record.id});
  return text;
}

}  // namespace holdfast::conformance
