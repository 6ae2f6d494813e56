#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "http/api.hpp"
#include "http/api_support.hpp"
#include "node/node.hpp"
#include "node/task_words.hpp"
#include "triage/operation_rules.hpp"
#include "wire/dead_json.hpp"
#include "wire/group_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::http {
namespace {

// As a query says it.
std::string text_of(const wire::DeadFilter& filter) {
  std::string text = "state:" + std::string(to_string(filter.state));
  if (!filter.queue.empty()) text += " queue:" + filter.queue;
  if (!filter.type.empty()) text += " type:" + filter.type;
  if (!filter.group.empty()) text += " group:" + filter.group;
  return text;
}

// What becomes of one call for many tasks; answered when the last of them is decided, and the
// audit knows.
struct Gathering {
  node::Node& node;
  AuditEntry entry;
  wire::DeadAnswer answer = {};
  std::size_t undecided = 0;
  Reply reply;

  void decided(TaskId id, const Result<core::Transition>& decision) {
    if (decision) {
      ++answer.done;
    } else {
      answer.refused.push_back({.id = id, .problem = wire::problem_of(decision.error())});
    }
    if (--undecided == 0) tell();
  }
  void tell() {
    entry.count = answer.done;
    entry.refused = answer.refused.size();
    auto told = [answer = std::move(answer), reply = std::move(reply)]() mutable {
      reply(json(200, [&](auto& writer) { write(writer, answer); }));
    };
    if (entry.count + entry.refused == 0) return told();
    node.audit().note(std::move(entry), std::move(told));
  }
};

}  // namespace

// What is to be done with them, and by whom.
struct Api::Wanted {
  Fate fate = Fate::replay;
  core::ReplayOptions options = {};
  std::string who = {};
  std::string reason = {};
  std::string what = {};  // for the audit
};

void Api::add_dead(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/v1/dead",
              .role = Role::read,
              .summary = "A page of dead letters, latest first",
              .handle = [this](const Request& request, Reply reply) {
                list(request, std::move(reply), true);
              }});
  routes.add({.method = "GET",
              .pattern = "/v1/dead/groups",
              .role = Role::read,
              .summary = "Dead letters and failed tasks, grouped by what went wrong",
              .handle = [this](const Request& request, Reply reply) {
                groups(request, std::move(reply));
              }});
  routes.add(
      {.method = "POST",
       .pattern = "/v1/dead/replay",
       .role = Role::operate,
       .summary = "Bring back many dead letters: by their ids, or a page of those that match",
       .handle = [this](const Request& request, Reply reply) {
         decide_dead(request, Fate::replay, std::move(reply));
       }});
  routes.add({.method = "POST",
              .pattern = "/v1/dead/discard",
              .role = Role::operate,
              .summary = "Throw away many dead letters, likewise",
              .handle = [this](const Request& request, Reply reply) {
                decide_dead(request, Fate::discard, std::move(reply));
              }});
}

void Api::groups(const Request& request, Reply reply) {
  auto page = page_of(request);
  if (!page) return reply(problem(page.error()));
  ports::lane_ask(node_.reader(),
                  ports::Groups{.limit = page->limit, .cursor = std::move(page->cursor)},
                  [now = clock_.wall_now(),
                   reply = std::move(reply)](Result<ports::Groups::Answer> found) mutable {
                    if (!found) return reply(problem(found.error()));
                    const GroupPage page = node::to_page(*std::move(found), now);
                    reply(json(200, [&](auto& writer) { write(writer, page); }));
                  });
}

void Api::decide_dead(const Request& request, Fate fate, Reply reply) {
  if (!is_json(request)) return reply(not_json());
  auto read = wire::read_dead_request(request.body);
  if (!read) return reply(problem(read.error()));
  if (fate == Fate::discard && (read->insist || read->deadline)) {
    return reply(problem(400, "insist, deadline: belong to a replay"));
  }
  // One that is named twice is still one.
  std::ranges::sort(read->ids);
  read->ids.erase(std::ranges::unique(read->ids).begin(), read->ids.end());
  Wanted wanted{
      .fate = fate,
      .options = {.reset = read->reset, .insist = read->insist, .deadline = read->deadline},
      .who = request.caller.name,
      .reason = std::move(read->reason)};
  if (!read->filter) {
    wanted.what = fmt::format("{} by id", read->ids.size());
    return decide_each(read->ids, std::move(wanted), {}, std::move(reply));
  }
  wanted.what = text_of(*read->filter);
  auto query = node::to_list({.state = read->filter->state,
                              .queue = std::move(read->filter->queue),
                              .type = std::move(read->filter->type),
                              .group = std::move(read->filter->group),
                              .cursor = std::move(read->cursor),
                              .limit = static_cast<std::size_t>(read->limit)});
  if (!query) return reply(problem(query.error()));
  ports::lane_ask(node_.reader(), *std::move(query),
                  [this, wanted = std::move(wanted),
                   reply = std::move(reply)](Result<ports::List::Answer> found) mutable {
                    if (!found) return reply(problem(found.error()));
                    std::vector<TaskId> ids;
                    for (const ports::TaskRecord& record : found->tasks)
                      ids.push_back(record.id);
                    decide_each(ids, std::move(wanted), std::move(found->next), std::move(reply));
                  });
}

// Each task is decided by itself, by its own rules, and all of them in one batch of the store.
void Api::decide_each(const std::vector<TaskId>& ids, Wanted wanted, std::string next,
                      Reply reply) {
  const bool discards = wanted.fate == Fate::discard;
  const std::string by = triage::signed_by(wanted.who, wanted.reason);
  auto gathering =
      std::make_shared<Gathering>(Gathering{.node = node_,
                                            .entry = {.who = std::move(wanted.who),
                                                      .action = discards ? "discard" : "replay",
                                                      .what = std::move(wanted.what),
                                                      .reason = std::move(wanted.reason)},
                                            .answer = {.next = std::move(next)},
                                            .undecided = ids.size(),
                                            .reply = std::move(reply)});
  if (ids.empty()) return gathering->tell();
  for (const TaskId id : ids) {
    node_.ask_engine<core::Transition>(
        [&](engine::Engine& engine, auto then) {
          if (discards) return engine.discard(id, std::move(then), by);
          engine.replay(id, wanted.options, std::move(then), by);
        },
        [id, gathering](const Result<core::Transition>& decision) {
          gathering->decided(id, decision);
        });
  }
}

}  // namespace holdfast::http
