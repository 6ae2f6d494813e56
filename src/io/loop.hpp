#pragma once

#include <memory>

#include "ports/loop.hpp"

namespace boost::asio {
class io_context;
}

namespace holdfast::io {

// The loop of a real process, on Asio. Few files include Asio, since it takes long to compile:
// this header only names its context.
//
// Timers must be gone before their loop is.
class Loop final : public ports::Loop {
 public:
  Loop();
  ~Loop() override;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs what is posted, on the calling thread, until stop(); having nothing to do does not end
  // it. Once only. What work throws leaves run() and ends the loop like stop().
  void run();

  // The work under way still ends; no other begins, and what is left is destroyed unrun, as is all
  // that is posted later. Before run(): that returns at once. Threads: any.
  void stop();

  void post(Work work) override;
  [[nodiscard]] std::unique_ptr<Timer> after(Duration wait, Work work) override;

  // For what speaks Asio itself: sockets, pipes, child processes. Runs on the same thread.
  [[nodiscard]] boost::asio::io_context& context() noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::io
