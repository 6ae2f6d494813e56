#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/operation.hpp>
#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

namespace node {
class Link;
}

// Hands tasks in, and looks after them.
//
//   holdfast::Client client("sqlite:tasks.db");
//   auto id = client.submit({.type = "mail.send", .payload = "ann@example.org"});
//   if (!id) return complain(id.error().text());
//
// The URL says where the tasks are kept:
//   sqlite:PATH    a file of this machine, made where it is missing. One process owns it; all
//                  clients and workers of that process share it.
//   redis://[user:password@]HOST[:PORT][/DB]
//                  a Redis server, which any number of processes on any number of machines share;
//                  rediss:// over TLS, redis+sentinel://HOST,HOST,…/MASTER where sentinels watch
//                  over it. docs/redis.md says what its settings keep and what they can lose.
//   memory:NAME    nothing outlives the process: for tests
//   http://HOST:PORT, https://HOST:PORT
//                  a server (holdfast serve), on this machine or another: see Options
// Nothing is opened before it is needed, and the constructor does not fail: the first call opens
// and, where it cannot, says so and what to do; the next one tries again.
//
// Every call blocks until it is answered; what a call that changes something has answered is
// durable. After `unavailable` it may have happened or not: with a key (or the same call once more,
// where it is not submit) it is safe to ask again. `corrupt` says that the disk or the file cannot
// be trusted any more: this one may have happened or not, and nothing more is changed until the
// program is started anew.
//
// A server that cannot be reached, or that asks for time (Retry-After), is asked again, for as long
// as Options::patience; then the call fails with `unavailable` or `timeout`, and may have happened
// or not. That is safe: a task that is handed in without a key gets one of the client's own making
// ("once-…"), so that it is accepted once however often it had to be sent.
//
// Threads: all members may be called from any thread at once, from handlers too. Copies share the
// same store, which is closed with the last of them and of its workers.
class Client {
 public:
  struct Options {
    // For what the store has to say, such as that its disk cannot be trusted any more. Whoever
    // opens a store first, client or worker, says where that goes.
    Logger log = Logger(stderr_log(), system_clock(), Level::warning);

    // What follows is for servers only.
    std::string token = {};    // proves who asks; never logged, and refused in the URL
    std::string ca_file = {};  // PEM: who may sign the server's certificate; empty: the system's
    // Over http:// to another machine a token can be read on its way, so it is not sent, unless
    // this says that the way is safe.
    bool token_in_the_clear = false;
    Duration patience = std::chrono::seconds(30);
  };

  explicit Client(std::string url) : Client(std::move(url), Options()) {}
  Client(std::string url, Options options);

  // Opens now, to know early.
  [[nodiscard]] Result<void> open();

  // Accepts a task, or finds the one that its key stands for. Fails with invalid_argument for what
  // cannot be (the message names the field), conflict for a key that is another task's, exhausted
  // when there is no room.
  [[nodiscard]] Result<TaskId> submit(Submission submission);
  // Many at once, for about the price of one. Each has its own answer, in their order. Where the
  // call itself fails there is no answer for any of them: after `unavailable` or `corrupt` they may
  // have been accepted all the same, after any other error none of them was.
  [[nodiscard]] Result<std::vector<Result<TaskId>>> submit(std::span<const Submission> submissions);

  // A task as it stands. not_found: no such task, or it was removed since (a success after 24 h).
  [[nodiscard]] Result<TaskInfo> find(const TaskId& id);
  // The same, once it has come to an end: succeeded, failed, dead or canceled. Fails with timeout
  // if it has not until then.
  [[nodiscard]] Result<TaskInfo> wait(const TaskId& id, Duration timeout);

  // Takes a task back that has not ended. A handler that works on it is told by its stop token.
  // Fails with conflict if it has ended.
  [[nodiscard]] Result<void> cancel(const TaskId& id);

  struct Replay {
    // Also what needs a person: quarantined, or replayed as often as its type allows.
    bool insist = false;
    std::optional<WallTime> deadline = {};  // the old one is dropped
  };
  // Brings a failed or dead task back: pending, with nothing spent. Conflict if it is neither, or
  // if it needs one who insists.
  [[nodiscard]] Result<void> replay(const TaskId& id) { return replay(id, Replay()); }
  [[nodiscard]] Result<void> replay(const TaskId& id, Replay options);
  // Says that nobody wants a failed or dead task back: canceled.
  [[nodiscard]] Result<void> discard(const TaskId& id);
  // Many at once, for about the price of one. Each has its own answer, in their order.
  using Answers = std::vector<Result<void>>;
  [[nodiscard]] Result<Answers> replay(std::span<const TaskId> ids, Replay options);
  // `reason`: kept in the history of each, and in the audit.
  [[nodiscard]] Result<Answers> discard(std::span<const TaskId> ids,
                                        const std::string& reason = {});

  // What is to be different in a copy of a failed or dead task; what is not given stays.
  struct Edit {
    std::optional<std::string> payload = {};
    std::string queue = {};
    std::string type = {};
  };
  // Hands in the copy, and only then discards the original, which is kept as canceled and names it.
  // Doing the same again is once.
  [[nodiscard]] Result<TaskId> edit(const TaskId& id, Edit edit);

  // Bringing back or discarding many, as one thing that is planned, watched and steered: see
  // <holdfast/operation.hpp>. It is carried out by the server, or by this process where the store
  // is its own; a process that ends leaves it for the next server to go on with.
  [[nodiscard]] Result<Operation> begin(OperationRequest request);
  [[nodiscard]] Result<Operation> operation(const std::string& id);
  [[nodiscard]] Result<OperationPage> operations(std::size_t limit = 100, std::string cursor = {});
  // With `start`, the options may be said anew.
  [[nodiscard]] Result<Operation> steer(const std::string& id, OperationStep step,
                                        std::optional<OperationOptions> options = {});
  // Who did what, latest first.
  [[nodiscard]] Result<AuditPage> audit(std::size_t limit = 100, std::string cursor = {});
  // How many tasks match a query (docs/queries.md), as far as one call looks: TaskCount::next.
  [[nodiscard]] Result<TaskCount> count(const std::string& query, std::string cursor = {});

  // A page of tasks. Dead letters: list({.state = TaskState::dead}).
  [[nodiscard]] Result<TaskPage> list(TaskFilter filter);
  // Groups of failed and dead tasks, latest seen first.
  [[nodiscard]] Result<std::vector<FailureGroup>> groups(std::size_t limit = 100);
  // Every queue that has a task or a setting, by name. Costs the same at any size.
  [[nodiscard]] Result<std::vector<QueueInfo>> counts();

  // Settings of a queue that outlive the process.
  [[nodiscard]] Result<void> pause(const std::string& queue);
  [[nodiscard]] Result<void> resume(const std::string& queue);
  [[nodiscard]] Result<void> limit(const std::string& queue, int concurrency);  // 0: no limit

 private:
  std::shared_ptr<node::Link> link_;
};

}  // namespace holdfast
