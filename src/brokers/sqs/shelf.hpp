#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/time.hpp>

namespace holdfast::brokers::sqs {

// The messages of one consumer that were delivered and are not settled: by which receipt each is
// spoken of, and until when SQS keeps it from others. Pure.
class Shelf {
 public:
  using Number = std::uint64_t;  // of the delivery

  // SQS keeps nothing from others for longer, however often it is asked.
  static constexpr Duration kLongest = std::chrono::hours(12);

  struct Slot {
    std::string message_id;
    std::string receipt;
    SteadyTime received{};
    SteadyTime until{};  // nobody else gets it before
    bool is_held = false;
    bool is_asked_for = false;  // more time is, just now
    bool is_expired = false;
  };

  explicit Shelf(Duration visibility) : visibility_(visibility) {}

  // Nothing: the message is here already. It has got a new receipt, by which its delivery is as
  // good as new.
  [[nodiscard]] std::optional<Number> put(std::string message_id, std::string receipt,
                                          SteadyTime now);
  // It is settled: no longer here.
  [[nodiscard]] std::optional<Slot> take(Number number);
  void hold(Number number);
  // All of them, the oldest first.
  [[nodiscard]] std::vector<Slot> take_all();

  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
  // Those that are not held.
  [[nodiscard]] std::size_t counted() const noexcept { return counted_; }

  struct Wish {
    Number number = 0;
    std::string receipt;
    Duration visibility;
  };
  // For which more time is to be asked now: each is not named again before it is told of.
  [[nodiscard]] std::vector<Wish> wishes(SteadyTime now);
  void granted(const Wish& wish, SteadyTime asked);
  // Asked for again with the next; `is_final`: SQS will never grant it.
  void refused(const Wish& wish, bool is_final);
  // Whose time has run out since it was asked last: their number.
  [[nodiscard]] std::size_t expire(SteadyTime now);

 private:
  [[nodiscard]] Slot* find(const Wish& wish);

  const Duration visibility_;
  Number last_ = 0;
  std::size_t counted_ = 0;
  std::size_t refused_ = 0;  // and not told of yet
  std::map<Number, Slot> slots_;
  std::unordered_map<std::string, Number> by_message_;
};

}  // namespace holdfast::brokers::sqs
