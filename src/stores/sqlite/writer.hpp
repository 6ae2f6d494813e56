#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/log.hpp>

#include "ports/store.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/group_book.hpp"
#include "stores/sqlite/names.hpp"
#include "stores/sqlite/queries.hpp"
#include "stores/sqlite/tally.hpp"

namespace holdfast::stores::sqlite {

// The one connection that writes. A batch is one transaction, with one sync of the disk. If it
// fails, it is taken back whole and carried out again request by request, so that one that cannot
// be carried out takes no other with it.
//
// What is claimed is also held in memory, since only this process can claim: a settlement then
// reads nothing. Memory follows the file: after a rollback it is read anew.
class Writer final : public ports::Store {
 public:
  Writer(Database database, Logger log, int checkpoint_pages);
  ~Writer() override;

  void carry_out(std::span<ports::Request> batch) override;

 private:
  struct Claimed {
    std::int64_t seq = 0;
    Names::Id queue = 0;
    Names::Id type = 0;
    std::int64_t rank = 0;
    core::Token token;
    Names::Id owner = 0;
    std::int64_t started = 0;
  };
  struct QueueSettings {
    bool paused = false;
    std::int64_t concurrency = 0;
    std::int64_t backlog = 0;
  };
  // A task as the wide row has it, for changes that do not begin with a claim.
  struct Known {
    std::int64_t seq = 0;
    Names::Id queue = 0;
    Names::Id type = 0;
    core::State state{};
    core::Token token;
    std::int64_t rank = 0;
    std::int64_t due = 0;
    std::optional<std::int64_t> fingerprint;
  };
  struct Statements;

  // One transaction over these requests; throws what went wrong, with everything taken back.
  void transact(std::span<ports::Request> requests);
  void take_back(std::span<ports::Request> batch, const Error& error);
  void roll_back() noexcept;
  [[nodiscard]] std::string operation() const;  // of an error: it names the file
  void load();
  void write_counters();  // what is kept in memory and written once a batch
  void checkpoint_when_due();
  void refuse(std::span<ports::Request> requests, const Error& error);

  ports::Submit::Answer answer(const ports::Submit& verb);
  Result<ports::Submit::Accepted> accept(const ports::NewTask& task);
  [[nodiscard]] std::optional<Error> refusal_of(Names::Id queue);  // if it is full
  Result<ports::Submit::Accepted> same_as(std::int64_t seq, const ports::NewTask& task);

  ports::Claim::Answer answer(const ports::Claim& verb);
  void claim_rank(const ports::Claim& verb, Names::Id queue, std::int64_t rank, std::size_t most,
                  ports::Claim::Answer& answer);

  ports::Claim::Answer claim_only(const ports::Claim& verb, Names::Id queue, std::size_t room);
  // A row of `take`: the record as it runs from now on, remembered as claimed.
  ports::TaskRecord begin(const Row& row, const ports::Claim& verb, Names::Id queue,
                          std::int64_t rank, Names::Id owner);

  ports::Carried::Answer answer(const ports::Carried& verb);
  ports::Withdraw::Answer answer(const ports::Withdraw& verb);
  [[nodiscard]] std::optional<std::int64_t> carried_token(std::int64_t seq);

  ports::Renew::Answer answer(const ports::Renew& verb);
  ports::Overdue::Answer answer(const ports::Overdue& verb);

  Result<ports::Change::Answer> answer(const ports::Change& verb);
  ports::Change::Done change_running(const ports::Change::One& change);
  ports::Change::Done change_other(const ports::Change::One& change);
  struct Again {
    Claimed claim;
    std::size_t place = 0;  // in the verb
  };
  ports::Change::Done put_by(const ports::Change::One& change, std::vector<Again>& again);
  bool claim_again(const ports::Change::One& change, Claimed claim);  // false: it waits
  [[nodiscard]] bool is_blocked(Names::Id queue) const;
  std::optional<Known> known(const TaskId& id);
  void wait_again(std::int64_t seq, const core::Transition& transition);
  // `task`: Claimed or Known.
  void put_to_wait(const auto& task, const core::Transition& transition);
  void join_waiting(const auto& task, const core::Transition& transition);
  void put_aside(const auto& task, const ports::Change::One& change);
  void park(const auto& task, const ports::Change::One& change);
  void remember_attempt(const Claimed& claim, const core::Transition& transition);
  void remember_note(std::int64_t seq, const ports::Change::One& change);
  void remember(std::int64_t seq, core::Token token, std::int64_t started, Names::Id owner,
                const core::Transition& transition);

  Result<ports::Purge::Answer> answer(const ports::Purge& verb);
  Result<ports::Configure::Answer> answer(const ports::Configure& verb);
  Result<ports::Jot::Answer> answer(const ports::Jot& verb);

  // Constant.
  Logger log_;
  const int checkpoint_pages_;

  Database database_;
  std::unique_ptr<Statements> statements_;
  Names names_;
  Tally tally_;
  GroupBook groups_;
  Queries queries_;
  std::unordered_map<TaskId, Claimed> claimed_;
  std::unordered_map<Names::Id, QueueSettings> queues_;
  std::int64_t last_seq_ = 0;
  std::optional<Error> broken_;  // set once; everything is refused from then on
};

}  // namespace holdfast::stores::sqlite
