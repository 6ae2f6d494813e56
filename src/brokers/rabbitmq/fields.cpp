#include "brokers/rabbitmq/fields.hpp"

#include <limits>
#include <type_traits>

#include "brokers/rabbitmq/frames.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

using ports::Field;
using ports::FieldArray;
using ports::FieldTable;

std::unexpected<Error> cannot_carry(const std::string& what) {
  return fail(ErrorCode::invalid_argument, "publish", "RabbitMQ cannot carry " + what);
}

std::optional<Field> field_of(const amqp_field_value_t& from, int depth);

std::optional<FieldTable> table_from(const amqp_table_t& from, int depth) {
  if (depth > kDeepestField) return std::nullopt;
  FieldTable table;
  table.reserve(static_cast<std::size_t>(from.num_entries));
  for (int at = 0; at < from.num_entries; ++at) {
    auto field = field_of(from.entries[at].value, depth);
    if (!field) return std::nullopt;
    table.emplace_back(std::string(text_of(from.entries[at].key)), std::move(*field));
  }
  return table;
}

std::optional<FieldArray> array_from(const amqp_array_t& from, int depth) {
  if (depth > kDeepestField) return std::nullopt;
  FieldArray array;
  array.reserve(static_cast<std::size_t>(from.num_entries));
  for (int at = 0; at < from.num_entries; ++at) {
    auto field = field_of(from.entries[at], depth);
    if (!field) return std::nullopt;
    array.push_back(std::move(*field));
  }
  return array;
}

std::optional<Field> field_of(const amqp_field_value_t& from, int depth) {
  const auto& value = from.value;
  switch (from.kind) {
    case AMQP_FIELD_KIND_BOOLEAN: return Field(Field::Value(value.boolean != 0));
    case AMQP_FIELD_KIND_I8: return Field(Field::Value(value.i8));
    case AMQP_FIELD_KIND_U8: return Field(Field::Value(value.u8));
    case AMQP_FIELD_KIND_I16: return Field(Field::Value(value.i16));
    case AMQP_FIELD_KIND_U16: return Field(Field::Value(value.u16));
    case AMQP_FIELD_KIND_I32: return Field(Field::Value(value.i32));
    case AMQP_FIELD_KIND_U32: return Field(Field::Value(value.u32));
    case AMQP_FIELD_KIND_I64: return Field(Field::Value(value.i64));
    case AMQP_FIELD_KIND_U64: return Field(Field::Value(value.u64));
    case AMQP_FIELD_KIND_F32: return Field(Field::Value(value.f32));
    case AMQP_FIELD_KIND_F64: return Field(Field::Value(value.f64));
    case AMQP_FIELD_KIND_DECIMAL:
      return Field(Field::Value(Field::Decimal{value.decimal.decimals, value.decimal.value}));
    case AMQP_FIELD_KIND_UTF8: return Field(std::string(text_of(value.bytes)));
    case AMQP_FIELD_KIND_BYTES:
      return Field(Field::Value(Field::Bytes{std::string(text_of(value.bytes))}));
    case AMQP_FIELD_KIND_TIMESTAMP: return Field(Field::Value(Field::Time{value.u64}));
    case AMQP_FIELD_KIND_ARRAY: {
      auto array = array_from(value.array, depth + 1);
      return array ? std::optional(Field(Field::Value(std::move(*array)))) : std::nullopt;
    }
    case AMQP_FIELD_KIND_TABLE: {
      auto table = table_from(value.table, depth + 1);
      return table ? std::optional(Field(Field::Value(std::move(*table)))) : std::nullopt;
    }
    default: return Field();  // void, and nothing else passes librabbitmq's decoder
  }
}

amqp_field_value_t kind(amqp_field_value_kind_t kind) {
  amqp_field_value_t value{};
  value.kind = static_cast<std::uint8_t>(kind);
  return value;
}

using WireValue = decltype(amqp_field_value_t::value);

template <class Member, class From>
Result<amqp_field_value_t> with(amqp_field_value_kind_t of, Member WireValue::* member, From from) {
  auto to = kind(of);
  to.value.*member = from;
  return to;
}

}  // namespace

Result<amqp_table_t> TableForWire::table_of(const FieldTable& fields, int depth) {
  if (depth > kDeepestField) return cannot_carry("headers nested so deep");
  auto& entries = tables_.emplace_back();
  entries.reserve(fields.size());
  for (const auto& [name, field] : fields) {
    if (name.size() > 255) return cannot_carry("a header with a name longer than 255 bytes");
    auto value = value_of(field, depth);
    if (!value) return std::unexpected(value.error());
    entries.push_back({bytes_of(name), *value});
  }
  return amqp_table_t{static_cast<int>(entries.size()), entries.data()};
}

Result<amqp_array_t> TableForWire::array_of(const FieldArray& fields, int depth) {
  if (depth > kDeepestField) return cannot_carry("headers nested so deep");
  auto& entries = arrays_.emplace_back();
  entries.reserve(fields.size());
  for (const Field& field : fields) {
    auto value = value_of(field, depth);
    if (!value) return std::unexpected(value.error());
    entries.push_back(*value);
  }
  return amqp_array_t{static_cast<int>(entries.size()), entries.data()};
}

Result<amqp_field_value_t> TableForWire::value_of(const Field& field, int depth) {
  struct Visitor {
    TableForWire& self;
    int depth;

    Result<amqp_field_value_t> operator()(std::monostate) const {
      return kind(AMQP_FIELD_KIND_VOID);
    }
    Result<amqp_field_value_t> operator()(bool from) const {
      return with(AMQP_FIELD_KIND_BOOLEAN, &WireValue::boolean, from ? 1 : 0);
    }
    Result<amqp_field_value_t> operator()(std::int8_t from) const {
      return with(AMQP_FIELD_KIND_I8, &WireValue::i8, from);
    }
    Result<amqp_field_value_t> operator()(std::uint8_t from) const {
      return with(AMQP_FIELD_KIND_U8, &WireValue::u8, from);
    }
    Result<amqp_field_value_t> operator()(std::int16_t from) const {
      return with(AMQP_FIELD_KIND_I16, &WireValue::i16, from);
    }
    Result<amqp_field_value_t> operator()(std::uint16_t from) const {
      return with(AMQP_FIELD_KIND_U16, &WireValue::u16, from);
    }
    Result<amqp_field_value_t> operator()(std::int32_t from) const {
      return with(AMQP_FIELD_KIND_I32, &WireValue::i32, from);
    }
    Result<amqp_field_value_t> operator()(std::uint32_t from) const {
      return with(AMQP_FIELD_KIND_U32, &WireValue::u32, from);
    }
    Result<amqp_field_value_t> operator()(std::int64_t from) const {
      return with(AMQP_FIELD_KIND_I64, &WireValue::i64, from);
    }
    // RabbitMQ knows no such type, and closes the whole connection when it meets one.
    Result<amqp_field_value_t> operator()(std::uint64_t) const {
      return cannot_carry("an unsigned 64-bit number in a header");
    }
    Result<amqp_field_value_t> operator()(float from) const {
      return with(AMQP_FIELD_KIND_F32, &WireValue::f32, from);
    }
    Result<amqp_field_value_t> operator()(double from) const {
      return with(AMQP_FIELD_KIND_F64, &WireValue::f64, from);
    }
    Result<amqp_field_value_t> operator()(const Field::Decimal& from) const {
      return with(AMQP_FIELD_KIND_DECIMAL, &WireValue::decimal,
                  amqp_decimal_t{from.places, from.digits});
    }
    Result<amqp_field_value_t> operator()(const std::string& from) const {
      return with(AMQP_FIELD_KIND_UTF8, &WireValue::bytes, bytes_of(from));
    }
    Result<amqp_field_value_t> operator()(const Field::Bytes& from) const {
      return with(AMQP_FIELD_KIND_BYTES, &WireValue::bytes, bytes_of(from.bytes));
    }
    Result<amqp_field_value_t> operator()(const Field::Time& from) const {
      return with(AMQP_FIELD_KIND_TIMESTAMP, &WireValue::u64, from.seconds);
    }
    Result<amqp_field_value_t> operator()(const FieldArray& from) const {
      auto array = self.array_of(from, depth + 1);
      if (!array) return std::unexpected(array.error());
      return with(AMQP_FIELD_KIND_ARRAY, &WireValue::array, *array);
    }
    Result<amqp_field_value_t> operator()(const FieldTable& from) const {
      auto table = self.table_of(from, depth + 1);
      if (!table) return std::unexpected(table.error());
      return with(AMQP_FIELD_KIND_TABLE, &WireValue::table, *table);
    }
  };
  return std::visit(Visitor{*this, depth}, field.value);
}

Result<void> TableForWire::add(const FieldTable& fields) {
  auto table = table_of(fields, 1);
  if (!table) return std::unexpected(table.error());
  top_.insert(top_.end(), table->entries, table->entries + table->num_entries);
  return {};
}

void TableForWire::add(std::string_view name, std::int64_t value) {
  auto entry = kind(AMQP_FIELD_KIND_I64);
  entry.value.i64 = value;
  top_.push_back({bytes_of(name), entry});
}

amqp_table_t TableForWire::table() {
  return {static_cast<int>(top_.size()), top_.data()};
}

void TableForWire::clear() {
  top_.clear();
  tables_.clear();
  arrays_.clear();
}

std::optional<FieldTable> fields_of(const amqp_table_t& table) {
  return table_from(table, 1);
}

namespace {

// Every property that is a short text, in one place for both directions.
template <class Properties, class Message>
void each_text(Properties& properties, Message& message, auto&& each) {
  each(AMQP_BASIC_CONTENT_TYPE_FLAG, properties.content_type, message.content_type);
  each(AMQP_BASIC_CONTENT_ENCODING_FLAG, properties.content_encoding, message.content_encoding);
  each(AMQP_BASIC_CORRELATION_ID_FLAG, properties.correlation_id, message.correlation_id);
  each(AMQP_BASIC_REPLY_TO_FLAG, properties.reply_to, message.reply_to);
  each(AMQP_BASIC_EXPIRATION_FLAG, properties.expiration, message.expiration);
  each(AMQP_BASIC_MESSAGE_ID_FLAG, properties.message_id, message.message_id);
  each(AMQP_BASIC_TYPE_FLAG, properties.type, message.type);
  each(AMQP_BASIC_USER_ID_FLAG, properties.user_id, message.user_id);
  each(AMQP_BASIC_APP_ID_FLAG, properties.app_id, message.app_id);
  each(AMQP_BASIC_CLUSTER_ID_FLAG, properties.cluster_id, message.cluster_id);
}

template <class Properties, class Message>
void each_number(Properties& properties, Message& message, auto&& each) {
  each(AMQP_BASIC_DELIVERY_MODE_FLAG, properties.delivery_mode, message.delivery_mode);
  each(AMQP_BASIC_PRIORITY_FLAG, properties.priority, message.priority);
  each(AMQP_BASIC_TIMESTAMP_FLAG, properties.timestamp, message.timestamp);
}

}  // namespace

amqp_basic_properties_t properties_of(const ports::Message& message) {
  amqp_basic_properties_t properties{};
  each_text(properties, message, [&](amqp_flags_t flag, amqp_bytes_t& to, const auto& from) {
    if (!from) return;
    properties._flags |= flag;
    to = bytes_of(*from);
  });
  each_number(properties, message, [&](amqp_flags_t flag, auto& to, const auto& from) {
    if (!from) return;
    properties._flags |= flag;
    to = *from;
  });
  return properties;
}

bool read_properties(const amqp_basic_properties_t& properties, ports::Message& into) {
  each_text(properties, into, [&](amqp_flags_t flag, const amqp_bytes_t& from, auto& to) {
    if (properties._flags & flag) to = std::string(text_of(from));
  });
  each_number(properties, into, [&](amqp_flags_t flag, auto from, auto& to) {
    if (properties._flags & flag) to = from;
  });
  if (!(properties._flags & AMQP_BASIC_HEADERS_FLAG)) return true;
  auto headers = fields_of(properties.headers);
  if (!headers) return false;
  into.headers = std::move(*headers);
  return true;
}

}  // namespace holdfast::brokers::rabbitmq
