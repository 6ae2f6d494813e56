#include "http/api_recoveries.hpp"

#include <utility>

#include "http/api_support.hpp"

namespace holdfast::http {
namespace {

auto recovery_told_as(int status, Reply reply) {
  return [status, reply = std::move(reply)](const auto& answer) mutable {
    if (!answer) return reply(problem(answer.error()));
    reply(json(status, [&](auto& writer) { write(writer, *answer); }));
  };
}

}  // namespace

void RecoveriesApi::add_to(Routes& routes) {
  routes.add(
      {.method = "GET",
       .pattern = "/v1/recoveries",
       .role = Role::read,
       .summary = "Recoveries of dead-letter queues, latest first",
       .handle = [this](const Request& request, Reply reply) { page(request, std::move(reply)); }});
  routes.add({.method = "POST",
              .pattern = "/v1/recoveries",
              .role = Role::operate,
              .summary = "Bring a broker's dead-letter queue back, or see what would go where",
              .handle = [this](const Request& request, Reply reply) {
                begin(request, std::move(reply));
              }});
  routes.add({.method = "POST",
              .pattern = "/v1/brokers/{name}/queues/{queue}/sample",
              .role = Role::operate,
              .summary = "Look at the first messages of a dead-letter queue",
              .handle = [this](const Request& request, Reply reply) {
                sample(request, std::move(reply));
              }});
  routes.add({.method = "GET",
              .pattern = "/v1/recoveries/{id}",
              .role = Role::read,
              .summary = "One recovery: how far it has come, or what it came to",
              .handle = [this](const Request& request, Reply reply) {
                desk_.find(request.params.find("id")->second,
                           recovery_told_as(200, std::move(reply)));
              }});
  routes.add({.method = "POST",
              .pattern = "/v1/recoveries/{id}/cancel",
              .role = Role::operate,
              .summary = "Have it end; what was done stays done",
              .handle = [this](const Request& request, Reply reply) {
                if (!request.body.empty() && !is_json(request)) return reply(not_json());
                desk_.cancel(request.params.find("id")->second, request.caller.name,
                             recovery_told_as(200, std::move(reply)));
              }});
}

void RecoveriesApi::sample(const Request& request, Reply reply) {
  if (!request.body.empty() && !is_json(request)) return reply(not_json());
  const auto read = wire::read_sample_request(request.body);
  if (!read) return reply(problem(read.error()));
  desk_.sample({.broker = request.params.find("name")->second,
                .queue = request.params.find("queue")->second},
               *read, request.caller.name, recovery_told_as(200, std::move(reply)));
}

void RecoveriesApi::begin(const Request& request, Reply reply) {
  if (!is_json(request)) return reply(not_json());
  auto read = wire::read_recovery_request(request.body);
  if (!read) return reply(problem(read.error()));
  desk_.begin(*std::move(read), request.caller.name, recovery_told_as(201, std::move(reply)));
}

void RecoveriesApi::page(const Request& request, Reply reply) {
  auto page = page_of(request);
  if (!page) return reply(problem(page.error()));
  desk_.page(page->limit, std::move(page->cursor), recovery_told_as(200, std::move(reply)));
}

}  // namespace holdfast::http
