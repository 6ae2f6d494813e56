#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast {

// A UUID of RFC 9562. Its order is that of its bytes and of its text; for version 7 that is the
// order in which one source made them.
class Uuid {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  constexpr Uuid() = default;  // the nil UUID: all zeros
  constexpr explicit Uuid(const Bytes& bytes) : bytes_(bytes) {}

  // "01912d68-783e-7a03-8467-5661c1243ad4", in either case. Any version is read. The error names
  // the first byte that is wrong.
  [[nodiscard]] static Result<Uuid> parse(std::string_view text);

  // 36 characters, lower case.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const Bytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] int version() const noexcept { return bytes_[6] >> 4; }
  // The millisecond that a version 7 UUID was made in; nothing for other versions, and for a time
  // that WallTime cannot hold.
  [[nodiscard]] std::optional<WallTime> time() const noexcept;

  auto operator<=>(const Uuid&) const = default;

 private:
  Bytes bytes_{};
};

// The name of a task: a UUID that cannot be mistaken for another thing's.
class TaskId {
 public:
  constexpr TaskId() = default;
  constexpr explicit TaskId(Uuid uuid) : uuid_(uuid) {}

  [[nodiscard]] static Result<TaskId> parse(std::string_view text);

  [[nodiscard]] std::string text() const { return uuid_.text(); }
  [[nodiscard]] const Uuid& uuid() const noexcept { return uuid_; }

  auto operator<=>(const TaskId&) const = default;

 private:
  Uuid uuid_;
};

}  // namespace holdfast

template <>
struct std::hash<holdfast::Uuid> {
  [[nodiscard]] std::size_t operator()(const holdfast::Uuid& uuid) const noexcept;
};

template <>
struct std::hash<holdfast::TaskId> {
  [[nodiscard]] std::size_t operator()(const holdfast::TaskId& id) const noexcept {
    return std::hash<holdfast::Uuid>()(id.uuid());
  }
};
