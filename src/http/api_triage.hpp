#pragma once

#include <memory>

#include <holdfast/clock.hpp>

#include "http/gate.hpp"

namespace holdfast::node {
class Node;
}

namespace holdfast::http {

// The routes for people who look after failures: operations, the audit, groups, single tasks.
// Threads: the loop's.
class TriageApi {
 public:
  // The node must outlive it.
  TriageApi(node::Node& node, Clock& clock) : node_(node), clock_(clock) {}

  void add_to(Routes& routes);

 private:
  void add_operations(Routes& routes);
  void count(const Request& request, Reply reply);
  void group(const Request& request, Reply reply);
  void discard(const Request& request, Reply reply);
  void edit(const Request& request, Reply reply);
  void begin(const Request& request, Reply reply);
  void operations(const Request& request, Reply reply);
  void audit(const Request& request, Reply reply);

  node::Node& node_;
  Clock& clock_;
};

}  // namespace holdfast::http
