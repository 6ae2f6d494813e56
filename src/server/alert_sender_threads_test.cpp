#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing/log_capture.hpp>

#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"
#include "io/loop.hpp"
#include "server/alert_sender.hpp"

namespace holdfast::server::alert_sender_threads_test {
namespace {

using holdfast::testing::http_answer;
using holdfast::testing::ServedRequest;
using holdfast::testing::TestServer;
using ::testing::ElementsAre;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class AlertSenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = AlertSender::make(client_, loop_,
                                  {.url = server_.url("/planted-path"),
                                   .secret = "planted-secret-of-the-test",
                                   .guard = holdfast::testing::allowing({"loopback"}),
                                   .wait = retry::fixed(1ms),
                                   .attempts = 3},
                                  Logger(log_));
    ASSERT_TRUE(made) << made.error().text();
    sender_ = *std::move(made);
  }
  void TearDown() override {
    for (const auto& line : log_.entries()) {
      for (const auto& [name, value] : line.fields)
        EXPECT_EQ(value.find("planted"), std::string::npos) << name << ": " << value;
    }
  }

  std::string answer(const ServedRequest& request) {
    const std::lock_guard lock(mutex_);
    came_.push_back(request);
    if (answers_.empty()) return http_answer("200 OK");
    const std::string status = answers_.front();
    answers_.erase(answers_.begin());
    return http_answer(status);
  }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> bodies;
    for (const ServedRequest& request : came_)
      bodies.push_back(request.body);
    return bodies;
  }
  // Lets the loop run until it is so.
  void run_until(std::function<bool()> is_so) {
    is_so_ = std::move(is_so);
    look();
    loop_.run();
  }
  void look() {
    if (is_so_()) {
      timer_.reset();
      sender_.reset();
      return loop_.stop();
    }
    timer_ = loop_.after(1ms, [this] { look(); });
  }

  std::mutex mutex_;
  std::vector<ServedRequest> came_;
  std::vector<std::string> answers_;
  TestServer server_{TestServer::each([this](const auto& request) { return answer(request); })};
  holdfast::testing::LogCapture log_;
  io::Loop loop_;
  io::HttpClient client_ = io::HttpClient::start(loop_).value();
  std::function<bool()> is_so_;
  std::unique_ptr<ports::Loop::Timer> timer_;
  std::unique_ptr<AlertSender> sender_;
};

TEST_F(AlertSenderTest, sends_one_after_the_other_again_until_it_is_taken) {
  answers_ = {"503 Busy", "502 Bad Gateway"};
  sender_->send("1");
  sender_->send("2");
  run_until([this] { return bodies().size() == 4; });
  EXPECT_THAT(bodies(), ElementsAre("1", "1", "1", "2"));
  EXPECT_EQ(came_[0].header("webhook-id"), came_[2].header("webhook-id"));
  EXPECT_NE(came_[2].header("webhook-id"), came_[3].header("webhook-id"));
  EXPECT_THAT(came_[0].header("webhook-signature"), StartsWith("v1,"));
}

TEST_F(AlertSenderTest, gives_up_in_the_end_or_at_once_and_says_so) {
  answers_ = {"503 Busy", "503 Busy", "503 Busy", "410 Gone"};
  for (const char* text : {"1", "2", "3"})
    sender_->send(text);
  run_until([this] { return bodies().size() == 5; });
  EXPECT_THAT(bodies(), ElementsAre("1", "1", "1", "2", "3"));
  EXPECT_EQ(log_.of("alert.not_sent").size(), 2U);
}

TEST_F(AlertSenderTest, lets_the_oldest_go_when_too_many_wait) {
  for (std::size_t i = 0; i < AlertSender::kMostWaiting + 2; ++i)
    sender_->send(std::to_string(i));
  run_until([this] { return bodies().size() == AlertSender::kMostWaiting; });
  EXPECT_EQ(bodies()[0], "0") << "it was on its way";
  EXPECT_EQ(bodies()[1], "3");
  EXPECT_EQ(log_.of("alert.dropped").size(), 2U);
}

}  // namespace
}  // namespace holdfast::server::alert_sender_threads_test
