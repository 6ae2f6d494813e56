#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>

#include <holdfast/result.hpp>

#include "ports/message.hpp"

// Messages as AMQP has them, and back: every property and every type of a header's value as it was.
namespace holdfast::brokers::rabbitmq {

// Deeper than people nest, and shallow enough for the stack of any thread.
inline constexpr int kDeepestField = 500;

// A table in librabbitmq's form. It points into what it was made from, which must outlive it.
class TableForWire {
 public:
  // Fails with invalid_argument for what RabbitMQ cannot carry: names longer than 255 bytes, tables
  // nested too deep, unsigned 64-bit numbers.
  [[nodiscard]] Result<void> add(const ports::FieldTable& fields);
  void add(std::string_view name, std::int64_t value);

  [[nodiscard]] amqp_table_t table();
  // To be used for another.
  void clear();

 private:
  [[nodiscard]] Result<amqp_table_t> table_of(const ports::FieldTable& fields, int depth);
  [[nodiscard]] Result<amqp_array_t> array_of(const ports::FieldArray& fields, int depth);
  [[nodiscard]] Result<amqp_field_value_t> value_of(const ports::Field& field, int depth);

  std::vector<amqp_table_entry_t> top_;
  // Where nested ones lie: what is pointed to must not move.
  std::deque<std::vector<amqp_table_entry_t>> tables_;
  std::deque<std::vector<amqp_field_value_t>> arrays_;
};

// Nothing: nested too deep.
[[nodiscard]] std::optional<ports::FieldTable> fields_of(const amqp_table_t& table);

// Everything but the headers, which the caller adds. Points into the message.
[[nodiscard]] amqp_basic_properties_t properties_of(const ports::Message& message);

// Everything but the body. Headers that are nested too deep are left out: `false`.
[[nodiscard]] bool read_properties(const amqp_basic_properties_t& properties, ports::Message& into);

}  // namespace holdfast::brokers::rabbitmq
