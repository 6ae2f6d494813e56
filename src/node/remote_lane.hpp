#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>

#include "io/http_client.hpp"
#include "node/remote_server.hpp"
#include "ports/loop.hpp"
#include "ports/store_lane.hpp"

namespace holdfast::node {

// The tasks of a server elsewhere, as the engine of a worker asks for them: claims that wait for a
// task, extensions, and what became of attempts. The rest of what an engine does (rescue what
// others left, remove what is old) the server does itself, so there is nothing to do for it here.
//
// What the engine decides is sent as what it was decided from and to: where the server has rules of
// its own for a type it decides by them, and else as the engine did.
//
// Answers come as the server gives them, in any order: a claim may wait for long. Errors are
// `unavailable`, but for what the server will never take (invalid_argument).
//
// Threads: the loop's.
class RemoteLane final : public ports::StoreLane {
 public:
  // The loop and the clock must outlive it.
  RemoteLane(ports::Loop& loop, RemoteServer server, const Clock& clock);

  void ask(ports::Request request, Done done) override;

  // Whether the server lets this worker work at all.
  void probe(std::move_only_function<void(std::expected<void, RemoteFault>)> then);
  // Claims that wait are answered soon, and none waits any more.
  void withdraw();

 private:
  using Answered = std::move_only_function<void(RemoteAnswer)>;
  // One request to the server for each part of a verb; the verb is answered with the last.
  template <class Verb>
  struct Gathering;

  void send(const RemoteCall& call, Answered then);
  void answer(ports::Asked<ports::Claim> asked, Done done);
  void answer(ports::Asked<ports::Change> asked, Done done);
  void answer(ports::Asked<ports::Renew> asked, Done done);
  void answer(ports::Asked<ports::Overdue> asked, Done done);
  void answer(ports::Asked<ports::Purge> asked, Done done);
  template <class Verb>
  void answer(ports::Asked<Verb> asked, Done done);  // what no worker asks
  void later(ports::Request request, Done done);
  void end_one(Gathering<ports::Change>& all);

  struct Claimed {
    TaskId id;
    core::Token token;
    auto operator<=>(const Claimed&) const = default;
  };

  ports::Loop& loop_;
  const RemoteServer server_;
  const Clock& clock_;
  Result<io::HttpClient> client_;
  std::string worker_;  // as the engine calls itself
  bool withdrawn_ = false;
  std::size_t claims_under_way_ = 0;
  std::unique_ptr<ports::Loop::Timer> again_;
  // What the server has carried out of changes that it could not carry out all: they are asked for
  // again together.
  std::map<Claimed, ports::Change::Done> carried_out_;
};

}  // namespace holdfast::node
