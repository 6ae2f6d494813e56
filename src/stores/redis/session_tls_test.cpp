#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing.hpp>

#include "io/tls_testing.hpp"
#include "stores/redis/session.hpp"
#include "stores/redis/session_testing.hpp"
#include "support/redis_server.hpp"

namespace holdfast::stores::redis::session_tls_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using testing::RedisServer;
using testing::TemporaryFolder;
using testing::TestCertificate;

class RedisTls : public ::testing::Test {
 protected:
  // A server whose certificate is for these names.
  RedisServer::Options serving(const std::string& names) const {
    const auto certificate = TestCertificate::server(names, authority_);
    certificate.save_certificate(folder_ / "server.pem");
    certificate.save_key(folder_ / "server.key");
    authority_.save_certificate(folder_ / "ca.pem");
    return {.tls_certificate = folder_ / "server.pem", .tls_key = folder_ / "server.key"};
  }
  static std::string url(std::uint16_t port, const std::string& ca_file) {
    return "rediss://127.0.0.1:" + std::to_string(port) + "?ca=" + ca_file;
  }
  // What a PING is answered with, or the error's text.
  static std::string ping(const std::string& url, Duration connect_timeout = 30s) {
    FakeClock clock;
    SessionOptions options = options_for(url);
    options.connect_timeout = connect_timeout;
    Session session(options, clock);
    return text_of(session.run(commands({{"PING"}}))[0]);
  }

  TemporaryFolder folder_;
  const TestCertificate authority_ = TestCertificate::authority("the test's own");
};

TEST_F(RedisTls, carries_commands_of_every_size) {
  const RedisServer server(serving("IP:127.0.0.1"));
  Session session(options_for(url(server.tls_port(), folder_ / "ca.pem")));
  const std::string large(std::size_t{5} << 20U, 'x');
  Pipeline pipeline = commands({{"PING"}});
  for (int n = 0; n < 4; ++n)
    pipeline.add(std::array<std::string_view, 2>{"ECHO", large});
  const auto answers = session.run(pipeline);
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(text_of(answers[0]), "PONG");
  for (std::size_t n = 1; n < 5; ++n) {
    ASSERT_TRUE(answers[n]) << answers[n].error().text();
    EXPECT_TRUE(answers[n]->view().text() == large);
  }
}

TEST_F(RedisTls, connects_again_after_the_connection_was_lost) {
  const RedisServer server(serving("IP:127.0.0.1"));
  FakeClock clock;
  Session session(options_for(url(server.tls_port(), folder_ / "ca.pem")), clock);
  EXPECT_THAT(texts_of(session.run(commands({{"PING"}}))), ElementsAre("PONG"));
  (void)server.ask({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_THAT(texts_of(session.run(commands({{"PING"}}))), ElementsAre("PONG"));
}

TEST_F(RedisTls, whoever_is_not_vouched_for_is_not_talked_to) {
  const RedisServer server(serving("IP:127.0.0.1"));
  TestCertificate::authority("another").save_certificate(folder_ / "other.pem");
  EXPECT_THAT(ping(url(server.tls_port(), folder_ / "other.pem")),
              HasSubstr("Redis's certificate is not to be trusted"));
  EXPECT_THAT(ping("rediss://127.0.0.1:" + std::to_string(server.tls_port())),
              HasSubstr("Redis's certificate is not to be trusted"));
}

TEST_F(RedisTls, whoever_has_another_name_is_not_talked_to) {
  const RedisServer server(serving("IP:127.0.0.2,DNS:elsewhere"));
  EXPECT_THAT(ping(url(server.tls_port(), folder_ / "ca.pem")),
              HasSubstr("Redis's certificate is not for 127.0.0.1"));
}

TEST_F(RedisTls, a_host_is_known_by_its_name) {
  const RedisServer server(serving("DNS:localhost"));
  EXPECT_EQ(ping("rediss://localhost:" + std::to_string(server.tls_port()) +
                 "?ca=" + (folder_ / "ca.pem")),
            "PONG");
}

// It waits for the end of what it takes for a line.
TEST_F(RedisTls, a_port_without_tls_is_named) {
  const RedisServer server(serving("IP:127.0.0.1"));
  EXPECT_THAT(ping(url(server.port(), folder_ / "ca.pem"), 100ms), HasSubstr("tls-port"));
}

TEST_F(RedisTls, a_file_that_cannot_be_read_is_the_callers_mistake) {
  FakeClock clock;
  Session session(options_for("rediss://127.0.0.1:1?ca=/nowhere.pem"), clock);
  const auto answers = session.run(commands({{"PING"}}));
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(answers[0].error().message, HasSubstr("/nowhere.pem"));
  EXPECT_TRUE(clock.slept().empty());
}

}  // namespace
}  // namespace holdfast::stores::redis::session_tls_test
