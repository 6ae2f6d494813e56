#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

#include "core/preset_rows.hpp"

namespace holdfast::preset_http_test {
namespace {

using namespace std::chrono_literals;
using enum VerdictKind;

// C1.5
TEST(HttpPreset, C1_5_client_errors_by_status) {
  for (const int status : {400, 401, 402, 403, 404, 405, 406, 410, 413, 415, 422, 431, 451, 501}) {
    const Classification result =
        all_presets().classify({.message = "Bad Request", .http_status = status});
    EXPECT_EQ(result.verdict.kind, give_up) << status;
    EXPECT_EQ(result.basis, Basis::http_status) << status;
  }
}

// C1.7
TEST(HttpPreset, C1_7_server_errors_by_status) {
  for (const int status : {408, 409, 423, 425, 499, 500, 502, 503, 504, 507, 520, 522, 524, 599}) {
    const Classification result = all_presets().classify({.message = "", .http_status = status});
    EXPECT_EQ(result.verdict.kind, retry) << status;
    EXPECT_EQ(result.basis, Basis::http_status) << status;
  }
  EXPECT_EQ(all_presets()({.message = "", .http_status = 429}), (Verdict{throttle, {}}));
}

TEST(HttpPreset, C1_7_retry_after_is_honoured) {
  for (const int status : {408, 425, 429, 500, 503}) {
    EXPECT_EQ(all_presets()({.message = "", .http_status = status, .retry_after = 30s}),
              (Verdict{throttle, 30s}))
        << status;
  }
}

TEST(HttpPreset, http_by_text) {
  expect_rows({
      {"429 Too Many Requests", throttle, "http.throttled-text"},
      {"429 Client Error: Too Many Requests for url: https://api.example.com/v1", throttle,
       "http.throttled-text"},
      {"Request failed with status code 429", throttle, "http.throttled-text"},
      {"openai.RateLimitError: Rate limit reached for requests", throttle, "http.throttled-text"},
      {"You have exceeded your rate limit.", throttle, "http.throttled-text"},
      {"503 Service Unavailable", retry, "http.server-error-text"},
      {"<html><head><title>503 Service Temporarily Unavailable</title></head>", retry,
       "http.server-error-text"},
      {"502 Server Error: Bad Gateway for url: https://api.example.com/", retry,
       "http.server-error-text"},
      {"Request failed with status code 500", retry, "http.server-error-text"},
      {"curl: (22) The requested URL returned error: 504", retry, "http.server-error-text"},
      {"java.io.IOException: Server returned HTTP response code: 503 for URL: http://a.b/", retry,
       "http.server-error-text"},
      {"HTTP Error 408: Request Timeout", retry, "http.again-text"},
      {"409 Conflict", retry, "http.again-text"},
      {"Request failed with status code 404", give_up, "http.client-error-text"},
      {"curl: (22) The requested URL returned error: 403", give_up, "http.client-error-text"},
      {"400 Client Error: Bad Request for url: https://api.example.com/", give_up,
       "http.client-error-text"},
      {"urllib.error.HTTPError: HTTP Error 401: Unauthorized", give_up, "http.client-error-text"},
      {R"({"statusCode":422,"message":"amount must be positive"})", give_up,
       "http.client-error-text"},
      {"unexpected status: 413 Request Entity Too Large", give_up, "http.client-error-text"},
      {"Bad Request", give_up, "http.client-error-text"},
      {"rpc error: code = Unavailable desc = transport is closing", retry, "http.grpc-unavailable"},
      {"rpc error: code = ResourceExhausted desc = grpc: received message larger than max",
       throttle, "http.grpc-throttled"},
      {"rpc error: code = NotFound desc = no such topic", give_up, "http.grpc-refused"},
      {"io.grpc.StatusRuntimeException: UNAVAILABLE: io exception", retry, "http.grpc-unavailable"},
  });
}

TEST(HttpPreset, a_number_alone_is_no_status) {
  for (const char* text : {"parse error at line 429", "see http://404.example.com/ for more",
                           "took 500 steps", "article 403 of the code"}) {
    EXPECT_EQ(all_presets().explain({text}).rule, "") << text;
  }
}

}  // namespace
}  // namespace holdfast::preset_http_test
