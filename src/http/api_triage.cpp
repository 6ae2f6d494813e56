#include "http/api_triage.hpp"

#include <utility>

#include <holdfast/operation.hpp>

#include "http/api_support.hpp"
#include "http/audit_export.hpp"
#include "node/edit.hpp"
#include "node/node.hpp"
#include "node/task_words.hpp"
#include "triage/operation_rules.hpp"
#include "triage/search.hpp"
#include "wire/audit_json.hpp"
#include "wire/dead_json.hpp"
#include "wire/group_json.hpp"
#include "wire/operation_json.hpp"

namespace holdfast::http {
namespace {

// What an answer that can be written is told with.
auto told_as(int status, Reply reply) {
  return [status, reply = std::move(reply)](const auto& answer) mutable {
    if (!answer) return reply(problem(answer.error()));
    reply(json(status, [&](auto& writer) { write(writer, *answer); }));
  };
}

}  // namespace

void TriageApi::add_to(Routes& routes) {
  const auto add = [&](const char* method, const char* pattern, Role role, const char* summary,
                       void (TriageApi::*member)(const Request&, Reply)) {
    routes.add({.method = method,
                .pattern = pattern,
                .role = role,
                .summary = summary,
                .handle = [this, member](const Request& request, Reply reply) {
                  (this->*member)(request, std::move(reply));
                }});
  };
  add("GET", "/v1/tasks/count", Role::read, "How many tasks match a query", &TriageApi::count);
  add("POST", "/v1/tasks/{id}/discard", Role::operate, "Say that nobody wants a dead letter back",
      &TriageApi::discard);
  add("POST", "/v1/tasks/{id}/edit", Role::operate,
      "Hand in a mended copy of a dead letter in its place", &TriageApi::edit);
  add("GET", "/v1/dead/groups/{id}", Role::read, "One group of failures", &TriageApi::group);
  add("GET", "/v1/audit", Role::read, "Who did what, latest first", &TriageApi::audit);
  add("GET", "/v1/operations", Role::read, "Replays and discards of many, latest first",
      &TriageApi::operations);
  add("POST", "/v1/operations", Role::operate,
      "Plan to bring back or discard many dead letters; start it, if asked to", &TriageApi::begin);
  add_operations(routes);
}

void TriageApi::add_operations(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/v1/operations/{id}",
              .role = Role::read,
              .summary = "One operation: its plan, and how far it has come",
              .handle = [this](const Request& request, Reply reply) {
                node_.operations().find(request.params.find("id")->second,
                                        told_as(200, std::move(reply)));
              }});
  struct Step {
    OperationStep step;
    const char* pattern;
    const char* summary;
  };
  for (const Step& one :
       {Step{OperationStep::start, "/v1/operations/{id}/start",
             "Carry out what is planned; options may be said anew"},
        Step{OperationStep::pause, "/v1/operations/{id}/pause", "Have it stand still"},
        Step{OperationStep::resume, "/v1/operations/{id}/resume",
             "Go on with what is paused, or has stopped by itself"},
        Step{OperationStep::cancel, "/v1/operations/{id}/cancel",
             "End it; what was done stays done"}}) {
    routes.add({.method = "POST",
                .pattern = one.pattern,
                .role = Role::operate,
                .summary = one.summary,
                .handle = [this, step = one.step](Request request, Reply reply) {
                  if (!request.body.empty() && !is_json(request)) return reply(not_json());
                  node_.operations().step(request.params.find("id")->second, step,
                                          std::move(request.body), request.caller.name,
                                          told_as(200, std::move(reply)));
                }});
  }
}

void TriageApi::begin(const Request& request, Reply reply) {
  if (!is_json(request)) return reply(not_json());
  auto read = wire::read_operation_request(request.body);
  if (!read) return reply(problem(read.error()));
  node_.operations().begin(*std::move(read), request.caller.name, told_as(201, std::move(reply)));
}

void TriageApi::operations(const Request& request, Reply reply) {
  auto page = page_of(request);
  if (!page) return reply(problem(page.error()));
  node_.operations().page(page->limit, std::move(page->cursor), told_as(200, std::move(reply)));
}

void TriageApi::audit(const Request& request, Reply reply) {
  if (request.parameter("format") == "jsonl") {
    return reply({.type = "application/jsonl",
                  .headers = {{"Content-Disposition", "attachment; filename=\"audit.jsonl\""}},
                  .source = std::make_shared<AuditExport>(node_)});
  }
  auto page = page_of(request);
  if (!page) return reply(problem(page.error()));
  node_.audit().page(page->limit, std::move(page->cursor), told_as(200, std::move(reply)));
}

void TriageApi::count(const Request& request, Reply reply) {
  auto query = triage::Query::parse(request.parameter("q").value_or(""), clock_.wall_now());
  if (!query) return reply(problem(query.error()));
  triage::count(node_.reader(), *std::move(query),
                std::string(request.parameter("cursor").value_or("")),
                told_as(200, std::move(reply)));
}

void TriageApi::group(const Request& request, Reply reply) {
  const std::string& name = request.params.find("id")->second;
  const auto fingerprint = Fingerprint::parse(name);
  if (!fingerprint) return reply(problem(404, "there is no group " + name));
  ports::lane_ask(node_.reader(), ports::Groups{.only = fingerprint},
                  [name, now = clock_.wall_now(),
                   reply = std::move(reply)](Result<ports::Groups::Answer> found) mutable {
                    if (!found) return reply(problem(found.error()));
                    if (found->groups.empty())
                      return reply(problem(404, "there is no group " + name));
                    const GroupPage page = node::to_page(*std::move(found), now);
                    reply(json(200, [&](auto& writer) { write(writer, page); }));
                  });
}

void TriageApi::discard(const Request& request, Reply reply) {
  if (!request.body.empty() && !is_json(request)) return reply(not_json());
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  auto reason = wire::read_reason(request.body);
  if (!reason) return reply(problem(reason.error()));
  const std::string who = request.caller.name;
  node_.ask_engine<core::Transition>(
      [id = *id, by = triage::signed_by(who, *reason)](engine::Engine& engine, auto then) {
        engine.discard(id, std::move(then), by);
      },
      [this, id = *id, who, reason = *reason,
       reply = std::move(reply)](const Result<core::Transition>& done) mutable {
        if (!done) return reply(problem(done.error()));
        node_.audit().note({.who = who,
                            .action = "discard",
                            .what = "task " + id.text(),
                            .count = 1,
                            .reason = std::move(reason)},
                           [id, reply = std::move(reply)]() mutable {
                             reply(state_of(id, core::State::canceled));
                           });
      });
}

void TriageApi::edit(const Request& request, Reply reply) {
  if (!is_json(request)) return reply(not_json());
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  auto read = wire::read_edit_request(request.body);
  if (!read) return reply(problem(read.error()));
  const std::string who = request.caller.name;
  node::edit_task(
      node_, *id,
      {.payload = std::move(read->payload),
       .queue = std::move(read->queue),
       .type = std::move(read->type)},
      who, [this, id = *id, who, reply = std::move(reply)](Result<TaskId> copy) mutable {
        if (!copy) return reply(problem(copy.error()));
        node_.audit().note({.who = who,
                            .action = "edit",
                            .what = "task " + id.text() + " as " + copy->text(),
                            .count = 1},
                           [id, copy = *copy, reply = std::move(reply)]() mutable {
                             reply(json(201, [&](auto& writer) {
                               write(writer, wire::EditAnswer{.id = copy, .original = id});
                             }));
                           });
      });
}

}  // namespace holdfast::http
