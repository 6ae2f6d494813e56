#pragma once

#include <functional>
#include <memory>

namespace holdfast::io {

class Loop;

// Hears SIGINT and SIGTERM, and SIGHUP if somebody wants to, for as long as it lives, in the place
// of whatever else would happen. One at a time in a process.
//
// Threads: made and destroyed on the loop's, or while the loop does not run; gone before the loop.
class Signals {
 public:
  // `count` is 1 for the first of them, whichever it is, and then grows: a second one insists.
  using Heard = std::move_only_function<void(int signal, int count)>;

  // What happens to signals once this is destroyed.
  enum class Afterwards {
    as_before,  // what would have happened without this
    // For a process that ends because it heard a signal: another one does not kill it on its last
    // steps, with an exit code that says it did not end cleanly. As before, if none was heard.
    ignored_once_heard,
  };

  // `heard` is called on the loop, and may destroy this. So is `hung_up`, with SIGHUP, which is
  // left alone where nothing is given.
  Signals(Loop& loop, Heard heard, std::move_only_function<void()> hung_up = {},
          Afterwards afterwards = Afterwards::as_before);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace holdfast::io
