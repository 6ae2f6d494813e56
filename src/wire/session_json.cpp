#include "wire/session_json.hpp"

#include <array>

#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

// Not as other texts are read: what is said of a wrong kind of value shows the value.
[[nodiscard]] Read read_token(const JsonValue& value, LoginRequest& out) {
  if (value.kind != JsonKind::string) return fault("a text is expected");
  return read(value, out.token);
}

constexpr auto kLoginFields = std::to_array<Field<LoginRequest>>({
    {{.name = "token", .is_required = true}, read_token},
});

}  // namespace

Result<LoginRequest> read_login_request(std::string_view json) {
  return read_document<LoginRequest>(json, kLoginFields, {.operation = "log in", .most_depth = 4});
}

}  // namespace holdfast::wire
