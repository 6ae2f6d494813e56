#include <atomic>
#include <future>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/server.hpp"
#include "io/loop.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::http::server_threads_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A caller that sends bytes as it likes.
class Caller {
 public:
  explicit Caller(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    // NOLINTNEXTLINE: what the system call wants.
    connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  [[nodiscard]] bool connected() const { return connected_; }
  bool send(std::string_view text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // One whole answer, by its Content-Length; what has come if the server closes before.
  std::string receive() {
    while (true) {
      const std::size_t head = come_.find("\r\n\r\n");
      if (head != std::string::npos) {
        std::size_t size = head + 4;
        const std::size_t length = come_.find("Content-Length: ");
        if (length < head && !head_only_) size += std::stoul(come_.substr(length + 16));
        if (come_.size() >= size) {
          std::string answer = come_.substr(0, size);
          come_.erase(0, size);
          return answer;
        }
      }
      char part[4096];
      const ssize_t size = ::recv(socket_.get(), part, sizeof part, 0);
      if (size <= 0) return std::exchange(come_, {});
      come_.append(part, static_cast<std::size_t>(size));
    }
  }
  std::string receive_bytes(std::size_t count) {
    while (come_.size() < count) {
      char part[4096];
      const ssize_t size = ::recv(socket_.get(), part, sizeof part, 0);
      if (size <= 0) return std::exchange(come_, {});
      come_.append(part, static_cast<std::size_t>(size));
    }
    std::string bytes = come_.substr(0, count);
    come_.erase(0, count);
    return bytes;
  }
  [[nodiscard]] bool is_closed() {
    char part[4096];
    while (true) {
      const ssize_t size = ::recv(socket_.get(), part, sizeof part, 0);
      if (size <= 0) return size == 0 || errno == ECONNRESET;
    }
  }
  std::string ask(std::string_view text) {
    send(text);
    return receive();
  }
  void hang_up() { socket_.reset(); }
  void say_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }
  void head_only() { head_only_ = true; }

 private:
  io::UniqueFd socket_;
  bool connected_ = false;
  bool head_only_ = false;
  std::string come_;
};

// A body that the test adds to.
class TestSource final : public BodySource {
 public:
  bool take(std::string& out, std::size_t) override {
    out += std::exchange(text_, {});
    return !over_;
  }
  void add(std::string_view text, bool is_last = false) {
    text_ += text;
    over_ = is_last;
    tell_more();
  }

 private:
  std::string text_;
  bool over_ = false;
};

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    add("GET", "/hello",
        [](const Request&, Reply reply) { reply({.body = "hi", .type = "text/plain"}); });
    add("POST", "/echo", [](Request request, Reply reply) {
      reply({.body = request.body, .type = "application/octet-stream"});
    });
    add("GET", "/bug", [](const Request&, const Reply&) { throw std::runtime_error("oops"); });
    add("GET", "/stream", [this](const Request&, Reply reply) {
      auto source = std::make_shared<TestSource>();
      source_ = source;
      reply({.type = "text/plain", .source = std::move(source)});
      asked_.set_value();
    });
    add("GET", "/late", [this](const Request& request, Reply reply) {
      request.gone->call([this] { gone_.set_value(); });
      late_ = std::move(reply);
      asked_.set_value();
    });
  }
  ~ServerTest() override {
    loop_.post([this] {
      late_ = nullptr;
      server_.reset();
      loop_.stop();
    });
    if (thread_.joinable()) thread_.join();
  }

  void add(const char* method, const char* pattern, std::function<void(Request, Reply)> handle) {
    routes_.add({.method = method, .pattern = pattern, .handle = std::move(handle)});
  }

  void start(ServerOptions options = {}) {
    options.port = 0;
    server_ = std::make_unique<Server>(loop_, gate_, std::move(options), Logger());
    const auto listening = server_->listen();
    ASSERT_TRUE(listening) << listening.error().text();
    port_ = server_->port();
    thread_ = std::thread([this] { loop_.run(); });
  }
  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  [[nodiscard]] Caller caller() const { return Caller(port_); }

  io::Loop loop_;
  Routes routes_;
  Gate gate_{routes_, Tokens()};
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::promise<void> asked_;
  std::promise<void> gone_;
  Reply late_;
  std::weak_ptr<TestSource> source_;
  std::thread thread_;
};

constexpr const char* kHello = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string post(std::string_view body) {
  return "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

TEST_F(ServerTest, answers_one_request_after_the_other_on_one_connection) {
  start();
  Caller caller = this->caller();
  for (int i = 0; i < 3; ++i) {
    const std::string answer = caller.ask(kHello);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nDate: "));
    EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\n\r\nhi"));
  }
  const std::string large(1'000'000, 'x');
  EXPECT_THAT(caller.ask(post(large)), HasSubstr("\r\n\r\n" + large));
}

TEST_F(ServerTest, answers_what_came_at_once_in_its_order) {
  start();
  Caller caller = this->caller();
  ASSERT_TRUE(caller.send(post("one") + kHello + post("two")));
  EXPECT_THAT(caller.receive(), HasSubstr("\r\n\r\none"));
  EXPECT_THAT(caller.receive(), HasSubstr("\r\n\r\nhi"));
  EXPECT_THAT(caller.receive(), HasSubstr("\r\n\r\ntwo"));
}

TEST_F(ServerTest, takes_a_request_byte_by_byte_and_in_chunks) {
  start();
  Caller caller = this->caller();
  for (const char c : post("slowly"))
    ASSERT_TRUE(caller.send(std::string_view(&c, 1)));
  EXPECT_THAT(caller.receive(), HasSubstr("\r\n\r\nslowly"));
  EXPECT_THAT(caller.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                         "\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
              HasSubstr("\r\n\r\nabcde"));
}

TEST_F(ServerTest, says_that_it_wants_the_body) {
  start();
  Caller caller = this->caller();
  EXPECT_EQ(caller.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                       "Expect: 100-continue\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(caller.ask("ok"), HasSubstr("\r\n\r\nok"));
}

TEST_F(ServerTest, answers_after_it_has_asked_for_a_body_that_was_there_already) {
  start();
  Caller caller = this->caller();
  ASSERT_TRUE(
      caller.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                  "Expect: 100-continue\r\n\r\nok"));
  EXPECT_EQ(caller.receive(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(caller.receive(), HasSubstr("\r\n\r\nok"));
}

TEST_F(ServerTest, refuses_before_the_body_is_sent) {
  start({.max_body = 1000});
  Caller large = caller();
  EXPECT_THAT(large.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_TRUE(large.is_closed());
  Caller lost = caller();
  EXPECT_THAT(lost.ask("POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_TRUE(lost.is_closed());
  Caller chunked = caller();
  chunked.send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7D0\r\n");
  chunked.send(std::string(2000, 'x'));
  EXPECT_THAT(chunked.receive(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(ServerTest, goes_on_after_a_refusal_that_left_nothing_unread) {
  start();
  Caller caller = this->caller();
  EXPECT_THAT(caller.ask("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(caller.ask(kHello), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, refuses_what_is_not_http) {
  start({.max_head = 4000});
  EXPECT_THAT(caller().ask("SSH-2.0-OpenSSH_9.2\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(caller().ask("GET / HTTP/1.1\r\nX: " + std::string(5000, 'y') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(caller().ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(caller().ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                           "Transfer-Encoding: chunked\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(ServerTest, a_head_is_asked_for_without_its_body) {
  start();
  Caller caller = this->caller();
  caller.head_only();
  const std::string answer = caller.ask("HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 2"));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\n"));
}

TEST_F(ServerTest, cuts_off_slow_callers) {
  start({.header_timeout = 400ms, .body_timeout = 400ms, .idle_timeout = 400ms});
  Caller head = caller();
  EXPECT_THAT(head.ask("GET /hel"), StartsWith("HTTP/1.1 408 "));
  EXPECT_TRUE(head.is_closed());
  Caller body = caller();
  EXPECT_THAT(body.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab"),
              StartsWith("HTTP/1.1 408 "));
  Caller silent = caller();
  EXPECT_TRUE(silent.is_closed());
  Caller idle = caller();
  EXPECT_THAT(idle.ask(kHello), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(idle.is_closed());
}

TEST_F(ServerTest, has_no_more_connections_than_it_may) {
  start({.max_connections = 2});
  Caller first = caller();
  Caller second = caller();
  EXPECT_THAT(first.ask(kHello), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(second.ask(kHello), StartsWith("HTTP/1.1 200 "));
  Caller third = caller();
  EXPECT_THAT(third.receive(), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(first.ask(kHello), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, notices_that_a_caller_has_gone) {
  start();
  Caller caller = this->caller();
  ASSERT_TRUE(caller.send("GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  asked_.get_future().wait();
  on_loop([this] { EXPECT_EQ(server_->requests_under_way(), 1U); });
  caller.hang_up();
  EXPECT_EQ(gone_.get_future().wait_for(20s), std::future_status::ready);
  on_loop([this] {
    EXPECT_EQ(server_->requests_under_way(), 0U);
    late_({.body = "too late"});  // to nobody
  });
}

// The parser itself has no limit for these two.
TEST_F(ServerTest, what_is_around_chunks_has_a_limit_too) {
  start({.max_head = 4096});
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  Caller extension(port_);
  EXPECT_THAT(extension.ask(head + "1;" + std::string(8000, 'a')), StartsWith("HTTP/1.1 431 "));
  Caller trailer(port_);
  EXPECT_THAT(trailer.ask(head + "0\r\nX: " + std::string(8000, 'a')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(ServerTest, a_body_that_nobody_wants_is_not_read) {
  start();
  Caller caller(port_);
  EXPECT_THAT(
      caller.ask("GET /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"),
      StartsWith("HTTP/1.1 413 "));
}

TEST_F(ServerTest, who_has_said_all_still_gets_its_answer) {
  start();
  Caller caller(port_);
  caller.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
  caller.say_no_more();
  EXPECT_THAT(caller.receive(), HasSubstr("\r\n\r\nhi"));
  EXPECT_TRUE(caller.is_closed());
}

TEST_F(ServerTest, callers_that_have_gone_take_no_place) {
  start({.max_connections = 2});
  for (int i = 0; i < 20; ++i) {
    Caller caller(port_);
    EXPECT_THAT(caller.ask("GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 200 "));
    EXPECT_TRUE(caller.is_closed());
  }
}

TEST_F(ServerTest, a_route_that_throws_is_answered) {
  start();
  Caller caller = this->caller();
  EXPECT_THAT(caller.ask("GET /bug HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(caller.ask(kHello), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, answers_what_is_under_way_when_it_stops) {
  start();
  Caller idle = caller();
  EXPECT_THAT(idle.ask(kHello), StartsWith("HTTP/1.1 200 "));
  Caller late = caller();
  ASSERT_TRUE(late.send("GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  asked_.get_future().wait();
  on_loop([this] { server_->stop_accepting(); });
  EXPECT_TRUE(idle.is_closed());
  EXPECT_FALSE(caller().connected());
  on_loop([this] { late_({.body = "done"}); });
  const std::string answer = late.receive();
  EXPECT_THAT(answer, HasSubstr("\r\n\r\ndone"));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
}

TEST_F(ServerTest, sends_a_stream_bit_by_bit) {
  start();
  Caller caller = this->caller();
  ASSERT_TRUE(caller.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const std::string head = caller.receive();
  EXPECT_THAT(head, HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(head, ::testing::Not(HasSubstr("Content-Length")));
  on_loop([this] { source_.lock()->add("one"); });
  EXPECT_EQ(caller.receive_bytes(8), "3\r\none\r\n");
  const std::string large(200'000, 'x');
  on_loop([&] { source_.lock()->add(large); });
  EXPECT_EQ(caller.receive_bytes(large.size() + 9), "30d40\r\n" + large + "\r\n");
  on_loop([this] { source_.lock()->add("end", true); });
  EXPECT_EQ(caller.receive_bytes(13), "3\r\nend\r\n0\r\n\r\n");
  EXPECT_THAT(caller.ask(kHello), StartsWith("HTTP/1.1 200 ")) << "and the connection goes on";
}

TEST_F(ServerTest, a_stream_ends_with_its_reader) {
  start();
  Caller caller = this->caller();
  ASSERT_TRUE(caller.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  caller.receive();
  caller.hang_up();
  bool gone = false;
  while (!gone)
    on_loop([&] { gone = source_.expired(); });
}

TEST_F(ServerTest, a_stream_for_old_callers_is_not_in_chunks) {
  start();
  Caller caller = this->caller();
  ASSERT_TRUE(caller.send("GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(caller.receive(), ::testing::Not(HasSubstr("chunked")));
  on_loop([this] { source_.lock()->add("all", true); });
  EXPECT_EQ(caller.receive(), "all");
}

TEST_F(ServerTest, streams_end_when_it_stops) {
  start();
  Caller caller = this->caller();
  ASSERT_TRUE(caller.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  caller.receive();
  on_loop([this] { server_->stop_accepting(); });
  EXPECT_EQ(caller.receive_bytes(5), "0\r\n\r\n");
  EXPECT_TRUE(caller.is_closed());
  EXPECT_TRUE(source_.expired());
}

TEST_F(ServerTest, a_head_of_a_stream_is_no_stream) {
  start();
  Caller caller = this->caller();
  caller.head_only();
  EXPECT_THAT(caller.ask("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  on_loop([this] { EXPECT_TRUE(source_.expired()); });
  EXPECT_THAT(caller.ask(kHello), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, tells_what_it_has_answered) {
  std::vector<std::string> told;
  start({.on_answered = [&](const Route* route, int status) {
    told.push_back((route ? route->pattern : "none") + " " + std::to_string(status));
  }});
  Caller caller = this->caller();
  caller.ask(kHello);
  caller.ask("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
  caller.ask(kHello);
  on_loop(
      [&] { EXPECT_EQ(told, (std::vector<std::string>{"/hello 200", "none 404", "/hello 200"})); });
}

TEST_F(ServerTest, callers_wait_while_the_port_is_taken_and_nobody_listens_yet) {
  server_ = std::make_unique<Server>(loop_, gate_, ServerOptions{.port = 0}, Logger());
  ASSERT_TRUE(server_->bind());
  port_ = server_->port();
  Caller early = caller();
  ASSERT_TRUE(early.send(kHello));
  thread_ = std::thread([this] { loop_.run(); });
  on_loop([this] { ASSERT_TRUE(server_->listen()); });
  EXPECT_THAT(early.receive(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, says_why_it_cannot_listen) {
  start();
  io::Loop loop;
  Server other(loop, gate_, {.port = port_}, Logger());
  const auto refused = other.listen();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("Address already in use"));
  Server nowhere(loop, gate_, {.address = "nowhere"}, Logger());
  EXPECT_FALSE(nowhere.listen());
  Server bare(loop, gate_, {.port = 0, .tls_certificate = "/none", .tls_key = "/none"}, Logger());
  EXPECT_FALSE(bare.listen());
}

}  // namespace
}  // namespace holdfast::http::server_threads_test
