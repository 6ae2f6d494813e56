#include "wire/claims.hpp"

#include <array>

#include <fmt/format.h>

#include "wire/answers.hpp"
#include "wire/bytes.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

template <class Request>
[[nodiscard]] Read read_lease(const JsonValue& value, Request& out) {
  if (Read done = read(value, out.lease); !done) return done;
  if (*out.lease > Duration::zero()) return {};
  return fault("a lease of no time is none");
}

[[nodiscard]] Read read_max(const JsonValue& value, ClaimRequest& out) {
  if (Read done = read(value, out.max); !done) return done;
  if (out.max >= 1 && out.max <= kMostClaims) return {};
  return fault(fmt::format("{} is not from 1 to {}", out.max, kMostClaims));
}

constexpr auto kClaimedFields = std::to_array<Field<Claimed>>({
    required<&Claimed::id>("id"),
    required<&Claimed::type>("type"),
    required<&Claimed::queue>("queue"),
    json_bytes<&Claimed::payload>(kPayloadNames.json, 1),
    text_bytes<&Claimed::payload>(kPayloadNames.text, 1),
    base64_bytes<&Claimed::payload>(kPayloadNames.base64, 1),
    required<&Claimed::attempt>("attempt"),
    required<&Claimed::token>("token"),
    required<&Claimed::lease_end>("lease_end"),
    field<&Claimed::deadline>("deadline"),
    field<&Claimed::trace>("trace"),
});

struct Claims {
  std::vector<Claimed> claims;
};
constexpr auto kClaimsFields = std::to_array<Field<Claims>>({
    required<&Claims::claims>("claims"),
});

constexpr auto kClaimFields = std::to_array<Field<ClaimRequest>>({
    field<&ClaimRequest::queue>("queue"),
    {{.name = "max"}, read_max},
    field<&ClaimRequest::wait>("wait"),
    {{.name = "lease"}, read_lease<ClaimRequest>},
    field<&ClaimRequest::worker>("worker"),
});

constexpr auto kExtendFields = std::to_array<Field<ExtendRequest>>({
    required<&ExtendRequest::token>("token"),
    {{.name = "lease"}, read_lease<ExtendRequest>},
});

constexpr auto kCompleteFields = std::to_array<Field<CompleteRequest>>({
    required<&CompleteRequest::token>("token"),
    json_bytes<&CompleteRequest::result>(kResultNames.json, 1),
    text_bytes<&CompleteRequest::result>(kResultNames.text, 1),
    base64_bytes<&CompleteRequest::result>(kResultNames.base64, 1),
});

constexpr auto kFailFields = std::to_array<Field<FailRequest>>({
    required<&FailRequest::token>("token"),
    required<&FailRequest::message>("message"),
    field<&FailRequest::kind>("kind"),
    field<&FailRequest::http_status>("http_status"),
    field<&FailRequest::exit_code>("exit_code"),
    field<&FailRequest::retry_after>("retry_after"),
});

[[nodiscard]] Reading request(std::string_view operation) {
  return {.operation = operation, .most_depth = kMostPayloadDepth + 4};
}

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, Claimed& out) {
  return read_object<Claimed>(value, kClaimedFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const Claimed& claimed) {
  writer.begin_object();
  writer.key("id").plain(claimed.id.text());
  writer.key("type").text(claimed.type);
  writer.key("queue").text(claimed.queue);
  if (!claimed.payload.empty()) write_bytes(writer, kPayloadNames, claimed.payload);
  writer.key("attempt").number(claimed.attempt);
  writer.key("token").number(claimed.token.value);
  writer.key("lease_end").time(claimed.lease_end);
  if (claimed.deadline) writer.key("deadline").time(*claimed.deadline);
  if (!claimed.trace.empty()) writer.key("trace").text(claimed.trace);
  writer.end_object();
}

void write(JsonWriter& writer, std::span<const Claimed> claims) {
  writer.begin_object().key("claims").begin_array();
  for (const Claimed& claimed : claims)
    write(writer, claimed);
  writer.end_array().end_object();
}

Result<std::vector<Claimed>> read_claims(std::string_view json) {
  return read_wrapped<&Claims::claims>(json, kClaimsFields);
}

void write(JsonWriter& writer, const ClaimRequest& request) {
  writer.begin_object();
  writer.key("queue").text(request.queue);
  writer.key("max").number(request.max);
  writer.key("wait").duration(request.wait);
  if (request.lease) writer.key("lease").duration(*request.lease);
  if (!request.worker.empty()) writer.key("worker").text(request.worker);
  writer.end_object();
}

void write(JsonWriter& writer, const ExtendRequest& request) {
  writer.begin_object().key("token").number(request.token.value);
  if (request.lease) writer.key("lease").duration(*request.lease);
  writer.end_object();
}

void write(JsonWriter& writer, const CompleteRequest& request) {
  writer.begin_object().key("token").number(request.token.value);
  if (!request.result.empty()) write_bytes(writer, kResultNames, request.result);
  writer.end_object();
}

void write(JsonWriter& writer, const FailRequest& request) {
  writer.begin_object();
  writer.key("token").number(request.token.value);
  writer.key("message").text(request.message);
  writer.key("kind").word(to_string(request.kind));
  if (request.http_status) writer.key("http_status").number(*request.http_status);
  if (request.exit_code) writer.key("exit_code").number(*request.exit_code);
  if (request.retry_after) writer.key("retry_after").duration(*request.retry_after);
  writer.end_object();
}

Result<ClaimRequest> read_claim_request(std::string_view json) {
  return read_document<ClaimRequest>(json, kClaimFields, request("read claim"));
}

Result<ExtendRequest> read_extend_request(std::string_view json) {
  return read_document<ExtendRequest>(json, kExtendFields, request("read extension"));
}

Result<CompleteRequest> read_complete_request(std::string_view json) {
  return read_document<CompleteRequest>(json, kCompleteFields, request("read completion"));
}

Result<FailRequest> read_fail_request(std::string_view json) {
  return read_document<FailRequest>(json, kFailFields, request("read failure"));
}

}  // namespace holdfast::wire
