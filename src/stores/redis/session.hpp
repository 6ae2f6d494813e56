#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "stores/redis/address.hpp"
#include "stores/redis/pipeline.hpp"
#include "stores/redis/reply.hpp"

namespace holdfast::stores::redis {

// How a server is talked to (T6).
struct SessionOptions {
  Address address = {};
  std::string name = {};  // of the connection, for people who look at CLIENT LIST
  Duration connect_timeout = std::chrono::seconds(5);
  Duration answer_timeout = std::chrono::seconds(3);  // for reading and for writing
  int retries = 3;                                    // of what was cut off, before it is given up
  Duration check_after =
      std::chrono::seconds(10);                 // one that was idle so long is tried with a PING
  std::span<const Script* const> scripts = {};  // loaded with every new connection
  Logger log = {};
};

// A connection to the server that has the tasks, and a new one when it is lost. Blocks. Threads:
// one at a time, but for `stop`.
//
// Every command that goes through it must be safe to send again: one whose answer was lost is.
class Session {
 public:
  explicit Session(SessionOptions options, Clock& clock = system_clock());
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Sends all of it at once, and waits for the answers: one for each command. An answer that is an
  // error is an Error here; the others are carried out all the same:
  //   unavailable  the server is away, loads, is a replica, has no cluster …; said after `retries`
  //   exhausted    OOM, or it cannot write its own files
  //   corrupt      WRONGTYPE: somebody else's key stands where ours should
  //   internal     anything else that a server may say of a command
  [[nodiscard]] std::vector<Result<OwnedReply>> run(const Pipeline& pipeline);

  // For how long the connection that answered last has been there; zero: there is none.
  [[nodiscard]] Duration connected_for() const;

  // Whoever waits in run() is answered `unavailable` soon. Threads: any.
  void stop() noexcept;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace holdfast::stores::redis
