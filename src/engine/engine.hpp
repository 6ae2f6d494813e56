#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "core/rules.hpp"
#include "engine/carriage.hpp"
#include "engine/options.hpp"
#include "ports/store.hpp"

namespace holdfast::engine {

struct Stats {
  std::size_t claimed = 0;                  // attempts at hand, begun or not
  std::size_t running = 0;                  // of these, begun and not ended
  std::array<std::uint64_t, 15> settled{};  // index: core::Event; what the store has confirmed
  std::uint64_t refused = 0;                // settlements whose claim was lost (N6)
  std::uint64_t rescued = 0;
  std::uint64_t purged = 0;
  std::optional<Error> broken = {};  // the store is corrupt: the engine does nothing any more

  [[nodiscard]] std::uint64_t count(core::Event event) const {
    return settled[static_cast<std::size_t>(event)];
  }
};

// What a shutdown did with the attempts that were at hand (T3).
struct ShutdownReport {
  std::size_t finished = 0;     // ended by themselves
  std::size_t handed_back = 0;  // pending again, with nothing spent; abandoned ones are among them
  std::size_t cut_short = 0;    // of those handed back: their handlers were at work
  std::size_t abandoned = 0;    // of those cut short: handlers that did not end though asked to
  std::size_t unsettled = 0;    // the store could not be told: the next life rescues them
};

// Runs tasks: claims them, has their handlers work, settles what comes of it by the rules, and
// rescues what others left. Also the way in for new tasks and for people's decisions.
//
// Everything is asked and answered on the loop: members must be called there (or while it does not
// run), callbacks come from there and never from within the call. One that cannot be answered any
// more because the engine is destroyed is dropped.
//
// It may be destroyed at any time, on the loop: that is a crash, as far as its tasks are concerned.
// shut_down() first where that is not wanted. Attempts that handlers still hold are told to stop,
// and what they report is dropped.
class Engine {
 public:
  Engine(Parts parts, Options options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // What it runs. A task whose type nobody handles fails, and is retried by the default policy. An
  // engine without queues runs nothing: a client, a janitor and a rescuer. May be said anew while
  // it runs: attempts that have been given to a handler end as they began.
  void handle(std::string type, TypeOptions options);
  void forget(const std::string& type);
  void serve(QueueOptions queue);
  // Claims no more of it; what has not begun is handed back.
  void leave(const std::string& queue);

  // Has a broker carry a queue: before start(), and for as long as the engine lives.
  void carry(Carriage carriage);

  // Has a queue's dead letters looked after: they are given up, or brought back. It begins with
  // start(), and ends with shut_down(), whether the queue is paused or not. Said anew while it
  // runs, the new rule takes the place of the old one.
  void consume_dead_letters(DeadLetters rule);
  // From now on they are kept.
  void keep_dead_letters(const std::string& queue);

  // Rescues what dead owners have left (N8), then begins to claim, then calls `ready`. While the
  // store is away both are tried again.
  void start(std::move_only_function<void()> ready = {});

  // Accepts tasks, as Submit does. An id that is nil is made; `created` that is not given is now,
  // `due` that is not given is `created`, and a deadline that is not given is that of its type, if
  // that is handled here. Errors come to the caller at once: `unavailable` may have
  // happened, so ask again with the same ids or keys.
  //
  // Of a queue that a broker carries, a task is answered when the broker has confirmed its message,
  // or when it is recorded (`outbound`), as its Carriage says. One that could not be published is
  // answered with the broker's error: the text says whether it is recorded all the same.
  using Submitted = std::move_only_function<void(Result<ports::Submit::Answer>)>;
  void submit(std::vector<ports::NewTask> tasks, Submitted then);

  // Where tasks of this type go that name no queue.
  [[nodiscard]] std::string queue_of(std::string_view type) const;

  // What a person decides about one task: core/rules.hpp says what each means and when it is
  // refused (conflict); not_found without such a task. A running task that is canceled is asked to
  // stop, and what its handler reports counts no more.
  // `by`: who, for the task's history (N3).
  using Decided = std::move_only_function<void(Result<core::Transition>)>;
  void cancel(TaskId id, Decided then, std::string by = {});
  void replay(TaskId id, core::ReplayOptions options, Decided then, std::string by = {});
  void discard(TaskId id, Decided then, std::string by = {});
  // What a replay of it would come to, with nothing done.
  [[nodiscard]] Result<core::Transition> would_replay(const ports::TaskRecord& record,
                                                      const core::ReplayOptions& options) const;

  // Tasks for workers elsewhere, who claim and settle by themselves. `then` gets up to `max` tasks;
  // none if there were none for as long as `wait`.
  struct Loan {
    std::string queue = {};
    std::size_t max = 1;
    std::string worker = {};  // who asks, for people to see
    Duration lease = std::chrono::seconds(30);
    Duration wait = {};
  };
  using Ticket = std::uint64_t;
  using Lent = std::move_only_function<void(Result<std::vector<ports::TaskRecord>>)>;
  [[nodiscard]] Ticket lend(Loan loan, Lent then);
  // Whoever asked is gone: it is answered `canceled`, and what it would have got is handed back.
  void withdraw(Ticket ticket);
  // All that wait under that name are answered with what they have: nothing. How many that were.
  std::size_t withdraw(const std::string& worker);
  // What a worker elsewhere has decided by rules of its own. They hold for a type that nobody has
  // told this engine of; of others, it knows better.
  struct Ruled {
    Verdict verdict = {};
    Duration wait = {};  // before the next attempt
    int attempts = 4;
    int crashes = 3;
    int replays = 3;
  };
  // How it ended: not_found without such a task, conflict if the claim is lost (N6). Telling the
  // same again is no conflict.
  void settle(ports::Held claim, core::Outcome outcome, std::optional<Ruled> ruled, Decided then);
  // When the lease ends now; conflict if the claim is lost.
  using Extended = std::move_only_function<void(Result<WallTime>)>;
  void extend(ports::Held claim, Duration lease, Extended then);

  // Settings of a queue; one that is resumed goes on at once.
  using Configured = std::move_only_function<void(Result<ports::Configure::Answer>)>;
  void configure(ports::Configure configure, Configured then);

  // T3: accepts and claims no more; hands back what has not begun; lets the rest finish for
  // `shutdown_grace`; asks what is left to stop and hands it back. `then` comes when the store has
  // answered all of it, or has been away for as long as both graces together.
  void shut_down(std::move_only_function<void(ShutdownReport)> then);
  // The second signal: no more grace for running tasks; they are asked to stop now.
  void hurry();

  [[nodiscard]] Stats stats() const;
  // The state of each dependency's breaker, by name; nothing: no type names it.
  [[nodiscard]] Breaker* breaker(const std::string& dependency);
  [[nodiscard]] std::vector<const Breaker*> breakers() const;  // of all dependencies, by name

 private:
  struct Roles;
  std::unique_ptr<Roles> roles_;
};

}  // namespace holdfast::engine
