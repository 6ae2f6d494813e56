#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/task.hpp>

#include "core/rules.hpp"
#include "http/gate.hpp"
#include "seeing/readiness.hpp"

namespace holdfast::node {
class Node;
}

namespace holdfast::http {

struct MappedRoute;

struct ApiLimits {
  std::size_t max_payload = std::size_t{256} << 10U;
  std::size_t max_array = 1000;
  std::size_t max_json_depth = 32;
  Duration default_lease = std::chrono::seconds(30);
  Duration longest_lease = std::chrono::hours(12);
  Duration longest_wait = std::chrono::minutes(1);  // of a claim
};

// The routes of the API: docs/api.md. Threads: the loop's.
class Api {
 public:
  // What /readyz tells.
  struct Health {
    std::function<bool()> is_ready;                     // whether tasks are being run
    std::function<seeing::Readiness()> readiness = {};  // may be none: there are no brokers
  };
  // The node must outlive it.
  Api(node::Node& node, ApiLimits limits, Clock& clock, Health health);

  void add_to(Routes& routes);
  // Routes of the configuration, in place of those before; /openapi.json has them, too.
  void set_mapped(Routes& routes, std::vector<MappedRoute> mapped);

 private:
  using SharedMapped = std::shared_ptr<const MappedRoute>;

  void add_tasks(Routes& routes);
  void add_dead(Routes& routes);
  void add_queues(Routes& routes);
  void add_claims(Routes& routes);
  void add_health(Routes& routes);

  void submit(const Request& request, Reply reply);
  void find(const Request& request, Reply reply);
  void list(const Request& request, Reply reply, bool dead_only);
  void search(const TaskFilter& filter, bool dead_only, Reply reply);
  void groups(const Request& request, Reply reply);
  enum class Fate : std::uint8_t { replay, discard };
  void decide_dead(const Request& request, Fate fate, Reply reply);
  struct Wanted;
  void decide_each(const std::vector<TaskId>& ids, Wanted wanted, std::string next, Reply reply);
  void cancel(const Request& request, Reply reply);
  void replay(const Request& request, Reply reply);
  void queues(Reply reply);
  void pause(const Request& request, Reply reply, bool paused);
  void limit(const Request& request, Reply reply);
  void claim(const Request& request, Reply reply);
  void complete(const Request& request, Reply reply);
  void fail_task(const Request& request, Reply reply);
  void extend(const Request& request, Reply reply);
  void release(const Request& request, Reply reply);
  void tell_ready(const Request& request, Reply reply);
  void withdraw(const Request& request, Reply reply);
  void submit_mapped(const SharedMapped& route, const Request& request, Reply reply);
  void show_existing(const SharedMapped& route, TaskInfo handed_in, Reply reply);
  void find_mapped(const SharedMapped& route, const Request& request, Reply reply);

  node::Node& node_;
  const ApiLimits limits_;
  Clock& clock_;
  const Health health_;
  std::shared_ptr<const std::string> openapi_ = {};  // nothing: there are no routes but its own
};

}  // namespace holdfast::http
