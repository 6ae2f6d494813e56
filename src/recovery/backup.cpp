#include "recovery/backup.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <openssl/evp.h>

#include "core/utf8.hpp"
#include "wire/base64.hpp"
#include "wire/json_syntax.hpp"
#include "wire/json_view.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::recovery {
namespace {

using ports::Field;
using ports::FieldArray;
using ports::FieldTable;
using wire::JsonKind;
using wire::JsonView;
using wire::JsonWriter;

constexpr std::string_view kBackupStart = R"({"holdfast_backup":)";
constexpr std::string_view kBeforeSum = R"(,"sum":")";
constexpr std::string_view kAfterSum = R"("})";
constexpr std::size_t kMostBackupDepth = 2000;  // of brackets: a broker's headers nest 500 deep

void end_line(JsonWriter& writer, std::string& out, std::size_t begin) {
  const std::string sum = to_text(backup_checksum(std::string_view(out).substr(begin)));
  writer.key("sum").plain(sum).end_object();
  out += '\n';
}

// Writing.

std::string base64_of(std::string_view bytes) {
  std::string text;
  wire::append_base64(text, bytes);
  return text;
}

void write_text(JsonWriter& writer, std::string_view text) {
  if (is_utf8(text)) {
    writer.text(text);
  } else {
    writer.begin_array().plain(base64_of(text)).end_array();
  }
}

// The name of a number's type: "i8" to "u64".
template <std::integral Number>
constexpr std::string_view number_name() {
  constexpr std::array<std::string_view, 4> kSigned = {"i8", "i16", "i32", "i64"};
  constexpr std::array<std::string_view, 4> kUnsigned = {"u8", "u16", "u32", "u64"};
  constexpr auto kAt = static_cast<std::size_t>(std::countr_zero(sizeof(Number)));
  return std::signed_integral<Number> ? kSigned.at(kAt) : kUnsigned.at(kAt);
}

template <class Bits>
std::string hex_of(Bits bits) {
  std::array<char, 2 * sizeof bits> digits{};
  digits.fill('0');
  std::array<char, 2 * sizeof bits> short_text{};
  const auto end =
      std::to_chars(short_text.data(), short_text.data() + short_text.size(), bits, 16);
  const auto size = static_cast<std::size_t>(end.ptr - short_text.data());
  std::copy(short_text.data(), end.ptr, digits.data() + (digits.size() - size));
  return {digits.data(), digits.size()};
}

void write_table(JsonWriter& writer, const FieldTable& table);

void write_field(JsonWriter& writer, const Field& field) {
  writer.begin_array();
  std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          writer.plain("null");
        } else if constexpr (std::is_same_v<T, bool>) {
          writer.plain("bool").boolean(value);
        } else if constexpr (std::is_integral_v<T>) {
          writer.plain(number_name<T>()).number(value);
        } else if constexpr (std::is_same_v<T, float>) {
          writer.plain("f32").plain(hex_of(std::bit_cast<std::uint32_t>(value)));
        } else if constexpr (std::is_same_v<T, double>) {
          writer.plain("f64").plain(hex_of(std::bit_cast<std::uint64_t>(value)));
        } else if constexpr (std::is_same_v<T, Field::Decimal>) {
          writer.plain("decimal").number(value.places).number(value.digits);
        } else if constexpr (std::is_same_v<T, std::string>) {
          writer.plain("text");
          write_text(writer, value);
        } else if constexpr (std::is_same_v<T, Field::Bytes>) {
          writer.plain("bytes").plain(base64_of(value.bytes));
        } else if constexpr (std::is_same_v<T, Field::Time>) {
          writer.plain("time").number(value.seconds);
        } else if constexpr (std::is_same_v<T, FieldArray>) {
          writer.plain("array").begin_array();
          for (const Field& one : value)
            write_field(writer, one);
          writer.end_array();
        } else {
          writer.plain("table");
          write_table(writer, value);
        }
      },
      field.value);
  writer.end_array();
}

void write_table(JsonWriter& writer, const FieldTable& table) {
  writer.begin_array();
  for (const auto& [name, field] : table) {
    writer.begin_array();
    write_text(writer, name);
    write_field(writer, field);
    writer.end_array();
  }
  writer.end_array();
}

// Every property with its name.
template <class Message, class Use>
void for_each_property(Message& message, Use use) {
  use("content_type", message.content_type);
  use("content_encoding", message.content_encoding);
  use("delivery_mode", message.delivery_mode);
  use("priority", message.priority);
  use("correlation_id", message.correlation_id);
  use("reply_to", message.reply_to);
  use("expiration", message.expiration);
  use("message_id", message.message_id);
  use("timestamp", message.timestamp);
  use("type", message.type);
  use("user_id", message.user_id);
  use("app_id", message.app_id);
  use("cluster_id", message.cluster_id);
}

// Reading. A line whose checksum is right is one of ours; it is read as carefully all the same.

std::optional<std::string> read_text(const JsonView& view) {
  if (view.kind() == JsonKind::string) return view.text();
  const auto parts = view.elements();
  if (parts.size() != 1 || parts[0].kind() != JsonKind::string) return std::nullopt;
  auto bytes = wire::parse_base64(parts[0].text());
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

template <class Number>
std::optional<Number> read_number(const JsonView& view, int base = 10) {
  const std::string text = view.text();
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

std::optional<FieldTable> read_table(const JsonView& view);
std::optional<Field> read_field(const JsonView& view);

template <std::integral Number>
bool try_number(std::string_view type, const JsonView& view, std::optional<Field>& field) {
  if (type != number_name<Number>()) return false;
  if (const auto number = read_number<Number>(view)) field = Field(Field::Value(*number));
  return true;
}

template <std::integral... Numbers>
bool try_numbers(std::string_view type, const JsonView& view, std::optional<Field>& field) {
  return (try_number<Numbers>(type, view, field) || ...);
}

template <class Real, class Bits>
std::optional<Field> read_real(const JsonView& view) {
  const auto bits = read_number<Bits>(view, 16);
  if (!bits) return std::nullopt;
  return Field(Field::Value(std::bit_cast<Real>(*bits)));
}

template <class Value>
std::optional<Field> field_of(std::optional<Value> value) {
  if (!value) return std::nullopt;
  return Field(Field::Value(*std::move(value)));
}

std::optional<FieldArray> read_array(const JsonView& view) {
  FieldArray fields;
  for (const JsonView& one : view.elements()) {
    auto field = read_field(one);
    if (!field) return std::nullopt;
    fields.push_back(*std::move(field));
  }
  return fields;
}

std::optional<Field> read_field(const JsonView& view) {
  const auto parts = view.elements();
  if (parts.empty()) return std::nullopt;
  const std::string type = parts[0].text();
  if (type == "null") return Field();
  if (parts.size() == 3 && type == "decimal") {
    const auto places = read_number<std::uint8_t>(parts[1]);
    const auto digits = read_number<std::uint32_t>(parts[2]);
    if (!places || !digits) return std::nullopt;
    return Field(Field::Value(Field::Decimal{.places = *places, .digits = *digits}));
  }
  if (parts.size() != 2) return std::nullopt;
  const JsonView& value = parts[1];
  std::optional<Field> field;
  if (try_numbers<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                  std::uint32_t, std::int64_t, std::uint64_t>(type, value, field)) {
    return field;
  }
  if (type == "bool") return Field(Field::Value(value.text() == "true"));
  if (type == "f32") return read_real<float, std::uint32_t>(value);
  if (type == "f64") return read_real<double, std::uint64_t>(value);
  if (type == "text") return field_of(read_text(value));
  if (type == "array") return field_of(read_array(value));
  if (type == "table") return field_of(read_table(value));
  if (type == "bytes") {
    auto bytes = wire::parse_base64(value.text());
    if (!bytes) return std::nullopt;
    return Field(Field::Value(Field::Bytes{*std::move(bytes)}));
  }
  if (type == "time") {
    const auto seconds = read_number<std::uint64_t>(value);
    if (!seconds) return std::nullopt;
    return Field(Field::Value(Field::Time{*seconds}));
  }
  return std::nullopt;
}

std::optional<FieldTable> read_table(const JsonView& view) {
  FieldTable table;
  for (const JsonView& row : view.elements()) {
    const auto parts = row.elements();
    if (parts.size() != 2) return std::nullopt;
    auto name = read_text(parts[0]);
    auto field = read_field(parts[1]);
    if (!name || !field) return std::nullopt;
    table.emplace_back(*std::move(name), *std::move(field));
  }
  return table;
}

template <class Property>
bool read_property(const JsonView& view, Property& property) {
  if constexpr (std::is_integral_v<typename Property::value_type>)
    property = read_number<typename Property::value_type>(view);
  else
    property = read_text(view);
  return property.has_value();
}

bool read_properties(const JsonView& view, ports::Message& message) {
  bool good = true;
  for (const auto& [name, value] : view.members()) {
    bool is_known = false;
    for_each_property(message, [&](std::string_view known, auto& property) {
      if (name != known) return;
      is_known = true;
      good = read_property(value, property) && good;
    });
    good = good && is_known;
  }
  return good;
}

template <class Value>
bool take_into(Value& target, std::optional<Value> value) {
  if (!value) return false;
  target = *std::move(value);
  return true;
}

std::optional<BackupLine> read_message(const JsonView& view) {
  BackupLine line;
  ports::Message& message = line.delivery.message;
  bool has_body = false;
  for (const auto& [name, value] : view.members()) {
    bool good = true;
    if (name == "queue") good = take_into(line.queue, read_text(value));
    if (name == "exchange") good = take_into(line.delivery.from.exchange, read_text(value));
    if (name == "routing_key") good = take_into(line.delivery.from.routing_key, read_text(value));
    if (name == "redelivered") line.delivery.redelivered = value.text() == "true";
    if (name == "properties") good = read_properties(value, message);
    if (name == "headers") good = take_into(message.headers, read_table(value));
    if (name == "body") good = has_body = take_into(message.body, read_text(value));
    if (!good) return std::nullopt;
  }
  if (!has_body) return std::nullopt;
  return line;
}

}  // namespace

Identity backup_checksum(std::string_view text) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  Identity sum;
  std::copy_n(digest.begin(), sum.bytes.size(), sum.bytes.begin());
  return sum;
}

void append_backup_begin(std::string& out, WallTime time, std::string_view run,
                         std::string_view place) {
  const std::size_t begin = out.size();
  JsonWriter writer(out);
  writer.begin_object().key("holdfast_backup").number(kBackupVersion);
  writer.key("run").text(run).key("time").time(time).key("from").text(place);
  end_line(writer, out, begin);
}

void append_backup_message(std::string& out, const ports::Delivery& delivery,
                           std::string_view queue, std::string_view run) {
  const std::size_t begin = out.size();
  JsonWriter writer(out);
  writer.begin_object().key("run").text(run).key("queue");
  write_text(writer, queue);
  writer.key("exchange");
  write_text(writer, delivery.from.exchange);
  writer.key("routing_key");
  write_text(writer, delivery.from.routing_key);
  writer.key("redelivered").boolean(delivery.redelivered).key("properties").begin_object();
  for_each_property(delivery.message, [&](std::string_view name, const auto& property) {
    if (!property) return;
    writer.key(name);
    if constexpr (std::is_integral_v<typename std::decay_t<decltype(property)>::value_type>)
      writer.number(*property);
    else
      write_text(writer, *property);
  });
  writer.end_object().key("headers");
  write_table(writer, delivery.message.headers);
  writer.key("body");
  write_text(writer, delivery.message.body);
  end_line(writer, out, begin);
}

std::expected<BackupLine, std::string> parse_backup_line(std::string_view line) {
  constexpr std::size_t kDigits = 2 * sizeof(Identity::bytes);
  const std::size_t end = kBeforeSum.size() + kDigits + kAfterSum.size();
  if (line.size() <= end || !line.ends_with(kAfterSum))
    return std::unexpected("it does not end with a checksum");
  const std::string_view covered = line.substr(0, line.size() - end);
  const std::string_view sum = line.substr(line.size() - end);
  if (!sum.starts_with(kBeforeSum)) return std::unexpected("it does not end with a checksum");
  const Identity checksum = backup_checksum(covered);
  if (sum.substr(kBeforeSum.size(), kDigits) != to_text(checksum))
    return std::unexpected("its checksum does not match");
  if (wire::syntax_fault(line, kMostBackupDepth)) return std::unexpected("it is no JSON");
  const JsonView view(line);
  if (!line.starts_with(kBackupStart)) {
    auto message = read_message(view);
    if (!message) return std::unexpected("it has a value that cannot be read");
    message->sum = checksum;
    return *std::move(message);
  }
  const std::string version = view.text_of("holdfast_backup");
  BackupLine begin{.run = view.text_of("run"),
                   .is_newer = version != std::to_string(kBackupVersion),
                   .sum = checksum};
  if (begin.run.empty()) return std::unexpected("it names no run");
  return begin;
}

bool may_begin_backup(std::string_view text) noexcept {
  return text.starts_with(R"({"holdfast_backup":1,"run":")");
}

}  // namespace holdfast::recovery
