#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/failure.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "io/http_client.hpp"

// What clients and workers of a server elsewhere share: how it is asked, and what its answers mean.
namespace holdfast::node {

// Whether a URL is that of a server.
[[nodiscard]] bool is_remote(std::string_view url) noexcept;

struct RemoteOptions {
  std::string url = {};  // "https://tasks.example.org", with a path in front of /v1 or without
  std::string token = {};
  std::string ca_file = {};
  bool token_in_the_clear = false;
  std::size_t polls = 0;  // calls at once that wait at the server
};

// What a call that did not go well has come to.
struct RemoteFault {
  Error error = {};
  int status = 0;                            // of HTTP; 0: there was no answer
  bool may_pass = false;                     // worth asking again
  std::optional<Duration> retry_after = {};  // not before
  bool was_sent = false;                     // it may have happened
  bool is_of_holdfast = false;               // and not of something in front of it
};
// Found by the policy of retries.
[[nodiscard]] Failure to_failure(const RemoteFault& fault);

using RemoteAnswer = std::expected<std::string, RemoteFault>;  // the body of an answer 2xx

struct RemoteCall {
  std::string operation = {};
  std::string method = "POST";
  std::string path = {};  // "/v1/tasks", with its query
  std::string body = {};  // JSON
  Duration timeout = std::chrono::seconds(30);
  Duration stall_timeout = {};  // see io::HttpRequest
};

// A server, as its URL and options name it. A value; it has no connection.
class RemoteServer {
 public:
  // Fails with invalid_argument; no message shows a token.
  [[nodiscard]] static Result<RemoteServer> make(RemoteOptions options);

  [[nodiscard]] const std::string& url() const noexcept { return options_.url; }
  [[nodiscard]] io::HttpClientOptions client_options() const;
  [[nodiscard]] io::HttpRequest request(const RemoteCall& call) const;
  [[nodiscard]] RemoteAnswer answer(io::HttpResult result, const std::string& operation,
                                    WallTime now) const;

 private:
  [[nodiscard]] RemoteFault refused(const io::HttpResponse& response, const std::string& operation,
                                    WallTime now) const;
  [[nodiscard]] RemoteFault unanswered(const io::HttpError& error,
                                       const std::string& operation) const;

  RemoteOptions options_;
  std::shared_ptr<const io::AddressGuard> guard_;
};

// "a b/c" → "a%20b%2Fc"
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace holdfast::node
