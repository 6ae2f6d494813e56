// What every store must do, written against ports/store.hpp alone. A store passes by one line in a
// program of its own that has these cases linked in:
//
//   INSTANTIATE_TEST_SUITE_P(Redis, StoreConformance, ::testing::Values(kind), name_of_kind);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/rules.hpp"
#include "ports/store.hpp"

namespace holdfast::conformance {

using namespace std::chrono_literals;
using core::Event;
using core::State;
using core::Transition;
using ports::TaskRecord;
using Done = ports::Change::Done;

inline constexpr State kAllStates[] = {State::pending,   State::running, State::retrying,
                                       State::succeeded, State::failed,  State::dead,
                                       State::canceled};

struct StoreKind {
  // Opens one place where tasks are kept. The first call finds it empty; each further one, after
  // what the last one gave is gone, finds what was kept. The place goes with its last copy.
  using Place = std::function<Result<ports::OpenStore>()>;

  std::string name;  // letters and digits
  std::function<Place()> new_place;
  bool is_durable = true;  // false: what is closed is gone, so it is not opened again
};

inline std::ostream& operator<<(std::ostream& out, const StoreKind& kind) {
  return out << kind.name;
}

[[nodiscard]] inline std::string name_of_kind(const ::testing::TestParamInfo<StoreKind>& info) {
  return info.param.name;
}

// 2024-01-01, a whole second.
inline constexpr WallTime kStart{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}};

[[nodiscard]] TaskId id_of(std::uint64_t number);

// The queue and type that tasks have where a case does not care.
inline constexpr const char* kQueue = "mail";
inline constexpr const char* kType = "mail.send";

// A failure with everything that one can have.
[[nodiscard]] Failure full_failure(std::string message = "connection reset by peer");

// `move`, made from `task` at `now`, with every field of a transition different from before where
// the move can have it so. Stores decide nothing, so none of it needs to be what the rules say.
[[nodiscard]] Transition transition_of(const core::Move& move, const core::Task& task,
                                       WallTime now);

// Holds one open store. After every case it must be free of findings and its counters must be
// right: once more after it was closed and opened again.
class StoreConformance : public ::testing::TestWithParam<StoreKind> {
 protected:
  StoreConformance();
  void TearDown() override;

  // Asks the writer, or the reader where there is one and it can answer.
  template <class Verb>
  [[nodiscard]] Result<typename Verb::Answer> try_ask(Verb verb) {
    const bool is_query = ports::is_query(ports::Asked<Verb>{verb});
    return ports::ask(is_query && store_.reader ? *store_.reader : *store_.writer, std::move(verb));
  }

  // As try_ask; an error fails the case, and ends it.
  template <class Verb>
  typename Verb::Answer ask(Verb verb) {
    auto answer = try_ask(std::move(verb));
    if (!answer) throw std::runtime_error(answer.error().text());
    return std::move(*answer);
  }

  [[nodiscard]] bool is_durable() const { return GetParam().is_durable; }
  // Closes the store and opens it again; nothing where that would lose everything.
  void reopen();

  // A task with the next id, created and due now; change it before you submit it.
  [[nodiscard]] ports::NewTask new_task();
  TaskId submit(ports::NewTask task);  // must be accepted as a new one
  TaskId submit() { return submit(new_task()); }
  std::vector<TaskId> submit_many(int count);
  std::vector<Result<ports::Submit::Accepted>> submit_all(std::vector<ports::NewTask> tasks) {
    return ask(ports::Submit{std::move(tasks)});
  }

  ports::Claim::Answer claim(std::size_t max, const std::string& queue = kQueue);
  std::vector<TaskId> claim_ids(std::size_t max, const std::string& queue = kQueue);
  // Must be waiting, and the first to be claimed.
  TaskRecord claim_one(const std::string& queue = kQueue);

  [[nodiscard]] TaskRecord find(const TaskId& id);  // must be there
  [[nodiscard]] State state_of(const TaskId& id) { return find(id).task.state; }

  Done change(ports::Change::One one);
  // Moves `record` by the first such row of core::kMoves.
  Done move(const TaskRecord& record, Event event, State to, Fingerprint group = {},
            Failure failure = full_failure());
  // A new task brought into `state` by a short way that leads there. Of the queue "<state>", so
  // that it is not in the way of others.
  TaskRecord task_in(State state, Fingerprint group = {});

  // All pages of a list. Fails the case if a page is too long or there is no end.
  std::vector<TaskRecord> list(const ports::Filter& filter = {}, std::size_t limit = 100);
  std::vector<TaskId> list_ids(const ports::Filter& filter = {}, std::size_t limit = 100);
  [[nodiscard]] ports::QueueCounts counts(const std::string& queue = kQueue);

  void expect_sound();

  WallTime now_ = kStart;
  StoreKind::Place place_;
  ports::OpenStore store_;

 private:
  void expect_right_counts();
  void expect_right_groups();

  std::uint64_t submitted_ = 0;
};

// What went wrong; nothing if all went well, which an EXPECT_EQ then says.
template <class T>
[[nodiscard]] std::optional<ErrorCode> code_of(const Result<T>& answer) {
  return answer ? std::nullopt : std::optional(answer.error().code);
}

[[nodiscard]] std::vector<TaskId> ids_of(const std::vector<TaskRecord>& records);

}  // namespace holdfast::conformance
