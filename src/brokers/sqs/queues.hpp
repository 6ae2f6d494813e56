#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "brokers/sqs/api.hpp"

namespace holdfast::brokers::sqs {

// Calls about one queue: its URL is looked up once, and again when it is said to be wrong.
// Threads and callbacks as those of the API.
class Queues {
 public:
  explicit Queues(Api& api) : api_(api) {}

  // `members`: what else is in the request, as it stands in JSON between the braces.
  struct Ask {
    std::string queue;
    std::string operation;
    std::string members;
    Duration timeout = {};  // zero: as the options say
    bool is_tried_again = true;
  };
  void call(Ask ask, Api::Then then);

  // Its URL, as SQS has said.
  void note_url(const std::string& queue, const std::string& url) { urls_[queue] = url; }

  // Only that it is there.
  void find(const std::string& queue,
            std::move_only_function<void(std::expected<void, Trouble>)> then);

 private:
  using Url = std::expected<std::string, Trouble>;
  using UrlThen = std::move_only_function<void(const Url&)>;

  void url_of(const std::string& queue, UrlThen then);
  void call_at(const std::string& url, Ask ask, bool is_fresh, Api::Then then);

  Api& api_;
  std::map<std::string, std::string> urls_;
  std::map<std::string, std::vector<UrlThen>> looked_up_;  // under way
};

}  // namespace holdfast::brokers::sqs
