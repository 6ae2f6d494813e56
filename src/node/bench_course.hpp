#pragma once

#include <cstddef>
#include <optional>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast::node::store_bench {

// What the processes of one measurement tell each other, in memory that they share from the fork
// on. Threads: any, of any of them.
class Course {
 public:
  struct Limits {
    std::size_t count = 0;
    Duration most = std::chrono::seconds(60);
  };
  explicit Course(Limits limits);
  ~Course();
  Course(const Course&) = delete;
  Course& operator=(const Course&) = delete;

  // Those who take part say so, wait for each other, and begin together. False: somebody has given
  // up meanwhile.
  void arrive() noexcept;
  [[nodiscard]] bool wait_for(std::size_t arrived) const;
  void begin() noexcept;
  [[nodiscard]] bool wait_for_begin() const;

  // The next `most` of the tasks are the caller's to submit. Nothing: all are taken, or the time is
  // over.
  struct Share {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  [[nodiscard]] std::optional<Share> next(std::size_t most) noexcept;
  void answered(std::size_t count) noexcept;  // as submitted
  void ended_one() noexcept;

  // The first error counts.
  void give_up(const Error& error) noexcept;
  [[nodiscard]] bool given_up() const noexcept;
  [[nodiscard]] Result<void> outcome() const;

  // Until all of them have ended, or been answered, or the time is over: that is no error, if there
  // was one of them at least. `part_done` is called now and then, with 0 to 1.
  template <class Told>
  [[nodiscard]] Result<void> wait_until_ended(const Told& part_done) const {
    while (!is_over(ended())) {
      part_done(static_cast<double>(ended()) / static_cast<double>(limits_.count));
      rest();
    }
    return something(ended());
  }
  [[nodiscard]] Result<void> wait_until_answered() const;

  [[nodiscard]] SteadyTime began() const noexcept;
  // Tasks a second, from begin() until the last one.
  [[nodiscard]] double answered_per_s() const noexcept;
  [[nodiscard]] double ended_per_s() const noexcept;

 private:
  struct Block;

  [[nodiscard]] bool is_over(std::size_t done) const noexcept;
  [[nodiscard]] Result<void> something(std::size_t done) const;
  [[nodiscard]] std::size_t ended() const noexcept;
  static void rest();

  const Limits limits_;
  Block* const block_;
};

}  // namespace holdfast::node::store_bench
