#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ports/handler.hpp"

namespace holdfast::handlers {

// Threads that run attempts: first come, first served.
//
// One attempt is taken at a time, though several would cost fewer locks: what a thread had taken
// and not begun would wait behind a long one while other threads have nothing to do. Empty attempts
// go through at 3 million a second on 2 cores, thirty times what the store can hand out.
class Pool {
 public:
  // The work of one attempt: how it ended. Called by many threads at once; may throw.
  using Work = std::move_only_function<core::Outcome(const std::shared_ptr<ports::Run>&)>;

  // At least one thread. `keep` lives as long as any thread that is left behind: what the attempts
  // use beneath (the loop, the clock) belongs there.
  Pool(std::string name, int threads, std::shared_ptr<const void> keep = {});
  ~Pool();  // closes
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Returns at once. After close(): the attempt is handed back. Threads: any.
  void add(std::shared_ptr<ports::Run> run, std::shared_ptr<Work> work) noexcept;

  // Begins no other attempt, hands back those that wait, and ends the threads, except those whose
  // work has not returned: they are left behind, and end when it does. What such work ends with
  // goes nowhere. Answers how many they are. Not from within work.
  std::size_t close() noexcept;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

}  // namespace holdfast::handlers
