// What a store keeps for queues that a broker carries.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "conformance/store_conformance.hpp"

namespace holdfast::conformance {

class CarriedConformance : public StoreConformance {
 protected:
  std::vector<TaskRecord> uncarried(const std::string& queue = kQueue, std::size_t limit = 100) {
    std::vector<TaskRecord> all;
    ports::Uncarried verb{.queue = queue, .cursor = "", .limit = limit};
    for (int pages = 0; pages < 1000; ++pages) {
      auto answer = ask(verb);
      EXPECT_LE(answer.tasks.size(), limit);
      std::ranges::move(answer.tasks, std::back_inserter(all));
      if (answer.next.empty()) return all;
      verb.cursor = answer.next;
    }
    ADD_FAILURE() << "no end";
    return all;
  }
  std::size_t carry(const TaskRecord& record) {
    return ask(ports::Carried{{{record.id, record.task.token}}});
  }
  ports::Claim::Answer claim_only(std::vector<TaskId> ids, std::size_t max = 100,
                                  const std::string& queue = kQueue) {
    return ask(ports::Claim{.queue = queue,
                            .max = max,
                            .owner = "worker 1",
                            .lease = 30s,
                            .now = now_,
                            .only = std::move(ids)});
  }
};

}  // namespace holdfast::conformance
