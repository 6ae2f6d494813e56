#include "http/api_seeing.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "core/json_text.hpp"
#include "engine/engine.hpp"
#include "http/problem.hpp"
#include "node/node.hpp"
#include "seeing/metrics.hpp"
#include "seeing/stats.hpp"
#include "seeing/workers.hpp"

namespace holdfast::http {
namespace {

Result<EventFilter> event_filter_of(const Request& request) {
  EventFilter filter;
  for (const auto& [name, value] : request.query) {
    if (name == "queue") {
      filter.queue = value;
    } else if (name == "type") {
      filter.type = value;
    } else if (name == "state") {
      for (int i = 0; i <= static_cast<int>(TaskState::canceled); ++i) {
        const auto state = static_cast<TaskState>(i);
        if (to_string(state) == value) filter.state = state;
      }
      if (!filter.state) {
        return fail(ErrorCode::invalid_argument, "events", "state: there is no " + quoted(value));
      }
    } else {
      return fail(ErrorCode::invalid_argument, "events",
                  quoted(name) + " is no filter: there are queue, type and state");
    }
  }
  return filter;
}

// Tasks that run, looked at page by page until all or enough have been seen.
struct RunningLook {
  static constexpr std::size_t kMostTasks = 1000;
  static constexpr int kMostPages = 20;  // a page may be short, or empty

  node::Node& node;
  Reply reply;
  std::vector<ports::TaskRecord> seen = {};
  std::string cursor = {};
  int pages = 0;
};

void look_on(const std::shared_ptr<RunningLook>& look) {
  ports::lane_ask(look->node.reader(),
                  ports::List{.filter = {.state = core::State::running},
                              .cursor = look->cursor,
                              .limit = RunningLook::kMostTasks - look->seen.size()},
                  [look](Result<ports::List::Answer> found) {
                    if (!found) return look->reply(problem(found.error()));
                    std::ranges::move(found->tasks, std::back_inserter(look->seen));
                    look->cursor = std::move(found->next);
                    const bool complete = look->cursor.empty();
                    const bool enough = look->seen.size() >= RunningLook::kMostTasks ||
                                        ++look->pages == RunningLook::kMostPages;
                    if (!complete && !enough) return look_on(look);
                    look->reply({.body = seeing::workers_json(look->seen, complete)});
                  });
}

}  // namespace

SeeingApi::SeeingApi(node::Node& node, seeing::Watch& watch, std::function<Traffic()> traffic)
    : node_(node),
      watch_(watch),
      traffic_(std::move(traffic)),
      streams_(node.loop(), watch.events()) {
  sample_later();
}

void SeeingApi::sample_later() {
  sampling_ = node_.loop().after(seeing::Watch::kSampleEvery, [this] {
    sample();
    sample_later();
  });
}

void SeeingApi::sample() {
  watch_.sample();
  // As of now, however long the store takes to say how many there are.
  ports::lane_ask(node_.reader(), ports::Count{},
                  [this, alive = std::weak_ptr(alive_),
                   moment = watch_.moment()](const Result<ports::Count::Answer>& queues) {
                    if (alive.expired()) return;
                    std::optional<seeing::Depths> depths;
                    if (queues) depths = seeing::depths_of(*queues);
                    watch_.chronicle().add(moment, depths);
                  });
}

void SeeingApi::add_to(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = "/v1/stats",
              .role = Role::read,
              .summary = "Depths, rates, ages, breakers and alerts, for dashboards",
              .handle = [this](const Request&, Reply reply) { stats(std::move(reply)); }});
  routes.add({.method = "GET",
              .pattern = "/v1/series",
              .role = Role::read,
              .summary = "Rates and depths of the last hour or day, step by step",
              .handle = [this](const Request& request, Reply reply) {
                series(request, std::move(reply));
              }});
  routes.add({.method = "GET",
              .pattern = "/v1/workers",
              .role = Role::read,
              .summary = "Who runs which tasks now",
              .handle = [this](const Request&, Reply reply) {
                look_on(std::make_shared<RunningLook>(node_, std::move(reply)));
              }});
  routes.add({.method = "GET",
              .pattern = "/v1/events",
              .role = Role::read,
              .summary = "What happens, as it happens: server-sent events",
              .handle = [this](const Request& request, Reply reply) {
                events(request, std::move(reply));
              }});
  routes.add({.method = "GET",
              .pattern = "/metrics",
              .role = Role::read,
              .summary = "Metrics in the text format of Prometheus",
              .handle = [this](const Request&, Reply reply) { metrics(std::move(reply)); }});
}

void SeeingApi::metrics(Reply reply) {
  ports::lane_ask(
      node_.reader(), ports::Count{},
      [this, alive = std::weak_ptr(alive_),
       reply = std::move(reply)](Result<ports::Count::Answer> queues) mutable {
        if (alive.expired()) return;
        if (!queues) return reply(problem(queues.error()));
        const Traffic traffic = traffic_();
        reply({.body = seeing::metrics_text({.watch = watch_,
                                             .queues = *queues,
                                             .breakers = node_.engine().breakers(),
                                             .connections = traffic.connections,
                                             .requests_under_way = traffic.requests_under_way,
                                             .event_readers = streams_.readers()}),
               .type = std::string(seeing::kMetricsType)});
      });
}

void SeeingApi::stats(Reply reply) {
  ports::lane_ask(node_.reader(), ports::Count{},
                  [this, alive = std::weak_ptr(alive_),
                   reply = std::move(reply)](Result<ports::Count::Answer> queues) mutable {
                    if (alive.expired()) return;
                    if (!queues) return reply(problem(queues.error()));
                    reply({.body = seeing::stats_json(watch_, *queues, node_.engine().breakers())});
                  });
}

void SeeingApi::series(const Request& request, Reply reply) {
  using Span = seeing::Chronicle::Span;
  for (const auto& [name, value] : request.query) {
    if (name != "span")
      return reply(problem(400, quoted(name) + " is no parameter: there is span"));
    if (value != "1h" && value != "24h") {
      return reply(problem(400, "span: " + quoted(value) + " is neither 1h nor 24h"));
    }
  }
  const Span span = request.parameter("span") == "24h" ? Span::day : Span::hour;
  reply({.body = watch_.chronicle().json(span)});
}

void SeeingApi::events(const Request& request, Reply reply) {
  auto filter = event_filter_of(request);
  if (!filter) return reply(problem(filter.error()));
  reply({.type = "text/event-stream",
         .source = streams_.open(*std::move(filter), request.header("last-event-id"),
                                 request.is_still_in)});
}

}  // namespace holdfast::http
