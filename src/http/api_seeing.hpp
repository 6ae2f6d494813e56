#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "http/event_streams.hpp"
#include "http/gate.hpp"
#include "seeing/watch.hpp"

namespace holdfast::node {
class Node;
}

namespace holdfast::http {

// The routes by which a server is watched: /metrics, /v1/stats, /v1/series, /v1/workers and
// /v1/events. Threads: the loop's, also that of its destruction.
class SeeingApi {
 public:
  struct Traffic {
    std::size_t connections = 0;
    std::size_t requests_under_way = 0;
  };

  // The node and the watch must outlive it. `traffic` tells of the server that the routes are on.
  SeeingApi(node::Node& node, seeing::Watch& watch, std::function<Traffic()> traffic);

  void add_to(Routes& routes);

 private:
  void sample_later();
  void sample();
  void metrics(Reply reply);
  void stats(Reply reply);
  void series(const Request& request, Reply reply);
  void events(const Request& request, Reply reply);

  node::Node& node_;
  seeing::Watch& watch_;
  const std::function<Traffic()> traffic_;
  EventStreams streams_;
  std::unique_ptr<ports::Loop::Timer> sampling_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::http
