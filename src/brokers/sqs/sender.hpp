#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "brokers/sqs/envelope.hpp"
#include "brokers/sqs/queues.hpp"
#include "brokers/sqs/trouble.hpp"
#include "core/uuid.hpp"
#include "ports/broker.hpp"

namespace holdfast::brokers::sqs {

// The longest that SQS itself delays a message.
inline constexpr Duration kMostDelay = std::chrono::minutes(15);

// Sends what has gathered, ten at a time, each of them with its own fate. To a FIFO queue a message
// goes only when none of its group is under way. What is throttled, or fails for reasons of the
// server's own, is sent again, to a FIFO queue under the id by which SQS knows it again; every
// message that is published has another one.
//
// Threads and callbacks as those of the API.
class Sender {
 public:
  using Then = std::move_only_function<void(ports::Sent)>;

  Sender(Api& api, Queues& queues);

  void publish(const ports::Outgoing& outgoing, Then then);

 private:
  struct Letter {
    explicit Letter(const retry::Policy& policy) : tries(policy) {}
    Envelope envelope = {};
    std::size_t size_bytes = 0;
    std::chrono::seconds delay = {};
    std::string group = {};  // of a FIFO queue
    std::string once = {};   // the deduplication id there
    Then then = {};
    Tries tries;
    bool may_be_there = false;  // an attempt has ended without a word
    bool goes_alone = false;    // others are not to suffer for it
  };
  using Batch = std::vector<std::unique_ptr<Letter>>;
  struct Line {
    std::deque<std::unique_ptr<Letter>> waiting = {};
    int under_way = 0;
    std::multiset<std::string> busy_groups = {};
    bool is_flushing = false;
  };

  [[nodiscard]] std::expected<std::unique_ptr<Letter>, ports::Sent> letter_of(
      const ports::Outgoing& outgoing);
  void flush_later(const std::string& queue);
  void flush(const std::string& queue);
  [[nodiscard]] Batch next_batch(Line& line, bool is_fifo) const;
  void send(const std::string& queue, Batch batch);
  void answered(const std::string& queue, Batch batch, const Answer& answer);
  [[nodiscard]] bool sends_alone(Line& line, Batch& batch, const Answer& answer) const;
  // What its batch is to wait for before it is sent again; nothing: it has ended.
  [[nodiscard]] std::optional<SteadyTime> settle(Line& line, Letter& letter,
                                                 const EntryResult& result);
  void send_again(const std::string& queue, Batch batch, SteadyTime when);
  static void release(Line& line, const Letter& letter);

  Api& api_;
  Queues& queues_;
  const retry::Policy policy_;
  UuidSource ids_;
  std::map<std::string, Line> lines_;  // by queue
};

}  // namespace holdfast::brokers::sqs
