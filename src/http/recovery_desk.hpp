#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <holdfast/result.hpp>

#include "wire/recovery_json.hpp"
#include "wire/sample_json.hpp"

namespace holdfast::http {

// Whom the routes ask about recoveries that people start. Threads: the loop's; answers come there,
// each once.
class RecoveryDesk {
 public:
  virtual ~RecoveryDesk() = default;

  using Then = std::move_only_function<void(Result<wire::Recovery>)>;
  // Answered once it is written down that it has begun. invalid_argument: it cannot be done;
  // not_found: no such broker or queue; conflict: the queue is being recovered; overloaded: too
  // many are under way.
  virtual void begin(wire::RecoveryRequest request, std::string who, Then then) = 0;
  virtual void find(std::string id, Then then) = 0;
  // Latest first.
  virtual void page(std::size_t limit, std::string cursor,
                    std::move_only_function<void(Result<wire::RecoveryPage>)> then) = 0;
  // Looks at the first messages of a queue, and answers when that is over, within some seconds.
  // Fails as begin() does, and where no look is safe.
  struct Place {
    std::string broker = {};
    std::string queue = {};
  };
  virtual void sample(Place place, wire::SampleRequest request, std::string who,
                      std::move_only_function<void(Result<wire::QueueSample>)> then) = 0;
  // Lets what is under way end. conflict: it has ended already, or runs at another server.
  virtual void cancel(std::string id, std::string who, Then then) = 0;
};

}  // namespace holdfast::http
