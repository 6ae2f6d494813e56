#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "ports/store.hpp"

// How tasks are kept in Redis, byte by byte: lua/common.lua says where everything stands, and this
// is the same for C++.
namespace holdfast::stores::redis {

// Before the texts: what scripts change in place.
inline constexpr std::size_t kHeadBytes = 113;

// To the microsecond; the ends of what can be told stay what they are.
[[nodiscard]] std::int64_t microseconds(WallTime time) noexcept;
[[nodiscard]] WallTime wall_time(std::int64_t microseconds) noexcept;
[[nodiscard]] WallTime wall_time(std::string_view eight_bytes) noexcept;

[[nodiscard]] std::string_view id_bytes(const TaskId& id) noexcept;  // as long as the id is there
[[nodiscard]] TaskId task_id(std::string_view sixteen_bytes) noexcept;

// Big-endian, behind what is there.
void append_1(std::string& bytes, std::uint64_t value);
void append_2(std::string& bytes, std::uint64_t value);
void append_4(std::string& bytes, std::uint64_t value);
void append_8(std::string& bytes, std::uint64_t value);
[[nodiscard]] std::uint64_t read_big_endian(std::string_view bytes) noexcept;

// The record of a new task, up to its number and queue, which the script knows, and from there on.
struct NewRecord {
  std::string before;
  std::string after;
};
[[nodiscard]] NewRecord new_record(const ports::NewTask& task);

// How a change is handed to its script.
void append_change(std::string& bytes, const ports::Change::One& one);

// What was known of a task when it was claimed, so that its settlement can be worked out here.
struct Claimed {
  core::Token token = {};  // of the claim
  std::string head = {};   // as it waited: kHeadBytes
  std::string attempts = {};
  std::string owner = {};
  WallTime since{};
};

// How such a settlement is handed to its script; and where the task goes by it: what goes the
// same way is handed over together.
struct Course {
  std::string queue = {};     // its number
  std::string priority = {};  // as in keys; empty: it is to be claimed again
  std::string to = {};
  std::string group = {};  // state and fingerprint; empty: none

  bool operator==(const Course&) const = default;
};
[[nodiscard]] Course course_of(const ports::Change::One& one, const Claimed& claimed);
// Five words: text that the script need not take apart.
inline constexpr std::size_t kSettlementWords = 5;
void append_settlement(std::vector<std::string>& words, const ports::Change::One& one,
                       const Claimed& claimed);
// The claim that it has when it was claimed again, from the words that were handed over.
[[nodiscard]] Claimed claimed_again(std::span<const std::string> words, const Claimed& before);
// No room for one more attempt: an old one has to go, which its script knows how to do.
[[nodiscard]] bool has_all_attempts(const Claimed& claimed) noexcept;
// Of a group that is new with it.
[[nodiscard]] std::string_view example_of(const ports::Change::One& one);

// The name of a group in keys: see group_of in lua/common.lua.
[[nodiscard]] std::string group_name(core::State state, Fingerprint fingerprint);

// What stands in a record beside what is told of it.
struct Kept {
  ports::TaskRecord record = {};
  std::int64_t number = 0;
  std::optional<core::Token> carried = {};  // with which a broker had a message for it
};

// A record as it was read. `payload` may have been left out. Nothing: it cannot be ours.
[[nodiscard]] std::optional<Kept> read_record(const TaskId& id, std::string_view bytes);

// What its attempts tell: each of them, the last failure, and the result of a task that has
// succeeded. False: it cannot be ours.
[[nodiscard]] bool read_attempts(std::string_view bytes, ports::TaskRecord& record);
// The last failure alone.
[[nodiscard]] bool read_last_failure(std::string_view bytes, ports::TaskRecord& record);

}  // namespace holdfast::stores::redis
