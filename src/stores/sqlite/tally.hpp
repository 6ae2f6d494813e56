#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "core/states.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/names.hpp"

namespace holdfast::stores::sqlite {

// How many tasks each queue has in each state, how many were accepted, and how many were removed:
// so that counting costs the same at any size, and nothing can vanish unseen (N5). Kept in memory
// and written once a batch, in its transaction.
class Tally {
 public:
  static constexpr std::size_t kStates = 7;
  static constexpr int kRemoved = 10;  // + a state
  static constexpr int kAccepted = 20;

  explicit Tally(Database& database);

  void load();   // what the file says: at start, and after a rollback
  void write();  // what has changed since; in a transaction

  void accept(Names::Id queue) {
    add(queue, kAccepted, 1);
    add(queue, static_cast<int>(core::State::pending), 1);
  }
  void move(Names::Id queue, core::State from, core::State to, std::int64_t count = 1) {
    add(queue, static_cast<int>(from), -count);
    add(queue, static_cast<int>(to), count);
  }
  void remove(Names::Id queue, core::State from) {
    add(queue, static_cast<int>(from), -1);
    add(queue, kRemoved + static_cast<int>(from), 1);
  }
  [[nodiscard]] std::int64_t count(Names::Id queue, core::State state) const;

 private:
  struct Entry {
    std::int64_t count = 0;
    bool changed = false;
  };
  using Queue = std::array<Entry, kAccepted + 1>;

  void add(Names::Id queue, int what, std::int64_t by);

  Statement read_;
  Statement write_;
  std::map<Names::Id, Queue> queues_;
  // The queue of the last call: batches are mostly of one.
  Names::Id last_id_ = -1;
  Queue* last_ = nullptr;
};

}  // namespace holdfast::stores::sqlite
