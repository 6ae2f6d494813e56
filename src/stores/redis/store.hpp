#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/log.hpp>

#include "ports/store.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/server_clock.hpp"
#include "stores/redis/session.hpp"

namespace holdfast::stores::redis {

// While a script runs the server does nothing else: so many tasks, and so many bytes, in one call.
inline constexpr std::size_t kMostTasks = 500;
inline constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

// Something on the server cannot have been written by us.
[[nodiscard]] std::unexpected<Error> not_ours(const std::string& what);

// Tasks on a Redis server. A batch is one pipeline: each verb a call of its script, or a few if it
// is large; a verb that takes several turns (lists, audits) waits for those before it. Every change
// is one script, so it is whole or was never there (T8).
class RedisStore final : public ports::Store {
 public:
  struct Options {
    std::string space = "hf";
    std::string instance = {};  // 16 characters that nobody else has: who asks
    bool only_reads = false;    // refuses to change anything
    bool time_is_told = false;
    Duration gone_after = std::chrono::seconds(2);
    std::shared_ptr<ServerClock> clock = {};
  };

  RedisStore(SessionOptions session, Options options);

  void carry_out(std::span<ports::Request> batch) override;

 private:
  using Replies = std::span<Result<OwnedReply>>;
  using Words = std::vector<std::string_view>;
  // What is done with the answers of the calls that a verb has made.
  struct Planned {
    std::size_t first;
    std::size_t calls;
    std::move_only_function<void(Replies)> answered;
  };

  // Puts a verb's calls into the pipeline.
  void plan(ports::Asked<ports::Submit>& asked);
  void plan(ports::Asked<ports::Claim>& asked);
  void plan(ports::Asked<ports::Renew>& asked);
  void plan(ports::Asked<ports::Change>& asked);
  void plan(ports::Asked<ports::Overdue>& asked);
  void plan(ports::Asked<ports::Configure>& asked);
  void plan(ports::Asked<ports::Find>& asked);
  void plan(ports::Asked<ports::Count>& asked);
  void plan(ports::Asked<ports::Groups>& asked);
  void plan(ports::Asked<ports::Carried>& asked);
  void plan(ports::Asked<ports::Withdraw>& asked);
  void plan(ports::Asked<ports::Jot>& asked);
  void plan(ports::Asked<ports::Notes>& asked);
  void plan_claim_these(ports::Asked<ports::Claim>& asked);
  // These take turns: what is planned is carried out before them.
  void plan(ports::Asked<ports::Purge>& asked);
  void plan(ports::Asked<ports::List>& asked);
  void plan(ports::Asked<ports::Uncarried>& asked);
  void plan(ports::Asked<ports::Audit>& asked);

  void call(const Script& script, const Words& words);
  // The same, of one that changes something and may have to be sent again.
  void call_once(const Script& script, const Words& words);
  void then(std::size_t first, std::move_only_function<void(Replies)> answered);
  void flush();
  // One call by itself, at once.
  [[nodiscard]] Result<OwnedReply> ask_now(const Script& script, const Words& words);
  [[nodiscard]] Result<OwnedReply> ask_now_once(const Script& script, const Words& words);
  [[nodiscard]] Result<OwnedReply> run_now();

  // Of a Change (settle.cpp). `order`: where in the verb each of the answers belongs.
  struct Slice;
  struct Again;
  void send(const ports::Change& verb, Slice slice, std::vector<std::size_t>& order, Again& again);
  void remember_again(const ports::Change& verb, const ports::Change::Answer& answers,
                      const Again& again);
  [[nodiscard]] const Claimed* claim_of(const ports::Change::One& one) const;
  void remember(const TaskId& id, Claimed claimed);

  [[nodiscard]] std::string told_time(WallTime now) const;
  void learn_time(std::string_view eight_bytes);

  // Queries that take turns (queries.cpp).
  struct Queue {
    std::string name;
    std::string number;
    std::vector<int> priorities;  // highest first, as in keys: from 0 to 200
  };
  struct Place {  // where a task stands in a list
    std::string queue = {};
    std::int64_t priority = 0;
    double score = 0;
    std::int64_t number = 0;
  };
  struct Found {
    TaskId id;
    Place place;
  };
  [[nodiscard]] Result<std::vector<Queue>> queues();
  [[nodiscard]] Result<std::vector<Found>> page(const std::string& key, bool up, std::size_t many,
                                                const Place* after);
  enum class Told : bool { without_payload, in_full };
  [[nodiscard]] Result<std::vector<std::optional<Kept>>> fetch(std::span<const Found> found,
                                                               Told told);
  [[nodiscard]] Result<ports::List::Answer> list(const ports::List& verb);
  [[nodiscard]] Result<ports::List::Answer> with_payloads(ports::List::Answer page);
  [[nodiscard]] Result<std::vector<Found>> walk_waiting(const ports::Filter& filter,
                                                        const Place* after, std::size_t many);
  [[nodiscard]] Result<std::vector<Found>> walk_running(const Place* after, std::size_t many);
  [[nodiscard]] Result<std::vector<Found>> walk_ended(const ports::Filter& filter,
                                                      const Place* after, std::size_t many);
  [[nodiscard]] Result<std::vector<Found>> walk_submitted(const Place* after, std::size_t many);
  [[nodiscard]] Result<ports::Uncarried::Answer> uncarried(const ports::Uncarried& verb);
  [[nodiscard]] Result<std::size_t> purge(const ports::Purge& verb);

  // Audits (audit.cpp).
  [[nodiscard]] Result<ports::AuditReport> audit(bool repair);
  [[nodiscard]] Result<void> audit_tasks(bool repair, ports::AuditReport& report);
  [[nodiscard]] Result<void> audit_lines(bool repair, ports::AuditReport& report);
  [[nodiscard]] Result<void> audit_line(const std::string& key, bool repair,
                                        ports::AuditReport& report);
  [[nodiscard]] Result<void> audit_groups(bool repair, ports::AuditReport& report);
  [[nodiscard]] Result<void> audit_strays(const char* kind, char letter, bool repair,
                                          ports::AuditReport& report);
  [[nodiscard]] Result<void> audit_counts(bool repair, ports::AuditReport& report);

  const Options options_;
  const std::string root_;  // "{hf}"
  Session session_;
  Pipeline pipeline_;
  std::vector<Planned> planned_;
  std::uint64_t call_ = 0;  // the number of what is sent next
  std::string call_text_;
  std::unordered_map<TaskId, Claimed> claims_;  // of what was claimed here, and not settled
};

}  // namespace holdfast::stores::redis
