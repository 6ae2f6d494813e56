#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/breaker.hpp>
#include <holdfast/classify.hpp>
#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>

#include "core/rules.hpp"
#include "engine/observer.hpp"
#include "ports/handler.hpp"
#include "ports/loop.hpp"
#include "ports/spill.hpp"
#include "ports/store_lane.hpp"
#include "ports/witness.hpp"

namespace holdfast::engine {

// What an engine is built on. All of it must outlive the engine; the loop, the clock and the
// witness must also outlive every attempt that its handlers still hold then.
struct Parts {
  ports::Loop& loop;
  ports::StoreLane& writer;
  ports::StoreLane& reader;  // for queries; may be the writer
  Clock& clock;
  Random& random;
  Logger log = {};
  ports::Witness* witness = nullptr;  // nothing: after a crash, every claim may have begun
  ports::News* news = nullptr;        // of a store that others work on, too; nothing: nobody does
  ports::Spill* spill = nullptr;      // nothing: what is removed is gone
  ports::Memo* memo = nullptr;        // nothing: each life announces anew what it will remove
};

// How the tasks of one type are run.
struct TypeOptions {
  std::shared_ptr<ports::Handler> handler = {};
  core::TaskPolicy policy = {};
  std::shared_ptr<const Classifier> classifier = {};  // nothing: everything is retried
  std::string dependency = {};  // what it calls: types that name the same share a breaker (N4)
  // Of a task that is handed in without one: so long after that. Nothing: it has none.
  std::optional<Duration> deadline = {};
  std::string queue = "default";  // of a task that names none
};

struct QueueOptions {
  std::string name = {};
  std::size_t concurrency = 16;  // of this process: most attempts that are worked on at once
};

// What a queue does with its dead letters by itself (C3). One of which nothing is said keeps them
// (T5).
struct DeadLetters {
  enum class Rule : std::uint8_t {
    fail,     // all of them are given up
    redrive,  // those that ask for it (retry_on_failure) are brought back, the others given up
  };

  std::string queue = {};
  Rule rule = Rule::fail;
  int redrive_rounds = 1;  // no task is brought back that has been replayed so often
  // C3.5: the store is looked at so often; the wait and the batch are of the broker's queue.
  Duration poll = std::chrono::seconds(10);
  Duration wait = std::chrono::seconds(10);
  std::size_t batch = 10;

  bool operator==(const DeadLetters&) const = default;
};

// How long tasks are kept after they have ended. Nothing: for ever (T5, N9).
struct Keep {
  std::optional<Duration> succeeded = std::chrono::hours(24);  // T7
  std::optional<Duration> canceled = std::chrono::hours(24);
  std::optional<Duration> failed = {};
  std::optional<Duration> dead = {};
  // So long before, it is said that failed and dead tasks go; nothing: see usual_warning().
  std::optional<Duration> warning = {};
};

struct Options {
  std::string store = {};   // which one, for the log: its URL
  std::string owner = {};   // a name that no other engine has or had: one for each life
  bool sole_owner = false;  // as OpenStore says it
  Duration lease = std::chrono::seconds(30);
  Duration sweep_every = std::chrono::seconds(1);
  // With news of the store: a queue that nobody has told of is looked at so often, in case a word
  // was lost. Without: with every sweep.
  Duration look_every = std::chrono::seconds(30);
  Duration janitor_every = std::chrono::minutes(1);
  Duration shutdown_grace = std::chrono::seconds(30);  // T3: for running tasks to finish
  Duration stop_grace = std::chrono::seconds(5);  // for a handler that was asked to stop, to end
  Keep keep = {};
  Breaker::Options breaker = {};    // of every dependency; the name is the dependency's
  std::size_t most_claimed = 4096;  // of all queues together
  Observer* observer = nullptr;     // must outlive the engine
  // Whether more is claimed than is worked on. Not where no witness could tell, after a crash, what
  // of it had begun.
  bool claims_ahead = true;
  // The store is corrupt: nothing is claimed or settled any more. Called once, on the loop.
  std::function<void(const Error&)> on_broken = {};
};

}  // namespace holdfast::engine
