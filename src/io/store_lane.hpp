#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "io/lane.hpp"
#include "ports/store_lane.hpp"

namespace holdfast::io {

// A store on a thread of its own. A request whose batch threw is answered `internal: was not
// carried out`, unless the store had answered it before.
class StoreLane final : public ports::StoreLane {
 public:
  // The loop and the log's sink must outlive it.
  StoreLane(ports::Loop& loop, std::string name, std::unique_ptr<ports::Store> store,
            Logger log = {});

  // Threads: any.
  void ask(ports::Request request, Done done) override;
  void watch(std::function<void(std::size_t)> watcher) override { lane_.watch(std::move(watcher)); }

 private:
  std::unique_ptr<ports::Store> store_;  // the lane's thread only
  Lane<ports::Request> lane_;            // ends before the store does
};

}  // namespace holdfast::io
