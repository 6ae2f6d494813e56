#include "http/api.hpp"

#include "engine/engine.hpp"
#include "http/api_support.hpp"
#include "node/node.hpp"
#include "node/task_words.hpp"
#include "wire/claims.hpp"
#include "wire/queue_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::http {

Api::Api(node::Node& node, ApiLimits limits, Clock& clock, Health health)
    : node_(node), limits_(limits), clock_(clock), health_(std::move(health)) {}

void Api::add_to(Routes& routes) {
  add_tasks(routes);
  add_dead(routes);
  add_queues(routes);
  add_claims(routes);
  add_health(routes);
}

void Api::add_queues(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/v1/queues",
              .role = Role::read,
              .summary = "Every queue, with how many tasks are in each state",
              .handle = [this](const Request&, Reply reply) { queues(std::move(reply)); }});
  for (const bool paused : {true, false}) {
    routes.add({.method = "POST",
                .pattern = paused ? "/v1/queues/{name}/pause" : "/v1/queues/{name}/resume",
                .role = Role::operate,
                .summary = paused ? "Claim nothing of a queue until it is resumed"
                                  : "Claim tasks of a queue again",
                .handle = [this, paused](const Request& request, Reply reply) {
                  pause(request, std::move(reply), paused);
                }});
  }
  routes.add({.method = "POST",
              .pattern = "/v1/queues/{name}/limit",
              .role = Role::operate,
              .summary = "How many tasks of a queue may run at once; 0: no limit",
              .handle = [this](const Request& request, Reply reply) {
                limit(request, std::move(reply));
              }});
}

void Api::limit(const Request& request, Reply reply) {
  if (!is_json(request)) return reply(not_json());
  const auto read = wire::read_limit_request(request.body);
  if (!read) return reply(problem(read.error()));
  const std::string name = request.params.find("name")->second;
  node_.ask_engine<ports::Configure::Answer>(
      [name, limit = read->concurrency](engine::Engine& engine, auto then) {
        engine.configure({.queue = name, .concurrency = limit}, std::move(then));
      },
      [this, name, who = request.caller.name, limit = *read,
       reply = std::move(reply)](const Result<ports::Configure::Answer>& done) mutable {
        if (!done) return reply(problem(done.error()));
        const std::string most = std::to_string(limit.concurrency);
        node_.audit().note(
            {.who = std::move(who), .action = "limit", .what = "queue " + name + " to " + most},
            [limit, reply = std::move(reply)]() mutable {
              reply(json(200, [&](auto& writer) { write(writer, limit); }));
            });
      });
}

void Api::queues(Reply reply) {
  ports::lane_ask(
      node_.reader(), ports::Count{},
      [reply = std::move(reply)](Result<ports::Count::Answer> found) mutable {
        if (!found) return reply(problem(found.error()));
        std::vector<QueueInfo> queues;
        for (ports::QueueCounts& queue : *found)
          queues.push_back(node::to_info(std::move(queue)));
        reply(json(200, [&](auto& writer) { write(writer, std::span<const QueueInfo>(queues)); }));
      });
}

void Api::pause(const Request& request, Reply reply, bool paused) {
  const std::string name = request.params.find("name")->second;
  node_.ask_engine<ports::Configure::Answer>(
      [name, paused](engine::Engine& engine, auto then) {
        engine.configure({.queue = name, .paused = paused}, std::move(then));
      },
      [this, name, paused, who = request.caller.name,
       reply = std::move(reply)](Result<ports::Configure::Answer> done) mutable {
        if (!done) return reply(problem(done.error()));
        node_.audit().note(
            {.who = std::move(who), .action = paused ? "pause" : "resume", .what = "queue " + name},
            [name, paused, reply = std::move(reply)]() mutable {
              reply(json(200, [&](auto& writer) {
                writer.begin_object().key("name").text(name);
                writer.key("paused").boolean(paused).end_object();
              }));
            });
      });
}

void Api::add_claims(Routes& routes) {
  using Member = void (Api::*)(const Request&, Reply);
  const auto add = [&](const char* pattern, const char* summary, Member member) {
    routes.add({.method = "POST",
                .pattern = pattern,
                .role = Role::work,
                .summary = summary,
                .handle = [this, member](const Request& request, Reply reply) {
                  if (!is_json(request)) return reply(not_json());
                  (this->*member)(request, std::move(reply));
                }});
  };
  add("/v1/claims", "Claim tasks to work on; waits for one if asked to", &Api::claim);
  add("/v1/claims/{id}/complete", "Say that it is done, with its result", &Api::complete);
  add("/v1/claims/{id}/fail", "Say that it failed, and why", &Api::fail_task);
  add("/v1/claims/{id}/extend", "Say that the work goes on: move the end of the lease",
      &Api::extend);
  add("/v1/claims/{id}/release", "Hand a task back, to be run again: it spends no attempt",
      &Api::release);
  add("/v1/claims/withdraw", "Have the claims of a worker that wait be answered now",
      &Api::withdraw);
}

void Api::claim(const Request& request, Reply reply) {
  auto read = wire::read_claim_request(request.body);
  if (!read) return reply(problem(read.error()));
  engine::Engine::Loan loan{.queue = std::move(read->queue),
                            .max = static_cast<std::size_t>(read->max),
                            .worker = read->worker.empty() ? request.caller.name : read->worker,
                            .lease = read->lease.value_or(limits_.default_lease),
                            .wait = std::min(read->wait, limits_.longest_wait)};
  if (loan.lease > limits_.longest_lease) {
    return reply(problem(400, "lease: at most 12h; extend it while the work goes on"));
  }
  // Answered at most once, and only by us: Gone must not outlive the ticket.
  auto ticket = std::make_shared<engine::Engine::Ticket>(0);
  request.gone->call([this, ticket] { node_.engine().withdraw(*ticket); });
  node_.ask_engine<std::vector<ports::TaskRecord>>(
      [loan = std::move(loan), ticket](engine::Engine& engine, auto then) mutable {
        *ticket = engine.lend(std::move(loan), std::move(then));
      },
      [reply = std::move(reply)](Result<std::vector<ports::TaskRecord>> lent) mutable {
        if (!lent) return reply(problem(lent.error()));
        std::vector<wire::Claimed> claims;
        for (ports::TaskRecord& record : *lent) {
          claims.push_back({.id = record.id,
                            .type = std::move(record.type),
                            .queue = std::move(record.queue),
                            .payload = std::move(record.payload),
                            .attempt = record.task.spent.attempts + record.task.spent.crashes + 1,
                            .token = record.task.token,
                            .lease_end = record.lease_end,
                            .deadline = record.task.deadline,
                            .trace = std::move(record.trace),

                            .created = record.task.created,
                            .spent = record.task.spent,
                            .previous_wait = record.task.previous_wait,
                            .max_attempts = record.limits.attempts,
                            .timeout = record.limits.timeout});
        }
        reply(json(200,
                   [&](auto& writer) { write(writer, std::span<const wire::Claimed>(claims)); }));
      });
}

namespace {

// How a claim ended is answered with where its task stands now.
void settle(node::Node& node, const Request& request, core::Token token, core::Outcome outcome,
            Reply reply, std::optional<engine::Engine::Ruled> ruled = {}) {
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  node.ask_engine<core::Transition>(
      [claim = ports::Held{*id, token}, ruled, outcome = std::move(outcome)](engine::Engine& engine,
                                                                             auto then) mutable {
        engine.settle(claim, std::move(outcome), ruled, std::move(then));
      },
      [id = *id, reply = std::move(reply)](const Result<core::Transition>& settled) mutable {
        if (!settled) return reply(problem(settled.error()));
        reply(json(200, [&](auto& writer) {
          writer.begin_object().key("id").text(id.text());
          writer.key("state").word(core::to_string(settled->to));
          if (!core::is_terminal(settled->to)) writer.key("due").time(settled->due);
          writer.end_object();
        }));
      });
}

}  // namespace

void Api::complete(const Request& request, Reply reply) {
  auto read = wire::read_complete_request(request.body);
  if (!read) return reply(problem(read.error()));
  settle(node_, request, read->token, core::Success{std::move(read->result)}, std::move(reply));
}

void Api::fail_task(const Request& request, Reply reply) {
  auto read = wire::read_fail_request(request.body);
  if (!read) return reply(problem(read.error()));
  Failure failure{.message = std::move(read->message), .kind = read->kind};
  failure.http_status = read->http_status;
  failure.exit_code = read->exit_code;
  failure.os_error = read->os_error;
  failure.retry_after = read->retry_after;
  std::optional<engine::Engine::Ruled> ruled;
  if (read->ruled) {
    ruled = {.verdict = {.kind = read->ruled->verdict},
             .wait = read->ruled->wait,
             .attempts = read->ruled->attempts,
             .crashes = read->ruled->crashes,
             .replays = read->ruled->replays};
  }
  settle(node_, request, read->token, std::move(failure), std::move(reply), ruled);
}

void Api::release(const Request& request, Reply reply) {
  const auto read = wire::read_release_request(request.body);
  if (!read) return reply(problem(read.error()));
  core::Outcome outcome = core::HandedBack{};
  if (read->wait) outcome = core::BreakerOpen{*read->wait};
  settle(node_, request, read->token, std::move(outcome), std::move(reply));
}

void Api::withdraw(const Request& request, Reply reply) {
  const auto read = wire::read_withdraw_request(request.body);
  if (!read) return reply(problem(read.error()));
  const std::size_t withdrawn = node_.engine().withdraw(read->worker);
  reply(json(200, [&](auto& writer) {
    writer.begin_object().key("withdrawn").number(withdrawn).end_object();
  }));
}

void Api::extend(const Request& request, Reply reply) {
  const auto read = wire::read_extend_request(request.body);
  if (!read) return reply(problem(read.error()));
  const auto id = task_id_of(request);
  if (!id) return reply(problem(id.error()));
  const Duration lease = read->lease.value_or(limits_.default_lease);
  if (lease > limits_.longest_lease) return reply(problem(400, "lease: at most 12h"));
  node_.ask_engine<WallTime>(
      [claim = ports::Held{*id, read->token}, lease](engine::Engine& engine, auto then) {
        engine.extend(claim, lease, std::move(then));
      },
      [reply = std::move(reply)](const Result<WallTime>& lease_end) mutable {
        if (!lease_end) return reply(problem(lease_end.error()));
        reply(json(200, [&](auto& writer) {
          writer.begin_object().key("lease_end").time(*lease_end).end_object();
        }));
      });
}

void Api::add_health(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/openapi.json",
              .summary = "This API, as an OpenAPI 3.1 document",
              .handle = [this](const Request&, Reply reply) {
                reply({.body = openapi_ ? *openapi_ : std::string(kOpenApi)});
              }});
  routes.add({.method = "GET",
              .pattern = "/healthz",
              .summary = "The process is alive",
              .handle = [](const Request&, Reply reply) {
                reply({.body = "ok\n", .type = "text/plain"});
              }});
  routes.add({.method = "GET",
              .pattern = "/readyz",
              .summary = "The store answers, and tasks are being run",
              .handle = [this](const Request& request, Reply reply) {
                tell_ready(request, std::move(reply));
              }});
}

// What is missing has an address, which is for those who may look; whoever just asks, such as what
// balances load, is told how it is.
void Api::tell_ready(const Request& request, Reply reply) {
  if (!health_.is_ready()) return reply(problem(503, "tasks are not being run"));
  const bool may_look = !request.caller.name.empty() && includes(request.caller.role, Role::read);
  seeing::Readiness readiness;
  if (health_.readiness) readiness = health_.readiness();
  ports::lane_ask(node_.reader(), ports::Count{},
                  [may_look, readiness = std::move(readiness),
                   reply = std::move(reply)](const Result<ports::Count::Answer>& answer) mutable {
                    if (!answer) return reply(problem(answer.error()));
                    if (!readiness.accepts) {
                      std::string text = "no task is accepted: every queue waits for a broker";
                      if (may_look) {
                        for (const seeing::BrokerProblem& one : readiness.problems)
                          text += "; " + one.text;
                      }
                      return reply(problem(503, text));
                    }
                    if (!may_look) {
                      return reply(json(200, [&](auto& writer) {
                        writer.begin_object().key("status");
                        writer.word(readiness.problems.empty() ? "ready" : "degraded").end_object();
                      }));
                    }
                    reply(json(200, [&](auto& writer) { write(writer, readiness); }));
                  });
}

}  // namespace holdfast::http
