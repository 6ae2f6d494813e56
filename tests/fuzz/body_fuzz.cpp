// Any bytes as the body of a route: a task, or everything that is wrong with it. What was taken
// once is taken again, and is the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/json_text.hpp"
#include "wire/body_map.hpp"
#include "wire/json_syntax.hpp"

namespace {

using namespace holdfast;
using wire::BodyField;
using wire::BodyMap;
using wire::BodyType;

constexpr std::size_t kDepth = 16;

void expect(bool holds) {
  if (!holds) std::abort();
}

// The first byte says whether unknown fields are kept. Every field keeps its name, so that what it
// becomes can be handed in again.
const BodyMap& map_for(bool keeps) {
  static const auto make = [](wire::UnknownFields unknown) {
    return BodyMap::make({{.name = "to", .required = true, .pattern = "^0x[0-9a-f]{4}$"},
                          {.name = "text", .min_length = 1, .max_length = 5},
                          {.name = "whole", .type = BodyType::integer, .minimum = -5, .maximum = 5},
                          {.name = "number", .type = BodyType::number, .one_of = {"1", "2.5"}},
                          {.name = "yes", .type = BodyType::boolean, .fallback = "false"},
                          {.name = "inner", .type = BodyType::object},
                          {.name = "list", .type = BodyType::array}},
                         unknown)
        .value();
  };
  static const BodyMap refuses = make(wire::UnknownFields::refuse);
  static const BodyMap keeper = make(wire::UnknownFields::keep);
  return keeps ? keeper : refuses;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  const BodyMap& map = map_for(data[0] == 'k');
  const auto task = map.read(json, kDepth);
  if (!task) {
    expect(!task.error().empty() && task.error().size() <= 51);
    for (const wire::Problem::Part& part : task.error())
      expect(!part.detail.empty() && is_visible(part.detail));
    return 0;
  }
  expect(wire::is_json(task->payload, kDepth));
  expect(task->payload.starts_with(R"({"to":"0x)"));
  const auto again = map.read(task->payload, kDepth);
  expect(again.has_value() && again->payload == task->payload);
  return 0;
}
