#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// A message as brokers carry it. The words are AMQP's, whose properties others lack in part; what a
// broker cannot carry it says when it is asked to publish.
namespace holdfast::ports {

struct Field;
using FieldArray = std::vector<Field>;
using FieldTable = std::vector<std::pair<std::string, Field>>;  // in the order they came

// The value of a header, with the type and width it was sent with: a copy must be the same to
// whoever wrote the original, and a number that comes back wider is another value to some clients.
struct Field {
  struct Decimal {
    std::uint8_t places = 0;
    std::uint32_t digits = 0;
    bool operator==(const Decimal&) const = default;
  };
  struct Bytes {
    std::string bytes;
    bool operator==(const Bytes&) const = default;
  };
  struct Time {
    std::uint64_t seconds = 0;  // since 1970
    bool operator==(const Time&) const = default;
  };
  using Value =
      std::variant<std::monostate, bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                   std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double, Decimal,
                   std::string, Bytes, Time, FieldArray, FieldTable>;

  Field() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): headers read as name and value
  Field(Value from) : value(std::move(from)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Field(std::string from) : value(std::move(from)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Field(const char* from) : value(std::string(from)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Field(std::int64_t from) : value(from) {}

  Value value;

  bool operator==(const Field& other) const;
};

struct Message {
  std::string body;
  FieldTable headers;
  std::optional<std::string> content_type = {};
  std::optional<std::string> content_encoding = {};
  std::optional<std::uint8_t> delivery_mode = {};  // 2: persistent
  std::optional<std::uint8_t> priority = {};
  std::optional<std::string> correlation_id = {};
  std::optional<std::string> reply_to = {};
  std::optional<std::string> expiration = {};
  std::optional<std::string> message_id = {};
  std::optional<std::uint64_t> timestamp = {};  // seconds since 1970
  std::optional<std::string> type = {};
  std::optional<std::string> user_id = {};
  std::optional<std::string> app_id = {};
  std::optional<std::string> cluster_id = {};

  bool operator==(const Message&) const = default;
};

// Nothing: there is none of that name, or it is of another type.
[[nodiscard]] const Field* find_field(const FieldTable& table, std::string_view name) noexcept;
[[nodiscard]] std::optional<std::string_view> text_of(const FieldTable& table,
                                                      std::string_view name) noexcept;
// Of any width.
[[nodiscard]] std::optional<std::int64_t> number_of(const FieldTable& table,
                                                    std::string_view name) noexcept;
// In place of one of the same name, or at the end.
void set_field(FieldTable& table, std::string_view name, Field field);
void remove_field(FieldTable& table, std::string_view name);

// About so many bytes.
[[nodiscard]] std::uint64_t size_in_memory(const Message& message) noexcept;

// One time that a message died, as brokers write it down in its header x-death: newest first, one
// entry for each queue and reason.
struct Death {
  std::string queue;
  std::string reason;  // rejected, expired, maxlen, delivery_limit
  std::int64_t count = 0;
  std::string exchange;  // that it had been published to; empty: the default one
  std::vector<std::string> routing_keys;
  std::optional<std::uint64_t> time;                    // seconds since 1970
  std::optional<std::string> original_expiration = {};  // which the broker has taken off it then
};

// What of x-death can be read; entries that are not what a broker writes are left out.
[[nodiscard]] std::vector<Death> deaths_of(const Message& message);

}  // namespace holdfast::ports
