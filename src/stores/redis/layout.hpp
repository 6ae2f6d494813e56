#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "ports/store.hpp"
#include "stores/redis/word_list.hpp"

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

// Of what one question asks for at most: the numbers of Redis and of its scripts do not go on for
// ever.
inline constexpr std::size_t kMostLimit = 1'000'000'000;

// As scripts read it.
void add_number(WordList& words, std::int64_t number);

// The record of a new task as two words: up to its number and queue, which the script knows, and
// from there on.
void append_new_record(WordList& words, const ports::NewTask& task);

// How a change is handed to its script.
void append_change(std::string& bytes, const ports::Change::One& one);

// What was known of a task when it was claimed, so that its settlement can be worked out here.
struct Claimed {
  core::Token token = {};  // of the claim
  std::string head = {};   // as it waited: kHeadBytes
  std::string attempts = {};
  std::string type = {};
  std::shared_ptr<const std::string> owner = {};  // of one call, all have the same
  WallTime since{};
};

// Where a task goes by such a settlement: what goes the same way is handed over together.
struct Course {
  std::uint64_t queue = 0;    // its number
  std::uint8_t priority = 0;  // as in keys
  core::State to{};
  bool again = false;  // to be claimed again; its priority does not matter then
  std::optional<Fingerprint> group = {};
  // What is counted of it in its group.
  FailureKind came_by = {};
  std::string_view type = {};  // as long as the claim is known

  bool operator==(const Course&) const = default;
};
[[nodiscard]] Course course_of(const ports::Change::One& one, const Claimed& claimed);
// Before those that take it: queue, priority, state, how many, group, and an example for it.
inline constexpr std::size_t kCourseWords = 6;
void append_course(WordList& words, const Course& course, std::size_t many,
                   std::string_view example);
// And for each of them: five words that the script need not take apart.
inline constexpr std::size_t kSettlementWords = 5;
void append_settlement(WordList& words, const ports::Change::One& one, const Claimed& claimed);
// The claim when it was claimed again, by the words of its settlement, of which `first` is one.
void claim_again(Claimed& claimed, const WordList& words, std::size_t first);
// No room for one more attempt: an old one has to go, which its script knows how to do.
[[nodiscard]] bool has_all_attempts(const Claimed& claimed) noexcept;
// Of a group that is new with it.
[[nodiscard]] std::string_view example_of(const ports::Change::One& one);

// The name of a group in keys: see group_of in lua/grouping.lua.
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
