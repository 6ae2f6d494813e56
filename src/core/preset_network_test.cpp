#include <cerrno>

#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

#include "core/preset_rows.hpp"

namespace holdfast::preset_network_test {
namespace {

using enum VerdictKind;

// C1.6
TEST(NetworkPreset, C1_6_network_timeouts) {
  const char* rule = "network.timeout";
  expect_rows({
      {"network timeout", retry, rule},
      {"Timeout", retry, rule},
      {"redis: timeout", retry, rule},
      {"connect ETIMEDOUT 10.0.0.5:8545", retry, rule},
      {"timeout of 30000ms exceeded", retry, rule},
      {"Get \"https://a.b/\": net/http: request canceled (Client.Timeout exceeded while awaiting "
       "headers)",
       retry, rule},
      {"dial tcp 10.0.0.5:443: i/o timeout", retry, rule},
      {"context deadline exceeded", retry, rule},
      {"net/http: TLS handshake timeout", retry, rule},
      {"java.net.SocketTimeoutException: Read timed out", retry, rule},
      {"requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='a.b', port=443): Read timed "
       "out.",
       retry, rule},
      {"HeadersTimeoutError: Headers Timeout Error (code UND_ERR_HEADERS_TIMEOUT)", retry, rule},
      {"curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received", retry, rule},
  });
}

TEST(NetworkPreset, a_timeout_that_is_set_wrongly_is_not_one_that_ran_out) {
  const char* rule = "network.bad-timeout-setting";
  expect_rows({
      {"invalid timeout parameter", give_up, rule},
      {"request timeout must be a positive integer", give_up, rule},
      {"invalid value for connect_timeout: -1", give_up, rule},
  });
}

TEST(NetworkPreset, network) {
  expect_rows({
      {"connect ECONNREFUSED 127.0.0.1:5672", retry, "network.refused"},
      {"dial tcp 127.0.0.1:6379: connect: connection refused", retry, "network.refused"},
      {"read ECONNRESET", retry, "network.connection-lost"},
      {"Error: socket hang up", retry, "network.connection-lost"},
      {"write: broken pipe", retry, "network.connection-lost"},
      {"Post \"https://a.b/\": EOF", retry, "network.connection-lost"},
      {"TypeError: fetch failed", retry, "network.connection-lost"},
      {"('Connection aborted.', RemoteDisconnected('Remote end closed connection without "
       "response'))",
       retry, "network.connection-lost"},
      {"curl: (52) Empty reply from server", retry, "network.connection-lost"},
      {"org.apache.http.NoHttpResponseException: a.b:443 failed to respond", retry,
       "network.connection-lost"},
      {"getaddrinfo EAI_AGAIN api.example.com", retry, "network.name-not-resolved"},
      {"dial tcp: lookup a.b on 127.0.0.53:53: no such host", retry, "network.name-not-resolved"},
      {"Temporary failure in name resolution", retry, "network.name-not-resolved"},
      {"connect EHOSTUNREACH 10.0.0.5:80", retry, "network.unreachable"},
      {"No route to host", retry, "network.unreachable"},
      {"accept tcp [::]:80: accept4: too many open files", retry, "network.local-limit"},
      {"remote error: tls: handshake failure", retry, "network.tls-handshake"},
      {"HTTPSConnectionPool(host='a.b', port=443): Max retries exceeded with url: / (Caused by "
       "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify "
       "failed')))",
       give_up, "network.certificate"},
      {"x509: certificate signed by unknown authority", give_up, "network.certificate"},
      {"curl: (60) SSL certificate problem: unable to get local issuer certificate", give_up,
       "network.certificate"},
      {"PKIX path building failed: unable to find valid certification path", give_up,
       "network.certificate"},
      {"Get \"htp://a.b\": unsupported protocol scheme \"htp\"", give_up, "network.bad-url"},
      {"Get \"https://a.b\": stopped after 10 redirects", give_up, "network.redirects"},
  });
}

TEST(NetworkPreset, network_without_words) {
  EXPECT_EQ(all_presets().explain({.message = "", .os_error = ECONNRESET}).rule,
            "network.os-error");
  EXPECT_EQ(all_presets().explain({.message = "", .os_error = ENOENT}).rule, "");
  EXPECT_EQ(all_presets().explain({.message = "", .kind = FailureKind::timeout}).rule,
            "network.out-of-time");
}

}  // namespace
}  // namespace holdfast::preset_network_test
