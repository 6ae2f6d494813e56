#include "triage/find_each.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace holdfast::triage {

void find_each(ports::StoreLane& reader, const std::vector<TaskId>& ids, FoundEach then) {
  struct Finding {
    std::vector<Result<ports::Find::Answer>> found;
    FoundEach then;
  };
  auto finding = std::make_shared<Finding>(Finding{.found = {}, .then = std::move(then)});
  finding->found.reserve(ids.size());
  // Answered in the order they are asked.
  for (const TaskId& id : ids) {
    ports::lane_ask(reader, ports::Find{id},
                    [finding, many = ids.size()](Result<ports::Find::Answer> found) {
                      finding->found.push_back(std::move(found));
                      if (finding->found.size() == many) finding->then(std::move(finding->found));
                    });
  }
}

}  // namespace holdfast::triage
