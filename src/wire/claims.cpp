#include "wire/claims.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/json_text.hpp"
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

// A member of a part of the form.
template <auto kPart, auto kMember>
[[nodiscard]] constexpr Field<FormOf<kPart>> part_field(std::string_view name) {
  using Form = FormOf<kPart>;
  return {{.name = name},
          [](const JsonValue& value, Form& out) { return read(value, (out.*kPart).*kMember); }};
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
    field<&Claimed::created>("created"),
    part_field<&Claimed::spent, &core::Spent::attempts>("attempts"),
    part_field<&Claimed::spent, &core::Spent::crashes>("crashes"),
    part_field<&Claimed::spent, &core::Spent::deferrals>("deferrals"),
    part_field<&Claimed::spent, &core::Spent::replays>("replays"),
    field<&Claimed::previous_wait>("previous_wait"),
    field<&Claimed::max_attempts>("max_attempts"),
    field<&Claimed::timeout>("timeout"),
});

struct Claims {
  std::vector<Claimed> claims;
};
constexpr auto kClaimsFields = std::to_array<Field<Claims>>({
    required<&Claims::claims>("claims"),
});

constexpr auto kClaimRequestFields = std::to_array<Field<ClaimRequest>>({
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

[[nodiscard]] Ruled& ruled_of(FailRequest& request) {
  return request.ruled ? *request.ruled : request.ruled.emplace();
}

[[nodiscard]] Read read_verdict(const JsonValue& value, FailRequest& out) {
  std::string word;
  if (Read done = read(value, word); !done) return done;
  std::ranges::replace(word, '_', ' ');
  using enum VerdictKind;
  for (const VerdictKind kind : {retry, throttle, give_up, ambiguous}) {
    if (to_string(kind) != word) continue;
    ruled_of(out).verdict = kind;
    return {};
  }
  return fault(fmt::format("{} is none of retry, throttle, give_up, ambiguous", quoted(word)));
}

template <auto kMember>
[[nodiscard]] constexpr Field<FailRequest> ruled_field(std::string_view name) {
  return {{.name = name}, [](const JsonValue& value, FailRequest& out) {
            return read(value, ruled_of(out).*kMember);
          }};
}

constexpr auto kReleaseFields = std::to_array<Field<ReleaseRequest>>({
    required<&ReleaseRequest::token>("token"),
    field<&ReleaseRequest::wait>("wait"),
});

constexpr auto kWithdrawFields = std::to_array<Field<WithdrawRequest>>({
    required<&WithdrawRequest::worker>("worker"),
});

constexpr auto kFailFields = std::to_array<Field<FailRequest>>({
    required<&FailRequest::token>("token"),
    required<&FailRequest::message>("message"),
    field<&FailRequest::kind>("kind"),
    field<&FailRequest::http_status>("http_status"),
    field<&FailRequest::exit_code>("exit_code"),
    field<&FailRequest::os_error>("os_error"),
    field<&FailRequest::retry_after>("retry_after"),
    {{.name = "verdict"}, read_verdict},
    ruled_field<&Ruled::wait>("wait"),
    ruled_field<&Ruled::attempts>("attempts"),
    ruled_field<&Ruled::crashes>("crashes"),
    ruled_field<&Ruled::replays>("replays"),
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
  if (claimed.created != WallTime{}) writer.key("created").time(claimed.created);
  const auto count = [&](std::string_view name, int value) {
    if (value != 0) writer.key(name).number(value);
  };
  count("attempts", claimed.spent.attempts);
  count("crashes", claimed.spent.crashes);
  count("deferrals", claimed.spent.deferrals);
  count("replays", claimed.spent.replays);
  if (claimed.previous_wait > Duration::zero()) {
    writer.key("previous_wait").duration(claimed.previous_wait);
  }
  if (claimed.max_attempts) writer.key("max_attempts").number(*claimed.max_attempts);
  if (claimed.timeout) writer.key("timeout").duration(*claimed.timeout);
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
  if (request.os_error) writer.key("os_error").number(*request.os_error);
  if (request.retry_after) writer.key("retry_after").duration(*request.retry_after);
  if (request.ruled) {
    writer.key("verdict").word(to_string(request.ruled->verdict));
    writer.key("wait").duration(request.ruled->wait);
    writer.key("attempts").number(request.ruled->attempts);
    writer.key("crashes").number(request.ruled->crashes);
    writer.key("replays").number(request.ruled->replays);
  }
  writer.end_object();
}

void write(JsonWriter& writer, const ReleaseRequest& request) {
  writer.begin_object().key("token").number(request.token.value);
  if (request.wait) writer.key("wait").duration(*request.wait);
  writer.end_object();
}

void write(JsonWriter& writer, const WithdrawRequest& request) {
  writer.begin_object().key("worker").text(request.worker).end_object();
}

Result<ClaimRequest> read_claim_request(std::string_view json) {
  return read_document<ClaimRequest>(json, kClaimRequestFields, request("read claim"));
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

Result<ReleaseRequest> read_release_request(std::string_view json) {
  return read_document<ReleaseRequest>(json, kReleaseFields, request("read release"));
}

Result<WithdrawRequest> read_withdraw_request(std::string_view json) {
  return read_document<WithdrawRequest>(json, kWithdrawFields, request("read withdrawal"));
}

}  // namespace holdfast::wire
