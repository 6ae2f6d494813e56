// Over TLS: what is trusted, and HTTP/2.
#include <csignal>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <holdfast/classify.hpp>

#include "io/fifo_testing.hpp"
#include "io/http_client.hpp"
#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"
#include "io/tls_testing.hpp"

namespace holdfast::io::http_client_tls_test {
namespace {

using testing::Fetcher;
using ::testing::HasSubstr;
using testing::http_answer;
using testing::ServedConnection;
using testing::ServedRequest;
using ::testing::StartsWith;
using testing::TestCertificate;
using testing::TestServer;

class HttpClientTls : public ::testing::Test {
 protected:
  HttpClientTls() { authority_.save_certificate(ca_file_); }

  HttpResult fetch_from(const TestCertificate& certificate, const std::string& ca_file) {
    const auto context = certificate.context();
    TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }),
                      "127.0.0.1", context.get());
    Fetcher fetcher({.ca_file = ca_file});
    return fetcher.fetch({.url = server.url()});
  }

  static void expect_no_trust(const HttpResult& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().fault, HttpFault::tls);
    EXPECT_FALSE(result.error().was_sent);
    const auto classifier = Classifier::make(presets::network()).value();
    EXPECT_EQ(classifier.classify({.message = result.error().message}).verdict.kind,
              VerdictKind::give_up)
        << result.error().message;
  }

  const testing::TemporaryFolder folder_;
  const TestCertificate authority_ = TestCertificate::authority("our own");
  const std::string ca_file_ = folder_ / "ca.pem";
};

TEST_F(HttpClientTls, trusts_whom_the_authority_vouches_for) {
  const auto result = fetch_from(TestCertificate::server("IP:127.0.0.1", authority_), ca_file_);
  EXPECT_TRUE(result.has_value()) << result.error().message;
}

TEST_F(HttpClientTls, does_not_trust_another_authority) {
  const auto other = TestCertificate::authority("somebody");
  expect_no_trust(fetch_from(TestCertificate::server("IP:127.0.0.1", other), ca_file_));
}

TEST_F(HttpClientTls, does_not_trust_a_certificate_of_another_host) {
  expect_no_trust(fetch_from(TestCertificate::server("DNS:example.org", authority_), ca_file_));
}

TEST_F(HttpClientTls, does_not_trust_by_the_system_what_only_we_made) {
  expect_no_trust(fetch_from(TestCertificate::server("IP:127.0.0.1", authority_), ""));
}

TEST_F(HttpClientTls, tells_a_server_that_speaks_no_tls) {
  TestServer server([](ServedConnection& connection) {
    if (connection.read_some()) connection.write(http_answer("400 Bad Request"));
  });
  Fetcher fetcher({.ca_file = ca_file_});
  const auto result =
      fetcher.fetch({.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/"});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().fault, HttpFault::tls);
  EXPECT_FALSE(result.error().was_sent);
}

TEST_F(HttpClientTls, keeps_connections) {
  const auto certificate = TestCertificate::server("IP:127.0.0.1", authority_);
  const auto context = certificate.context();
  TestServer server(TestServer::each([](const ServedRequest&) { return http_answer("200 OK"); }),
                    "127.0.0.1", context.get());
  Fetcher fetcher({.ca_file = ca_file_});
  for (int n = 0; n < 5; ++n)
    ASSERT_TRUE(fetcher.fetch({.url = server.url()}).has_value());
  EXPECT_EQ(server.connections(), 1);
}

// A server of HTTP/2 that others wrote. It tells of each connection on its standard output.
class Nghttpd {
 public:
  Nghttpd(const std::string& key, const std::string& certificate, const std::string& folder) {
    port_ = [] {
      TestServer taken([](ServedConnection&) {});
      return std::to_string(taken.port());
    }();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output_.path().c_str(), O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> words{"nghttpd", "-v",   "-a",  "127.0.0.1", "--echo-upload",
                                   "-d",      folder, port_, key,         certificate};
    std::vector<char*> arguments;
    for (std::string& word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    // Where Debian has it is not on the path of everybody.
    const int failed =
        ::posix_spawn(&pid_, "/usr/sbin/nghttpd", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), "nghttpd");
    static_cast<void>(output_.first());  // it listens
  }
  ~Nghttpd() { stop(); }
  Nghttpd(const Nghttpd&) = delete;
  Nghttpd& operator=(const Nghttpd&) = delete;

  [[nodiscard]] std::string url() const { return "https://127.0.0.1:" + port_ + "/"; }

  // How many connections there were.
  [[nodiscard]] std::size_t stop_and_count() {
    stop();
    EXPECT_TRUE(output_.ends());
    std::set<std::string> seen;
    const std::string& text = output_.text();
    for (std::size_t at = text.find("[id="); at != text.npos; at = text.find("[id=", at + 1))
      seen.insert(text.substr(at, text.find(']', at) - at));
    return seen.size();
  }

 private:
  void stop() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  testing::Fifo output_;
  std::string port_;
  pid_t pid_ = 0;
};

TEST_F(HttpClientTls, shares_a_connection_of_http_2) {
  const auto certificate = TestCertificate::server("IP:127.0.0.1", authority_);
  certificate.save_certificate(folder_ / "server.pem");
  certificate.save_key(folder_ / "server.key");
  Nghttpd server(folder_ / "server.key", folder_ / "server.pem", folder_ / "");
  {
    Fetcher fetcher({.ca_file = ca_file_});
    std::vector<Fetcher::Started> started;
    for (int n = 0; n < 50; ++n) {
      started.push_back(
          fetcher.start({.method = "POST",
                         .url = server.url(),
                         .body = testing::shared_text("payload " + std::to_string(n))}));
    }
    for (int n = 0; n < 50; ++n) {
      const auto result = started[static_cast<std::size_t>(n)].result.get();
      ASSERT_TRUE(result.has_value()) << result.error().message;
      EXPECT_THAT(result->head, StartsWith("HTTP/2 200"));
      EXPECT_EQ(result->body, "payload " + std::to_string(n));
    }
    const auto strict =
        fetcher.fetch({.url = server.url(), .guard = std::make_shared<const AddressGuard>()});
    ASSERT_FALSE(strict.has_value()) << "a shared connection must be allowed to each who uses it";
    EXPECT_EQ(strict.error().fault, HttpFault::refused_address);
  }
  EXPECT_EQ(server.stop_and_count(), 1U);
}

}  // namespace
}  // namespace holdfast::io::http_client_tls_test
