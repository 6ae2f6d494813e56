#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::io {

// Who may look up the name of an origin. Each look-up takes a thread, so of two thousand requests
// to one host that begin together only a few look its name up, and the others wait until it is
// known. Origins do not wait for each other.
template <class Waiter>
class LookUpTurns {
 public:
  explicit LookUpTurns(int most_at_once) : most_at_once_(most_at_once) {}

  // True: it is its turn. False: it waits, until give_back() or leave_if() names it.
  [[nodiscard]] bool take(const std::string& origin, Waiter* waiter) {
    Origin& own = origins_[origin];
    if (own.turns_taken < most_at_once_) {
      ++own.turns_taken;
      return true;
    }
    own.waiting.push_back(waiter);
    ++waiting_;
    return false;
  }

  // Ends a turn. The one whose turn it is then, if any waits.
  [[nodiscard]] Waiter* give_back(const std::string& origin) {
    const auto found = origins_.find(origin);
    Origin& own = found->second;
    if (own.waiting.empty()) {
      if (--own.turns_taken == 0) origins_.erase(found);
      return nullptr;
    }
    Waiter* const next = own.waiting.front();
    own.waiting.pop_front();
    --waiting_;
    return next;
  }

  // Takes those out that wait no longer.
  [[nodiscard]] std::vector<Waiter*> leave_if(const auto& condition) {
    std::vector<Waiter*> left;
    if (waiting_ == 0) return left;
    for (auto& [name, own] : origins_) {
      std::erase_if(own.waiting, [&](Waiter* waiter) {
        const bool leaves = condition(*waiter);
        if (leaves) left.push_back(waiter);
        return leaves;
      });
    }
    waiting_ -= left.size();
    return left;
  }

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

 private:
  struct Origin {
    int turns_taken = 0;
    std::deque<Waiter*> waiting;
  };

  const int most_at_once_;
  std::unordered_map<std::string, Origin> origins_;
  std::size_t waiting_ = 0;
};

}  // namespace holdfast::io
