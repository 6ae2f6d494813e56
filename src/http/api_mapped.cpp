#include <algorithm>
#include <memory>
#include <utility>

#include "engine/engine.hpp"
#include "http/api.hpp"
#include "http/api_support.hpp"
#include "http/handing_in.hpp"
#include "http/mapped_route.hpp"
#include "node/node.hpp"
#include "node/task_words.hpp"

namespace holdfast::http {

namespace {

constexpr std::size_t kMostTold = 5;  // in the detail; `errors` has them all

Response bad_body(std::vector<wire::Problem::Part> parts) {
  std::string detail;
  for (std::size_t i = 0; i < std::min(parts.size(), kMostTold); ++i) {
    const wire::Problem::Part& part = parts[i];
    detail += detail.empty() ? "" : "; ";
    detail += part.where.empty() ? part.detail : part.where + ": " + part.detail;
  }
  if (parts.size() > kMostTold) detail += "; …";
  wire::Problem told = wire::problem_of(Error{
      .code = ErrorCode::invalid_argument, .operation = "read body", .message = std::move(detail)});
  told.errors = std::move(parts);
  return problem(told);
}

// A task as it stands once it is accepted.
TaskInfo as_accepted(const ports::NewTask& task) {
  return {.type = task.type,
          .queue = task.queue,
          .payload = task.payload,
          .key = task.key,
          .priority = task.priority,
          .created = task.created,
          .due = task.due,
          .changed = task.created,
          .deadline = task.deadline,
          .trace = task.trace,
          .retry_on_failure = task.retry_on_failure};
}

Response shown(const MappedRoute& route, int status, const wire::Shown& what) {
  return {.status = status, .body = route.answer.fill(what)};
}

}  // namespace

void Api::set_mapped(Routes& routes, std::vector<MappedRoute> mapped) {
  std::vector<std::shared_ptr<const MappedRoute>> kept;
  std::vector<Route> made;
  for (MappedRoute& one : mapped) {
    auto shared = std::make_shared<const MappedRoute>(std::move(one));
    made.push_back({.method = shared->method,
                    .pattern = shared->path,
                    .role = shared->role,
                    .summary = shared->summary,
                    .handle = [this, shared](const Request& request, Reply reply) {
                      if (shared->posts()) return submit_mapped(shared, request, std::move(reply));
                      find_mapped(shared, request, std::move(reply));
                    }});
    kept.push_back(std::move(shared));
  }
  openapi_ = std::make_shared<const std::string>(with_routes(kOpenApi, kept));
  routes.set_configured(std::move(made));
}

void Api::submit_mapped(const SharedMapped& route, const Request& request, Reply reply) {
  if (!is_json(request)) return reply(not_json());
  auto submission = route->body.read(request.body, limits_.max_json_depth);
  if (!submission) return reply(bad_body(std::move(submission).error()));
  submission->type = route->task;
  auto task = to_be_submitted(*std::move(submission), of_request(request), node_, limits_,
                              clock_.wall_now());
  if (!task) return reply(problem(task.error()));
  TaskInfo info = as_accepted(*task);
  std::vector<ports::NewTask> tasks;
  tasks.push_back(*std::move(task));
  node_.ask_engine<ports::Submit::Answer>(
      [tasks = std::move(tasks)](engine::Engine& engine, auto then) mutable {
        engine.submit(std::move(tasks), std::move(then));
      },
      [this, route, info = std::move(info),
       reply = std::move(reply)](Result<ports::Submit::Answer> accepted) mutable {
        if (!accepted) return reply(problem(accepted.error()));
        const auto& one = accepted->front();
        if (!one) return reply(problem(one.error()));
        info.id = one->id;
        if (one->existed) return show_existing(route, std::move(info), std::move(reply));
        reply(shown(*route, one->outbound ? 202 : route->status,
                    {.task = info, .outbound = one->outbound}));
      });
}

// Its key was known: it may have got on since.
void Api::show_existing(const SharedMapped& route, TaskInfo handed_in, Reply reply) {
  const TaskId id = handed_in.id;
  ports::lane_ask(node_.reader(), ports::Find{id},
                  [route, info = std::move(handed_in),
                   reply = std::move(reply)](Result<ports::Find::Answer> found) mutable {
                    if (!found) return reply(problem(found.error()));
                    if (*found) info = node::to_info(**std::move(found));
                    reply(shown(*route, 200, {.task = info, .existed = true}));
                  });
}

void Api::find_mapped(const SharedMapped& route, const Request& request, Reply reply) {
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  ports::lane_ask(
      node_.reader(), ports::Find{*id},
      [route, id = *id, reply = std::move(reply)](Result<ports::Find::Answer> found) mutable {
        if (!found) return reply(problem(found.error()));
        // One of another type is none of its business, and not even said to be there.
        if (!*found || (*found)->type != route->task)
          return reply(problem(404, "there is no task " + id.text()));
        const TaskInfo info = node::to_info(**std::move(found));
        reply(shown(*route, route->status, {.task = info, .existed = true}));
      });
}

}  // namespace holdfast::http
