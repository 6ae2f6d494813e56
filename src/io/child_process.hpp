#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast::io {

class Loop;

// A program to run. No shell is involved: the arguments reach it as they are.
struct ChildCommand {
  // The first is the program: as it is if it has a slash (then from `folder`, if it is relative),
  // otherwise looked up in the PATH of `environment`.
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // "NAME=value": all that the program gets
  std::string folder = {};                    // to run in; empty: ours
  std::string input = {};  // its standard input, which it gets whole even if we die
  std::size_t most_output_bytes = std::size_t{1} << 20;
  std::size_t kept_error_bytes = std::size_t{8} << 10;
  Duration grace = std::chrono::seconds(5);  // between terminate() and the kill
  // How long others may keep the pipes of a child that has ended.
  Duration drain = std::chrono::milliseconds(200);
};

// How it ended: with an exit code or by a signal; neither, if others have waited for our child.
struct ChildEnd {
  std::optional<int> exit_code = {};
  std::optional<int> signal = {};
  std::string output = {};           // standard output
  std::string error_tail = {};       // the last of its standard error
  bool error_was_longer = false;     // than the tail
  bool output_was_too_long = false;  // it was terminated for that; `output` is what fits
  bool was_stopped = false;          // by terminate() or kill()
};

// A running program with its own process group, no descriptor of ours but its three, and default
// signals. Nothing blocks, and no thread waits for it: its pidfd tells the loop of its end.
//
// What it leaves behind in its group is killed when it has ended, so a grandchild can neither
// outlive it nor, by keeping a pipe open, hold us up for longer than `drain`. The program itself
// is killed by the system when the thread that started it ends, however that ends; its
// descendants then are not.
//
// Threads: the loop's, which must outlive it.
class ChildProcess {
 public:
  using Done = std::move_only_function<void(ChildEnd)>;

  // `done` is called on the loop, exactly once, and never from within start(); not at all if this
  // is destroyed before. Fails with an error that names the program: not_found, exhausted or
  // unavailable as for any file; invalid_argument for a command that cannot be one.
  [[nodiscard]] static Result<ChildProcess> start(Loop& loop, ChildCommand command, Done done);

  ChildProcess() = default;  // none
  ChildProcess(ChildProcess&& other) noexcept = default;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();  // kills it, if it still runs

  // Asks the whole group to end, and kills it after the grace. Again: changes nothing.
  void terminate();
  // Kills the whole group at once.
  void kill();

  [[nodiscard]] int pid() const noexcept;  // 0: none, or it has ended

 private:
  class Running;
  explicit ChildProcess(std::shared_ptr<Running> running);

  std::shared_ptr<Running> running_;
};

}  // namespace holdfast::io
