#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "brokers/sqs/json.hpp"
#include "brokers/sqs/text.hpp"
#include "core/json_text.hpp"
#include "io/http_server_testing.hpp"

namespace holdfast::testing {

// A server that speaks SQS as a test tells it to. Unless told otherwise all goes well: every queue
// is there, what is sent is taken and forgotten, and what is received is what the test gives.
class ScriptedSqs {
 public:
  struct Seen {
    std::string operation;
    std::string body;
    std::string authorization;
  };
  // The whole answer, as http_answer makes it. Runs on a thread of the server.
  using Reply = std::function<std::string(const Seen&)>;

  [[nodiscard]] std::string url() const { return server_.url(""); }

  // The next requests of that operation are answered so, one after the other.
  void next(const std::string& operation, Reply reply) {
    const std::lock_guard lock(mutex_);
    next_[operation].push_back(std::move(reply));
  }
  // All requests of that operation from now on, after those above; none: well again.
  void always(const std::string& operation, Reply reply) {
    const std::lock_guard lock(mutex_);
    always_[operation] = std::move(reply);
  }
  // To be received once, as it stands in an answer: {"MessageId":…
  void give(std::string message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    changed_.notify_all();
  }

  [[nodiscard]] std::vector<Seen> seen(const std::string& operation) const {
    const std::lock_guard lock(mutex_);
    std::vector<Seen> found;
    for (const Seen& one : seen_) {
      if (one.operation == operation) found.push_back(one);
    }
    return found;
  }
  // The receipts that requests of that operation named, in their order.
  [[nodiscard]] std::vector<std::string> receipts(const std::string& operation) const {
    std::vector<std::string> found;
    for (const Seen& one : seen(operation)) {
      for (const auto& entry : entries(one.body))
        found.push_back(entry.text_of("ReceiptHandle"));
    }
    return found;
  }

  [[nodiscard]] static std::vector<brokers::sqs::Json> entries(const std::string& body) {
    const auto found = brokers::sqs::Json(body).find("Entries");
    return found ? found->elements() : std::vector<brokers::sqs::Json>();
  }
  [[nodiscard]] static Reply refuses(const std::string& status, const std::string& code,
                                     const std::string& headers = "") {
    return [=](const Seen&) {
      return http_answer(
          status, R"({"__type":"com.amazonaws.sqs#)" + code + R"(","message":"as told"})", headers);
    };
  }
  [[nodiscard]] static Reply says(const std::string& body) {
    return [=](const Seen&) { return http_answer("200 OK", body); };
  }
  [[nodiscard]] static std::string quoted_text(const std::string& text) {
    std::string out;
    append_json_string(out, text);
    return out;
  }
  // A message of another client.
  [[nodiscard]] static std::string plain_message(const std::string& id, const std::string& receipt,
                                                 const std::string& body, int receives = 1) {
    return R"({"MessageId":")" + id + R"(","ReceiptHandle":")" + receipt + R"(","Body":)" +
           quoted_text(body) + R"(,"Attributes":{"ApproximateReceiveCount":")" +
           std::to_string(receives) + R"(","SentTimestamp":"1700000000123"}})";
  }
  // All entries well.
  [[nodiscard]] static std::string all_well(const Seen& seen) {
    std::string successful;
    for (const auto& entry : entries(seen.body)) {
      if (!successful.empty()) successful += ",";
      successful += R"({"Id":")" + entry.text_of("Id") +
                    R"(","MessageId":"m","MD5OfMessageBody":")" +
                    brokers::sqs::md5_hex(entry.text_of("MessageBody")) + R"("})";
    }
    return http_answer("200 OK", R"({"Successful":[)" + successful + R"(],"Failed":[]})");
  }

 private:
  std::string answer(const ServedRequest& request) {
    Seen seen{.operation = request.header("X-Amz-Target").substr(10),
              .body = request.body,
              .authorization = request.header("Authorization")};
    const Reply reply = reply_of(seen);
    return reply(seen);
  }

  Reply reply_of(const Seen& seen) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(seen);
    auto& scripted = next_[seen.operation];
    if (!scripted.empty()) {
      Reply reply = std::move(scripted.front());
      scripted.pop_front();
      return reply;
    }
    if (const auto found = always_.find(seen.operation); found != always_.end() && found->second)
      return found->second;
    return [this](const Seen& one) { return well(one); };
  }

  std::string well(const Seen& seen) {
    if (seen.operation == "GetQueueUrl") {
      const std::string name = brokers::sqs::Json(seen.body).text_of("QueueName");
      return http_answer("200 OK", R"({"QueueUrl":"http://sqs/1/)" + name + R"("})");
    }
    if (seen.operation == "ReceiveMessage") return received(seen);
    if (seen.operation == "GetQueueAttributes") {
      return http_answer("200 OK", R"({"Attributes":{"ApproximateNumberOfMessages":"0"}})");
    }
    return all_well(seen);
  }

  // Waits a little, as a poll does.
  std::string received(const Seen& seen) {
    const auto most =
        brokers::sqs::Json(seen.body).find("MaxNumberOfMessages")->number().value_or(1);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return !messages_.empty(); });
    std::string all;
    for (std::int64_t n = 0; n < most && !messages_.empty(); ++n) {
      all += (all.empty() ? "" : ",") + messages_.front();
      messages_.pop_front();
    }
    return http_answer("200 OK", R"({"Messages":[)" + all + "]}");
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::deque<Reply>> next_;
  std::map<std::string, Reply> always_;
  std::deque<std::string> messages_;
  std::vector<Seen> seen_;
  // The last: it answers from the start.
  TestServer server_{
      TestServer::each([this](const ServedRequest& request) { return answer(request); })};
};

}  // namespace holdfast::testing
