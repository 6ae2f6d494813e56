#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "brokers/sqs/queues.hpp"
#include "ports/broker.hpp"

namespace holdfast::brokers::sqs {

// What the attributes of a queue say of it. Pure.
[[nodiscard]] ports::QueueStatus queue_status(std::string name, std::string_view answer);

// Lists queues: their names in pages, then the attributes of those that match, a few at a time. A
// queue whose attributes may not be read is listed without its numbers.
//
// Threads and callbacks as those of the API.
class QueueList {
 public:
  QueueList(Api& api, Queues& queues) : api_(api), queues_(queues) {}

  using Then = std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)>;
  void list(const std::string& pattern, Then then);

 private:
  struct Work;

  void ask_page(const std::shared_ptr<Work>& work, const std::string& token);
  void page_came(const std::shared_ptr<Work>& work, const std::string& answer);
  void look_at_next(const std::shared_ptr<Work>& work);

  Api& api_;
  Queues& queues_;
};

}  // namespace holdfast::brokers::sqs
