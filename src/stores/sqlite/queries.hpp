#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ports/store.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/names.hpp"

namespace holdfast::stores::sqlite {

struct Cursor;

// What can be asked without changing anything: by the reader's connection, and by the writer's
// within a batch. The file's tables are told of in schema.cpp.
class Queries {
 public:
  Queries(Database& database, Names& names);
  ~Queries();

  [[nodiscard]] ports::Find::Answer answer(const ports::Find& verb);
  [[nodiscard]] Result<ports::List::Answer> answer(const ports::List& verb);
  [[nodiscard]] ports::Count::Answer answer(const ports::Count& verb);
  [[nodiscard]] Result<ports::Groups::Answer> answer(const ports::Groups& verb);
  [[nodiscard]] Result<ports::Uncarried::Answer> answer(const ports::Uncarried& verb);
  [[nodiscard]] ports::Notes::Answer answer(const ports::Notes& verb);

  // What record() reads, of `task t`, in this order; the payload may follow as column 18.
  static constexpr const char* kTaskColumns =
      "t.seq, t.id, t.queue, t.type, t.priority, t.created, t.state, t.token, t.due, t.changed,"
      " t.attempts, t.crashes, t.deferrals, t.replays, t.previous_wait, t.deadline,"
      " t.own_attempts, t.own_timeout";
  // A select of these columns, with `rest` behind them: more columns, and where from.
  [[nodiscard]] static std::string select_task(std::string_view rest) {
    return std::string("select ").append(kTaskColumns).append(rest);
  }

  // The wide row alone: right for a task that waits.
  [[nodiscard]] ports::TaskRecord record(const Row& row);
  [[nodiscard]] std::optional<Failure> last_failure(std::int64_t seq);

 private:
  struct Statements;
  class Lister;

  void list_waiting(const ports::List& verb, const Cursor& from, Lister& lister);
  void list_others(const ports::List& verb, const Cursor& from, Lister& lister);

  // Where the task stands, if it does not wait, and its last failure.
  void place(std::int64_t seq, ports::TaskRecord& record);
  bool place_running(std::int64_t seq, ports::TaskRecord& record);
  bool place_ended(std::int64_t seq, ports::TaskRecord& record);
  [[nodiscard]] std::vector<ports::PastAttempt> attempts(std::int64_t seq);
  [[nodiscard]] std::optional<WallTime> oldest_due(Names::Id queue);
  void tell_more(ports::Group& group);  // its parts and its trend

  Names& names_;
  std::unique_ptr<Statements> statements_;
};

// Failures are kept in columns kind, http_status, exit_code, os_error, retry_after, message.
[[nodiscard]] std::optional<Failure> failure_of(const Row& row, int first_column);

[[nodiscard]] TaskId task_id(std::string_view bytes) noexcept;
[[nodiscard]] inline std::string_view id_bytes(const TaskId& id) noexcept {
  return {reinterpret_cast<const char*>(id.uuid().bytes().data()), id.uuid().bytes().size()};
}

}  // namespace holdfast::stores::sqlite
