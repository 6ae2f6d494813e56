#include "http/api_brokers.hpp"

#include <utility>

#include "http/api_support.hpp"

namespace holdfast::http {

void BrokersApi::add_to(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/v1/brokers",
              .role = Role::read,
              .summary = "The brokers whose dead-letter queues are shown",
              .handle = [this](const Request&, Reply reply) {
                desk_.brokers([reply = std::move(reply)](const wire::BrokerList& list) mutable {
                  reply(json(200, [&](auto& writer) { write(writer, list); }));
                });
              }});
  routes.add({.method = "GET",
              .pattern = "/v1/brokers/{name}/queues",
              .role = Role::read,
              .summary = "The dead-letter queues of a broker: depth, rates, consumers",
              .handle = [this](const Request& request, Reply reply) {
                desk_.broker(
                    request.params.find("name")->second,
                    [reply = std::move(reply)](const Result<wire::BrokerInfo>& found) mutable {
                      if (!found) return reply(problem(found.error()));
                      reply(json(200, [&](auto& writer) { write(writer, *found); }));
                    });
              }});
}

}  // namespace holdfast::http
