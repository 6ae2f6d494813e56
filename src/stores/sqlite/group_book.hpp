#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "ports/groups.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/names.hpp"

namespace holdfast::stores::sqlite {

// Who comes to groups of failures (N1) and who leaves them: gathered in memory and written once a
// batch, in its transaction. When a thousand tasks die of one cause, a few rows are written.
class GroupBook {
 public:
  struct Member {
    core::State state{};
    std::int64_t fingerprint = 0;
    Names::Id queue = 0;
    Names::Id type = 0;
  };

  explicit GroupBook(Database& database);

  // `example`: for a group that is new with it.
  void enter(const Member& member, WallTime when, FailureKind by, std::string_view example);
  void leave(const Member& member);

  void write();                                // what was gathered since; in a transaction
  void forget() noexcept { groups_.clear(); }  // after a rollback

 private:
  using Key = std::pair<core::State, std::int64_t>;
  using Part = std::pair<Names::Id, Names::Id>;  // queue and type
  // One of both, so that it does not matter who was first: a group that is left by all begins anew
  // with the next who comes.
  struct Gathered {
    bool leaves = false;
    std::int64_t count = 0;
    WallTime first_seen{};
    WallTime last_seen{};
    std::string example = {};
    std::array<std::int64_t, 3> came_by{};
    std::map<Part, std::int64_t> parts = {};
    std::map<std::int64_t, std::int64_t> slots = {};
  };

  Gathered& gathered(const Member& member, bool leaves);
  void write(const Key& key, const Gathered& group);
  void write_arrivals(const Key& key, const Gathered& group);
  void write_departures(const Key& key, const Gathered& group);

  Database& database_;
  Statement join_group_;
  Statement join_part_;
  Statement join_slot_;
  Statement new_slot_;
  Statement prune_slots_;
  Statement shrink_group_;
  Statement shrink_part_;
  Statement drop_part_;
  Statement drop_group_;
  Statement drop_parts_;
  Statement drop_slots_;
  std::map<Key, Gathered> groups_;
};

}  // namespace holdfast::stores::sqlite
