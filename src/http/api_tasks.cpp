#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/nearest_name.hpp"
#include "http/api.hpp"
#include "http/api_support.hpp"
#include "http/handing_in.hpp"
#include "node/node.hpp"
#include "node/task_words.hpp"
#include "triage/search.hpp"
#include "wire/problem.hpp"
#include "wire/submission_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::http {
namespace {

// What was handed in, and the answers as far as they are known.
struct Handed {
  bool is_array = false;
  std::vector<wire::Answer> answers = {};
  std::vector<ports::NewTask> tasks = {};
  std::vector<std::size_t> places = {};  // of each task among the answers
};

Response answer_of(const Handed& handed) {
  if (!handed.is_array) {
    const wire::Answer& one = handed.answers.front();
    if (one) {
      const int status = one->existed ? 200 : one->outbound ? 202 : 201;
      return json(status, [&](auto& writer) { write(writer, *one); });
    }
    return problem(one.error());
  }
  const bool all_well =
      std::ranges::all_of(handed.answers, [](const auto& one) { return one.has_value(); });
  const bool outbound = all_well && std::ranges::any_of(handed.answers, [](const auto& one) {
                          return one->outbound;
                        });
  return json(all_well ? outbound ? 202 : 201 : 207,
              [&](auto& writer) { write(writer, std::span<const wire::Answer>(handed.answers)); });
}

std::optional<TaskState> state_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(TaskState::canceled); ++i) {
    const auto state = static_cast<TaskState>(i);
    if (to_string(state) == name) return state;
  }
  return std::nullopt;
}

// What the query asks for; the error names the parameter.
Result<TaskFilter> task_filter_of(const Request& request) {
  TaskFilter filter;
  for (const auto& [name, value] : request.query) {
    if (name == "state") {
      filter.state = state_named(value);
      if (!filter.state) {
        return fail(
            ErrorCode::invalid_argument, "list",
            "state: \"" + value +
                "\" is none of pending, running, retrying, succeeded, failed, dead, canceled");
      }
    } else if (name == "queue") {
      filter.queue = value;
    } else if (name == "type") {
      filter.type = value;
    } else if (name == "group") {
      filter.group = value;
    } else if (name == "q") {
      filter.query = value;
    } else if (name == "cursor") {
      filter.cursor = value;
    } else if (name == "limit") {
      const auto limit = limit_of(value);
      if (!limit) return std::unexpected(limit.error());
      filter.limit = *limit;
    } else {
      constexpr std::array<std::string_view, 7> kNames = {"q",     "state",  "queue", "type",
                                                          "group", "cursor", "limit"};
      return fail(ErrorCode::invalid_argument, "list",
                  "there is no filter \"" + name + "\"" + did_you_mean(name, kNames));
    }
  }
  return filter;
}

}  // namespace

void Api::add_tasks(Routes& routes) {
  routes.add({.method = "POST",
              .pattern = "/v1/tasks",
              .role = Role::submit,
              .summary = "Hand in a task, or an array of them; durable when answered",
              .handle = [this](const Request& request, Reply reply) {
                submit(request, std::move(reply));
              }});
  routes.add({.method = "GET",
              .pattern = "/v1/tasks",
              .role = Role::read,
              .summary = "A page of tasks",
              .handle = [this](const Request& request, Reply reply) {
                list(request, std::move(reply), false);
              }});
  routes.add(
      {.method = "GET",
       .pattern = "/v1/tasks/{id}",
       .role = Role::read,
       .summary = "A task with its payload, result and history",
       .handle = [this](const Request& request, Reply reply) { find(request, std::move(reply)); }});
  routes.add({.method = "POST",
              .pattern = "/v1/tasks/{id}/cancel",
              .role = Role::operate,
              .summary = "Take back a task that has not ended",
              .handle = [this](const Request& request, Reply reply) {
                cancel(request, std::move(reply));
              }});
  routes.add({.method = "POST",
              .pattern = "/v1/tasks/{id}/retry",
              .role = Role::operate,
              .summary = "Bring back a failed or dead task",
              .handle = [this](const Request& request, Reply reply) {
                replay(request, std::move(reply));
              }});
}

void Api::submit(const Request& request, Reply reply) {
  if (!is_json(request)) return reply(not_json());
  auto read = wire::read_submissions(request.body, {.most_entries = limits_.max_array,
                                                    .most_depth = limits_.max_json_depth,
                                                    .unnamed_queue = ""});
  if (!read) return reply(problem(read.error()));
  auto handed = std::make_unique<Handed>();
  handed->is_array = wire::is_array(request.body);
  const OfRequest said = of_request(request);
  if (said.key && handed->is_array) {
    return reply(
        problem(400, "Idempotency-Key is for one task: in an array each has its own \"key\""));
  }
  const WallTime now = clock_.wall_now();
  for (Result<Submission>& submission : *read) {
    if (!submission) {
      handed->answers.emplace_back(std::unexpected(wire::problem_of(submission.error())));
      continue;
    }
    auto task = to_be_submitted(*std::move(submission), said, node_, limits_, now);
    if (!task) {
      handed->answers.emplace_back(std::unexpected(std::move(task).error()));
      continue;
    }
    handed->tasks.push_back(*std::move(task));
    handed->places.push_back(handed->answers.size());
    handed->answers.emplace_back(wire::Accepted());
  }
  if (handed->tasks.empty()) return reply(answer_of(*handed));
  auto tasks = std::move(handed->tasks);
  node_.ask_engine<ports::Submit::Answer>(
      [tasks = std::move(tasks)](engine::Engine& engine, auto then) mutable {
        engine.submit(std::move(tasks), std::move(then));
      },
      [handed = std::move(handed),
       reply = std::move(reply)](Result<ports::Submit::Answer> accepted) mutable {
        if (!accepted) return reply(problem(accepted.error()));
        for (std::size_t i = 0; i < accepted->size(); ++i) {
          auto& one = (*accepted)[i];
          wire::Answer& answer = handed->answers[handed->places[i]];
          if (one) {
            answer =
                wire::Accepted{.id = one->id, .existed = one->existed, .outbound = one->outbound};
          } else {
            answer = std::unexpected(wire::problem_of(one.error()));
          }
        }
        reply(answer_of(*handed));
      });
}

void Api::find(const Request& request, Reply reply) {
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  ports::lane_ask(
      node_.reader(), ports::Find{*id},
      [id = *id, reply = std::move(reply)](Result<ports::Find::Answer> found) mutable {
        if (!found) return reply(problem(found.error()));
        if (!*found) return reply(problem(404, "there is no task " + id.text()));
        const TaskInfo info = node::to_info(**std::move(found));
        reply(json(200, [&](auto& writer) { write(writer, info, wire::Detail::full); }));
      });
}

void Api::list(const Request& request, Reply reply, bool dead_only) {
  auto filter = task_filter_of(request);
  if (!filter) return reply(problem(filter.error()));
  if (dead_only) {
    if (filter->state && *filter->state != TaskState::failed && *filter->state != TaskState::dead) {
      return reply(problem(400, "state: only dead and failed tasks are found here"));
    }
    // A query says itself which of them it means.
    if (!filter->state && filter->query.empty()) filter->state = TaskState::dead;
  }
  if (!filter->query.empty()) return search(*filter, dead_only, std::move(reply));
  auto query = node::to_list(*std::move(filter));
  if (!query) return reply(problem(query.error()));
  ports::lane_ask(node_.reader(), *std::move(query),
                  [reply = std::move(reply)](Result<ports::List::Answer> found) mutable {
                    if (!found) return reply(problem(found.error()));
                    const TaskPage page =
                        node::to_page(std::move(found->tasks), std::move(found->next));
                    reply(json(200, [&](auto& writer) { write(writer, page); }));
                  });
}

void Api::search(const TaskFilter& filter, bool dead_only, Reply reply) {
  auto query = node::to_query(filter, clock_.wall_now());
  if (!query) return reply(problem(query.error()));
  if (dead_only) query = query->with_states({core::State::dead, core::State::failed});
  triage::search(
      node_.reader(), {.query = *std::move(query), .cursor = filter.cursor, .limit = filter.limit},
      [reply = std::move(reply)](Result<triage::Found> found) mutable {
        if (!found) return reply(problem(found.error()));
        const TaskPage page = node::to_page(std::move(found->tasks), std::move(found->next));
        reply(json(200, [&](auto& writer) { write(writer, page); }));
      });
}

namespace {

// Tells the audit of a decision, and then who asked for it.
auto told_by(node::Node& node, const Request& request, TaskId id, const char* action, Reply reply) {
  return [&node, who = request.caller.name, id, action,
          reply = std::move(reply)](const Result<core::Transition>& decided) mutable {
    if (!decided) return reply(problem(decided.error()));
    node.audit().note(
        {.who = std::move(who), .action = action, .what = "task " + id.text(), .count = 1},
        [id, to = decided->to, reply = std::move(reply)]() mutable { reply(state_of(id, to)); });
  };
}

}  // namespace

void Api::cancel(const Request& request, Reply reply) {
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  node_.ask_engine<core::Transition>(
      [id = *id, who = request.caller.name](engine::Engine& engine, auto then) {
        engine.cancel(id, std::move(then), who);
      },
      told_by(node_, request, *id, "cancel", std::move(reply)));
}

void Api::replay(const Request& request, Reply reply) {
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  const core::ReplayOptions options{.reset = request.parameter("reset") != "false",
                                    .insist = request.parameter("insist") == "true"};
  node_.ask_engine<core::Transition>(
      [id = *id, options, who = request.caller.name](engine::Engine& engine, auto then) {
        engine.replay(id, options, std::move(then), who);
      },
      told_by(node_, request, *id, "replay", std::move(reply)));
}

}  // namespace holdfast::http
