#include "brokers/sqs/fields.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "brokers/sqs/text.hpp"
#include "wire/base64.hpp"

namespace holdfast::brokers::sqs {
namespace {

using ports::Field;
using ports::FieldArray;
using ports::FieldTable;
using Value = Field::Value;

// In the order of Field::Value.
constexpr std::array<std::string_view, 18> kTypes = {
    "null",   "bool",  "int8",   "uint8",   "int16",  "uint16", "int32", "uint32", "int64",
    "uint64", "float", "double", "decimal", "string", "bytes",  "time",  "array",  "table"};
static_assert(std::variant_size_v<Value> == kTypes.size());

// A text that SQS would change.
constexpr std::string_view kCodedText = "string64";

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// What has a text of one line; of the rest nothing.
std::string text_of(const Value& value) {
  return std::visit(
      [](const auto& one) -> std::string {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::same_as<T, bool>)
          return one ? "true" : "false";
        else if constexpr (std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t>)
          return fmt::format("{}", static_cast<int>(one));
        else if constexpr (is_number<T>)
          return fmt::format("{}", one);
        else if constexpr (std::same_as<T, Field::Decimal>)
          return fmt::format("{}:{}", one.places, one.digits);
        else if constexpr (std::same_as<T, std::string>)
          return one;
        else if constexpr (std::same_as<T, Field::Bytes>)
          return base64(one.bytes);
        else if constexpr (std::same_as<T, Field::Time>)
          return fmt::format("{}", one.seconds);
        else
          return {};
      },
      value);
}

template <class T>
std::optional<Field> number_field(std::string_view text) {
  const auto value = parse_number<T>(text);
  if (!value) return std::nullopt;
  return Field(Value(*value));
}

std::optional<Field> decimal_field(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const auto places = parse_number<std::uint8_t>(text.substr(0, colon));
  const auto digits = parse_number<std::uint32_t>(text.substr(colon + 1));
  if (!places || !digits) return std::nullopt;
  return Field(Value(Field::Decimal{*places, *digits}));
}

std::optional<Field> bytes_field(std::string_view text) {
  auto bytes = wire::parse_base64(text);
  if (!bytes) return std::nullopt;
  return Field(Value(Field::Bytes{*std::move(bytes)}));
}

// Of the types that have a text of one line.
std::optional<Field> scalar(std::string_view type, std::string text) {
  if (type == "string") return Field(std::move(text));
  if (type == kCodedText) {
    auto bytes = wire::parse_base64(text);
    if (!bytes) return std::nullopt;
    return Field(*std::move(bytes));
  }
  if (type == "null") return Field();
  if (type == "bool") return Field(Value(text == "true"));
  if (type == "int8") return number_field<std::int8_t>(text);
  if (type == "uint8") return number_field<std::uint8_t>(text);
  if (type == "int16") return number_field<std::int16_t>(text);
  if (type == "uint16") return number_field<std::uint16_t>(text);
  if (type == "int32") return number_field<std::int32_t>(text);
  if (type == "uint32") return number_field<std::uint32_t>(text);
  if (type == "int64") return number_field<std::int64_t>(text);
  if (type == "uint64") return number_field<std::uint64_t>(text);
  if (type == "float") return number_field<float>(text);
  if (type == "double") return number_field<double>(text);
  if (type == "decimal") return decimal_field(text);
  if (type == "bytes") return bytes_field(text);
  if (type == "time") {
    const auto seconds = parse_number<std::uint64_t>(text);
    if (!seconds) return std::nullopt;
    return Field(Value(Field::Time{*seconds}));
  }
  return std::nullopt;
}

// A number without a label says nothing of its width: what everybody else sends, and our own of
// the usual widths.
Field unlabelled_number(const std::string& text) {
  if (const auto whole = parse_number<std::int64_t>(text);
      whole && fmt::format("{}", *whole) == text)
    return Field(*whole);
  if (const auto real = parse_number<double>(text); real && fmt::format("{}", *real) == text)
    return Field(Value(*real));
  return Field(text);
}

bool is_plain_double(double value, const std::string& text) {
  return std::isfinite(value) && text.find_first_of(".e") != text.npos;
}

}  // namespace

std::optional<Attribute> plain_attribute(const std::string& name, const Field& field) {
  if (!is_attribute_name(name)) return std::nullopt;
  const Value& value = field.value;
  const std::string_view type = kTypes[value.index()];
  std::string text = text_of(value);
  if (const auto* const bytes = std::get_if<Field::Bytes>(&value)) {
    if (bytes->bytes.empty()) return std::nullopt;
    return Attribute{name, "Binary", bytes->bytes};
  }
  if (std::holds_alternative<std::string>(value)) {
    if (text.empty() || !is_message_text(text)) return std::nullopt;
    return Attribute{name, "String", std::move(text)};
  }
  if (std::holds_alternative<bool>(value)) return Attribute{name, "String.bool", std::move(text)};
  if (std::holds_alternative<std::int64_t>(value))
    return Attribute{name, "Number", std::move(text)};
  if (const auto* const real = std::get_if<double>(&value)) {
    if (!is_plain_double(*real, text)) return std::nullopt;
    return Attribute{name, "Number", std::move(text)};
  }
  if (const auto* const real = std::get_if<float>(&value); real && !std::isfinite(*real))
    return std::nullopt;
  const bool is_numeric =
      type.starts_with("int") || type.starts_with("uint") || type == "float" || type == "time";
  if (!is_numeric) return std::nullopt;
  return Attribute{name, fmt::format("Number.{}", type), std::move(text)};
}

Field field_of(const Attribute& attribute) {
  const std::string_view type = attribute.type;
  if (type.starts_with("Binary")) return Field(Value(Field::Bytes{attribute.value}));
  const auto dot = type.find('.');
  const std::string_view label = dot == type.npos ? std::string_view() : type.substr(dot + 1);
  const bool is_ours = label == "bool" || (type.starts_with("Number") && label != "string");
  if (is_ours && !label.empty()) {
    if (auto field = scalar(label, attribute.value)) return *std::move(field);
  }
  if (type.starts_with("Number")) return unlabelled_number(attribute.value);
  return Field(attribute.value);
}

void write_field(wire::JsonWriter& writer, const Field& field) {
  const Value& value = field.value;
  if (const auto* const text = std::get_if<std::string>(&value); text && !is_message_text(*text)) {
    writer.plain(kCodedText).plain(base64(*text));
    return;
  }
  writer.plain(kTypes[value.index()]);
  if (const auto* const array = std::get_if<FieldArray>(&value)) {
    writer.begin_array();
    for (const Field& one : *array) {
      writer.begin_array();
      write_field(writer, one);
      writer.end_array();
    }
    writer.end_array();
  } else if (const auto* const table = std::get_if<FieldTable>(&value)) {
    writer.begin_array();
    for (const auto& [name, one] : *table) {
      writer.begin_array().text(name);
      write_field(writer, one);
      writer.end_array();
    }
    writer.end_array();
  } else {
    writer.text(text_of(value));
  }
}

std::optional<Field> read_field(std::string_view type, const Json& value) {
  if (type == "array") {
    FieldArray array;
    for (const Json& element : value.elements()) {
      const auto parts = element.elements();
      if (parts.size() != 2) return std::nullopt;
      auto one = read_field(parts[0].text(), parts[1]);
      if (!one) return std::nullopt;
      array.push_back(*std::move(one));
    }
    return Field(Value(std::move(array)));
  }
  if (type == "table") {
    FieldTable table;
    for (const Json& element : value.elements()) {
      const auto parts = element.elements();
      if (parts.size() != 3) return std::nullopt;
      auto one = read_field(parts[1].text(), parts[2]);
      if (!one) return std::nullopt;
      table.emplace_back(parts[0].text(), *std::move(one));
    }
    return Field(Value(std::move(table)));
  }
  return scalar(type, value.text());
}

}  // namespace holdfast::brokers::sqs
