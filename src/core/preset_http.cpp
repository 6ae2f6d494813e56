// HTTP statuses, and texts that name one where a client hands on no number. Of the texts, only
// those that name the status as one are taken: "429" alone may be a line of a file.
#include <holdfast/classify.hpp>

#include "core/preset_patterns.hpp"

namespace holdfast::presets {
namespace {

using enum VerdictKind;

// "HTTP/1.1 503", "status code: 503", "returned error: 503", "503 Server Error".
std::string named_status(std::string_view codes) {
  const std::string before =
      R"((?:\bHTTP(?:/[\d.]+)?(?: error| status)?|\bstatus(?:[ _]?code)?(?: of| was| is)?)"
      R"(|\bresponse code|\breturned error|\bserver response)[^\w/]{0,3})";
  const std::string any_code = "(?:" + std::string(codes) + ")";
  return before + any_code + R"(\b|\b)" + any_code + R"( (?:client|server) error\b)";
}

std::vector<Rule> by_status() {
  return {
      {.name = "http.throttled",
       .http_status = {429, 420, 529},
       .verdict = throttle,
       .reason = "The server asks for fewer requests."},
      {.name = "http.again",
       .http_status = {408, 425, 421, 499},
       .verdict = retry,
       .reason = "The server asks to send the request again."},
      {.name = "http.conflict",
       .http_status = {409, 423},
       .verdict = retry,
       .reason = "Something else was changing the resource."},
      {.name = "http.not-allowed",
       .http_status = {401, 402, 403, 407, 451, 511},
       .verdict = give_up,
       .reason = "The server does not allow it with these credentials."},
      {.name = "http.not-found",
       .http_status = {404, 410},
       .verdict = give_up,
       .reason = "The server does not have what the request names."},
      {.name = "http.client-error",
       .http_status = {{400, 499}},
       .verdict = give_up,
       .reason = "The server refuses the request as it stands."},
      {.name = "http.not-implemented",
       .http_status = {501, 505, 506, 508, 510},
       .verdict = give_up,
       .reason = "The server cannot do this at all."},
      {.name = "http.unavailable",
       .http_status = {502, 503, 504},
       .verdict = retry,
       .reason = "The server is down or overloaded for now."},
      {.name = "http.server-error",
       .http_status = {{500, 599}},
       .verdict = retry,
       .reason = "The server failed; the request may be in order."},
  };
}

std::vector<Rule> by_text() {
  return {
      {.name = "http.throttled-text",
       .pattern = one_of(
           {named_status("429|420|529"), R"(\btoo many requests\b)", R"(\brate[ _-]?limited\b)",
            R"(\brate[ _-]?limit[ _-](?:exceeded|reached|hit|error)\b)",
            R"(\b(?:exceed(?:ed|ing|s)?|hit|over|reached) (?:your |the |our |its )?rate[ _-]?limit)",
            "(?-i:RateLimit(?:Error|Exceeded))"}),
       .verdict = throttle,
       .reason = "The server asks for fewer requests."},
      {.name = "http.again-text",
       .pattern =
           one_of({named_status("408|409|421|423|425|499"),
                   R"(\b(?:408 request time-?out|409 conflict|423 locked|425 too early)\b)"}),
       .verdict = retry,
       .reason = "The server asks to send the request again, or another one was in the way."},
      {.name = "http.client-error-text",
       .pattern = one_of(
           {named_status(R"(4\d\d|501|505|506|508|510|511)"),
            R"(\b400 bad request\b)",
            R"(\b401 unauthorized\b)",
            R"(\b402 payment required\b)",
            R"(\b403 forbidden\b)",
            R"(\b404 not found\b)",
            R"(\b405 method not allowed\b)",
            R"(\b406 not acceptable\b)",
            R"(\b407 proxy authentication\b)",
            R"(\b410 gone\b)",
            R"(\b411 length required\b)",
            R"(\b412 precondition failed\b)",
            R"(\b413 (?:payload|content|request entity) too large\b)",
            R"(\b414 (?:request-)?uri too (?:long|large)\b)",
            R"(\b415 unsupported media\b)",
            R"(\b422 unprocessable\b)",
            R"(\b428 precondition required\b)",
            R"(\b431 request header\b)",
            R"(\b451 unavailable for\b)",
            R"(\b501 not implemented\b)",
            R"(\b505 http version\b)",
            R"(^(?:bad request|unauthorized|forbidden|not found|unprocessable entity)\.?$)"}),
       .verdict = give_up,
       .reason = "The server refuses the request."},
      {.name = "http.server-error-text",
       .pattern = one_of({named_status(R"(5\d\d)"), R"(\binternal server error\b)",
                          R"(\bbad gateway\b)", R"(\bgateway time-?out\b)",
                          R"(\bservice (?:is )?(?:temporarily |currently )?unavailable\b)",
                          R"(\bupstream connect error\b)", R"(\bno healthy upstream\b)",
                          R"(\boverloaded\b)"}),
       .verdict = retry,
       .reason = "The server failed or is down for now."},
  };
}

// gRPC travels over HTTP and names its own codes: "code = Unavailable" (Go), "UNAVAILABLE: …"
// (Java).
std::vector<Rule> grpc() {
  return {
      {.name = "http.grpc-throttled",
       .pattern = codes({"code = ResourceExhausted", "RESOURCE_EXHAUSTED"}),
       .verdict = throttle,
       .reason = "The gRPC server asks for fewer requests."},
      {.name = "http.grpc-refused",
       .pattern = one_of(
           {codes({"code = InvalidArgument", "code = NotFound", "code = AlreadyExists",
                   "code = PermissionDenied", "code = Unauthenticated", "code = FailedPrecondition",
                   "code = OutOfRange", "code = Unimplemented"}),
            codes({"INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
                   "UNAUTHENTICATED", "FAILED_PRECONDITION", "OUT_OF_RANGE", "UNIMPLEMENTED"}) +
                ": "}),
       .verdict = give_up,
       .reason = "The gRPC server refuses the request."},
      {.name = "http.grpc-unavailable",
       .pattern = one_of({codes({"code = Unavailable", "code = DeadlineExceeded", "code = Aborted",
                                 "code = Internal"}),
                          codes({"UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED"}) + ": "}),
       .verdict = retry,
       .reason = "The gRPC server is down, slow or busy."},
  };
}

}  // namespace

std::vector<Rule> http() {
  return combine({by_status(), grpc(), by_text()});
}

}  // namespace holdfast::presets
