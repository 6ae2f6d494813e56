#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "io/address_guard.hpp"
#include "ports/loop.hpp"

namespace holdfast::io {

struct HttpHeader {
  std::string name;
  std::string value;

  bool operator==(const HttpHeader&) const = default;
};

// Takes the body of an answer as it comes. Threads: the client's own, until the request is done.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  // 0, or the errno of why it could not be taken: then the request ends with HttpFault::local.
  [[nodiscard]] virtual int write(std::string_view bytes) noexcept = 0;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // http or https
  std::vector<HttpHeader> headers = {};
  std::shared_ptr<const std::string> body = {};  // shared, never copied as a whole
  Duration timeout = std::chrono::seconds(30);   // of all of it; zero or less: none
  // Nothing has come or gone for so long, give or take some seconds; zero or less: none. For what
  // may take its time while it goes on.
  Duration stall_timeout = {};
  Duration connect_timeout = std::chrono::seconds(10);
  std::size_t most_response_bytes = std::size_t{1} << 20;
  // Gets the body of an answer of 2xx, in place of HttpResponse::body; not more than so much of it.
  // It may block: then it holds up what else this client does.
  std::shared_ptr<HttpSink> sink = {};
  std::uint64_t most_sink_bytes = std::numeric_limits<std::uint64_t>::max();
  std::shared_ptr<const AddressGuard> guard = {};  // none: public addresses only
  // Addresses of names, instead of looking them up: "example.org:443:192.0.2.1". The guard sees
  // them like any other.
  std::vector<std::string> resolve = {};
};

struct HttpResponse {
  int status = 0;         // 0: none came
  std::string head = {};  // status line and headers, as they came
  std::string body = {};

  // The first header of that name, without the spaces around it; upper and lower case alike.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;
};

enum class HttpFault : std::uint8_t {
  bad_request,      // nothing that can be sent: its URL, its headers
  resolve,          // the name of the host could not be looked up
  connect,          // nobody there, or no way to there
  refused_address,  // the guard does not allow it; nothing was sent
  tls,              // no handshake, or a certificate that is not trusted
  timeout,
  cut_off,    // the connection broke before the whole answer was here
  too_large,  // the answer is longer than was asked for
  no_http,    // what came is no HTTP
  canceled,
  local,  // this machine lacks something
};

[[nodiscard]] std::string_view to_string(HttpFault fault) noexcept;

struct HttpError {
  HttpFault fault = HttpFault::local;
  std::string message = {};       // in words that the presets of the classifier know
  bool was_sent = false;          // the other side may have got some of the request, or all
  std::optional<int> os_error{};  // errno
  HttpResponse answer = {};       // what has come of it
};

using HttpResult = std::expected<HttpResponse, HttpError>;

struct HttpClientOptions {
  std::string ca_file = {};  // trusted certificates, PEM; empty: the system's
  // Never taken from the environment; empty: none. With one, guards see its address only.
  std::string proxy = {};
  std::string user_agent = "holdfast";
  std::size_t most_idle_connections = 1000;
  std::size_t most_connections = 0;  // at once; what is more waits for its turn; 0: no limit
  // What a slow request keeps in memory, from 1 KiB to 512 KiB: answers to machines are short.
  std::size_t receive_buffer_bytes = 4096;
};

// A request under way, to cancel it. Threads: any.
class HttpCall {
 public:
  HttpCall() = default;  // none

  // It comes back as canceled, unless it has ended by then. Also once the client is gone.
  void cancel() const;

 private:
  friend class HttpClient;
  struct Inbox;
  HttpCall(std::weak_ptr<Inbox> inbox, std::uint64_t id) : inbox_(std::move(inbox)), id_(id) {}

  std::weak_ptr<Inbox> inbox_;
  std::uint64_t id_ = 0;
};

// Sends HTTP requests from a thread of its own: thousands at once, over connections that are kept
// and, where the server can, shared (HTTP/2 over TLS).
//
// Certificates are always verified. Redirects are not followed, cookies not kept, answers not
// decompressed. The guard is asked about each address before it is connected to, and again about
// the connection that a request is about to be sent on, which an earlier one may have opened.
//
// A kept connection that turns out to be closed is replaced, and the request sent again.
class HttpClient {
 public:
  using Done = std::move_only_function<void(HttpResult)>;

  // `loop` must outlive the client. Fails with the error of the system if there are no descriptors
  // left, and with not_found and the like for the file of certificates.
  [[nodiscard]] static Result<HttpClient> start(ports::Loop& loop, HttpClientOptions options = {});

  // What is under way comes back as canceled.
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // `done` is called on the loop, exactly once, and never from within send(); if the loop is over
  // by then, it is destroyed. Threads: any.
  HttpCall send(HttpRequest request, Done done);

 private:
  class Worker;
  HttpClient(std::shared_ptr<HttpCall::Inbox> inbox, std::unique_ptr<Worker> worker);

  std::shared_ptr<HttpCall::Inbox> inbox_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace holdfast::io
