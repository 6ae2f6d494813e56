#include "wire/queue_json.hpp"

#include <array>

#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

[[nodiscard]] Read read_concurrency(const JsonValue& value, LimitRequest& out) {
  if (Read done = read(value, out.concurrency); !done) return done;
  if (out.concurrency >= 0) return {};
  return fault("is negative: 0 is no limit");
}

constexpr auto kLimitFields = std::to_array<Field<LimitRequest>>({
    {{.name = "concurrency", .is_required = true}, read_concurrency},
});

}  // namespace

void write(JsonWriter& writer, const LimitRequest& request) {
  writer.begin_object().key("concurrency").number(request.concurrency).end_object();
}

Result<LimitRequest> read_limit_request(std::string_view json) {
  return read_document<LimitRequest>(json, kLimitFields,
                                     {.operation = "read limit", .most_depth = 4});
}

}  // namespace holdfast::wire
