#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "brokers/sqs/json.hpp"
#include "ports/message.hpp"
#include "wire/json_writer.hpp"

// The values of headers with their types, as texts. Pure.
namespace holdfast::brokers::sqs {

// One attribute of a message. The type is String, Number or Binary, a label of the sender's behind
// it or not ("Number.int32").
struct Attribute {
  std::string name;
  std::string type;
  std::string value;  // of Binary the bytes themselves

  bool operator==(const Attribute&) const = default;
};

// Nothing: the value has no plain form that others could read, or SQS would not take it.
[[nodiscard]] std::optional<Attribute> plain_attribute(const std::string& name,
                                                       const ports::Field& field);
// Of ours and of any other client. A number that cannot be held to the last digit stays a text.
[[nodiscard]] ports::Field field_of(const Attribute& attribute);

// Two values: the name of the type, and a text or an array.
void write_field(wire::JsonWriter& writer, const ports::Field& field);
// Nothing: nobody has written that.
[[nodiscard]] std::optional<ports::Field> read_field(std::string_view type, const Json& value);

}  // namespace holdfast::brokers::sqs
