#pragma once

#include <functional>
#include <string>

namespace holdfast::ports {

// Says that others may have added to a queue that a claim found empty: a store that several
// processes share has one. What is told is a hint. It may come too often, and one may be lost (then
// `any` follows as soon as that is known), so whoever waits also looks by itself now and then.
class News {
 public:
  struct One {
    std::string queue = {};
    bool any = false;  // of every queue: something may have been missed
  };
  using Told = std::function<void(One)>;

  virtual ~News() = default;
  // From now on; nobody hears what was told before, nor, after listen({}) has returned, anything
  // more. Called on a thread of its own.
  virtual void listen(Told told) = 0;
};

}  // namespace holdfast::ports
