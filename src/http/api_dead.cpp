#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "http/api.hpp"
#include "http/api_support.hpp"
#include "node/node.hpp"
#include "node/task_words.hpp"
#include "wire/dead_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::http {
namespace {

// What becomes of one call for many tasks; answered when the last of them is decided.
struct Gathering {
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
    reply(json(200, [&](auto& writer) { write(writer, answer); }));
  }
};

}  // namespace

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
  std::size_t limit = 100;
  if (const auto given = request.parameter("limit")) {
    const auto read = count_in(*given, 1000);
    if (!read) return reply(problem(400, "limit: is no number from 1 to 1000"));
    limit = *read;
  }
  ports::lane_ask(node_.reader(), ports::Groups{limit},
                  [reply = std::move(reply)](Result<ports::Groups::Answer> found) mutable {
                    if (!found) return reply(problem(found.error()));
                    std::vector<FailureGroup> groups;
                    for (ports::Group& group : *found)
                      groups.push_back(node::to_info(std::move(group)));
                    reply(json(200, [&](auto& writer) {
                      write(writer, std::span<const FailureGroup>(groups));
                    }));
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
  const core::ReplayOptions options{.insist = read->insist, .deadline = read->deadline};
  if (!read->filter) return decide_each(std::move(read->ids), fate, options, {}, std::move(reply));
  auto query = node::to_list({.state = read->filter->state,
                              .queue = std::move(read->filter->queue),
                              .type = std::move(read->filter->type),
                              .group = std::move(read->filter->group),
                              .cursor = std::move(read->cursor),
                              .limit = static_cast<std::size_t>(read->limit)});
  if (!query) return reply(problem(query.error()));
  ports::lane_ask(
      node_.reader(), *std::move(query),
      [this, fate, options, reply = std::move(reply)](Result<ports::List::Answer> found) mutable {
        if (!found) return reply(problem(found.error()));
        std::vector<TaskId> ids;
        for (const ports::TaskRecord& record : found->tasks)
          ids.push_back(record.id);
        decide_each(std::move(ids), fate, options, std::move(found->next), std::move(reply));
      });
}

// Each task is decided by itself, by its own rules, and all of them in one batch of the store.
void Api::decide_each(std::vector<TaskId> ids, Fate fate, core::ReplayOptions options,
                      std::string next, Reply reply) {
  auto gathering = std::make_shared<Gathering>(Gathering{
      .answer = {.next = std::move(next)}, .undecided = ids.size(), .reply = std::move(reply)});
  if (ids.empty()) return gathering->tell();
  for (const TaskId id : ids) {
    node_.ask_engine<core::Transition>(
        [id, fate, options](engine::Engine& engine, auto then) {
          if (fate == Fate::discard) return engine.discard(id, std::move(then));
          engine.replay(id, options, std::move(then));
        },
        [id, gathering](const Result<core::Transition>& decision) {
          gathering->decided(id, decision);
        });
  }
}

}  // namespace holdfast::http
