#include "node/remote_server.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/http_url.hpp"
#include "wire/problem.hpp"

namespace holdfast::node {
namespace {

// A whole page of tasks, or as many claims as are asked for at once, with room to spare.
constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 30U;
// Beside those that wait at the server. A thousand tasks that end together take turns.
constexpr std::size_t kMostConnections = 32;

std::unexpected<Error> open_error(std::string message) {
  return fail(ErrorCode::invalid_argument, "open", std::move(message));
}

bool is_loopback(std::string_view host) {
  if (host.starts_with('[')) return host.starts_with("[::1]");
  const std::string_view name = host.substr(0, host.find(':'));
  if (name == "localhost") return true;
  const auto address = io::IpAddress::parse(name);
  return address && io::kind_of(*address) == io::AddressKind::loopback;
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c == '\x7f' || (c >= 0 && c < ' '); });
}

ErrorCode code_of(io::HttpFault fault) {
  switch (fault) {
    case io::HttpFault::bad_request:
    case io::HttpFault::refused_address: return ErrorCode::invalid_argument;
    case io::HttpFault::timeout: return ErrorCode::timeout;
    case io::HttpFault::too_large: return ErrorCode::exhausted;
    case io::HttpFault::canceled: return ErrorCode::canceled;
    default: return ErrorCode::unavailable;
  }
}

bool may_pass(io::HttpFault fault) {
  return fault == io::HttpFault::resolve || fault == io::HttpFault::connect ||
         fault == io::HttpFault::timeout || fault == io::HttpFault::cut_off;
}

bool may_pass(int status) {
  return status == 408 || status == 429 || status == 502 || status == 503 || status == 504;
}

// "submit: queue is empty" → "queue is empty", where it is said already that this is a submit.
std::string without_operation(std::string message, const std::string& operation) {
  const std::string prefix = operation + ": ";
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  return message;
}

}  // namespace

bool is_remote(std::string_view url) noexcept {
  const auto starts_with = [&](std::string_view scheme) {
    return url.size() >= scheme.size() &&
           std::ranges::equal(url.substr(0, scheme.size()), scheme, {}, [](char c) {
             return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
           });
  };
  return starts_with("http://") || starts_with("https://");
}

Failure to_failure(const RemoteFault& fault) {
  // What the policy goes by: see remote_link.cpp.
  Failure failure{.message = fault.error.text(), .http_status = fault.may_pass ? 503 : 400};
  failure.retry_after = fault.retry_after;
  return failure;
}

Result<RemoteServer> RemoteServer::make(RemoteOptions options) {
  const std::string_view after_scheme =
      std::string_view(options.url).substr(options.url.find("://") + 3);
  const std::string_view authority = after_scheme.substr(0, after_scheme.find_first_of("/?#"));
  if (authority.find('@') != authority.npos || options.url.find('?') != options.url.npos ||
      options.url.find('#') != options.url.npos) {
    return open_error(
        "the URL of a server is http://HOST:PORT or https://HOST:PORT: a token in it would end up "
        "in logs, so give it apart (the option `token`, or HOLDFAST_API_TOKEN for the command "
        "line)");
  }
  const auto host = io::host_of(options.url);
  if (!host) {
    return open_error(
        fmt::format("\"{}\" is no URL of a server: {}", options.url, host.error().message));
  }
  if (has_control_character(options.token)) {
    return open_error("the token has a line break or another control character in it");
  }
  const bool is_plain = options.url[4] == ':';
  if (!options.token.empty() && is_plain && !options.token_in_the_clear && !is_loopback(*host)) {
    return open_error(fmt::format(
        "the token is not sent over {}: it could be read on its way. Use https://, or allow it "
        "(the option `token_in_the_clear`, or --token-in-the-clear) where the way is safe",
        options.url));
  }
  while (options.url.ends_with('/'))
    options.url.pop_back();
  RemoteServer server;
  // Users name their own server, wherever it is.
  const std::vector<std::string> everywhere{"0.0.0.0/0", "::/0"};
  auto guard = io::AddressGuard::make(everywhere);
  if (!guard) return std::unexpected(std::move(guard).error());
  server.guard_ = std::make_shared<const io::AddressGuard>(*std::move(guard));
  server.options_ = std::move(options);
  return server;
}

io::HttpClientOptions RemoteServer::client_options() const {
  return {.ca_file = options_.ca_file,
          .user_agent = "holdfast-client",
          .most_connections = kMostConnections + options_.polls};
}

io::HttpRequest RemoteServer::request(const RemoteCall& call) const {
  io::HttpRequest request{
      .method = call.method,
      .url = options_.url + call.path,
      .timeout = call.timeout,
      .stall_timeout = call.stall_timeout,
      .connect_timeout = std::min<Duration>(call.timeout, std::chrono::seconds(5)),
      .most_response_bytes = kMostAnswerBytes,
      .guard = guard_};
  if (!options_.token.empty()) {
    request.headers.push_back({"Authorization", "Bearer " + options_.token});
  }
  if (call.method == "POST") {
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = std::make_shared<const std::string>(call.body);
  }
  return request;
}

RemoteAnswer RemoteServer::answer(io::HttpResult result, const std::string& operation,
                                  WallTime now) const {
  if (!result) return std::unexpected(unanswered(result.error(), operation));
  if (result->status >= 200 && result->status < 300) return std::move(result->body);
  return std::unexpected(refused(*result, operation, now));
}

RemoteFault RemoteServer::unanswered(const io::HttpError& error,
                                     const std::string& operation) const {
  return {.error = {code_of(error.fault), operation,
                    fmt::format("{}: {}", options_.url, error.message)},
          .status = 0,
          .may_pass = may_pass(error.fault),
          .retry_after = {},
          .was_sent = error.was_sent,
          .is_of_holdfast = false};
}

RemoteFault RemoteServer::refused(const io::HttpResponse& response, const std::string& operation,
                                  WallTime now) const {
  RemoteFault fault{.status = response.status,
                    .may_pass = may_pass(response.status),
                    .retry_after = {},
                    .was_sent = true,
                    .is_of_holdfast = false};
  if (const auto header = response.header("Retry-After")) {
    fault.retry_after = parse_retry_after(*header, now);
  }
  auto problem = wire::read_problem(response.body);
  const auto type = response.header("Content-Type");
  fault.is_of_holdfast = problem && problem->type.starts_with("urn:holdfast:") && type &&
                         type->starts_with(wire::kProblemMediaType);
  if (!problem) {
    problem = wire::Problem{};
    problem->detail = fmt::format("{} answers with status {}", options_.url, response.status);
  }
  problem->status = response.status;
  fault.error = wire::error_of(*problem, operation);
  fault.error.message = without_operation(std::move(fault.error.message), operation);
  if (response.status >= 300 && response.status < 400) {
    fault.error = {ErrorCode::invalid_argument, operation,
                   fmt::format("{} answers with a redirect ({}), which is not followed: give the "
                               "address that it leads to",
                               options_.url, response.status)};
  }
  if (response.status == 401) {
    fault.error.code = ErrorCode::invalid_argument;
    fault.error.message =
        options_.token.empty()
            ? fmt::format("{} wants a token, and none was given", options_.url)
            : fmt::format("{} does not know the token that was given", options_.url);
  }
  if (response.status == 403) {
    fault.error.code = ErrorCode::invalid_argument;
    fault.error.message = fmt::format("{} refuses: {}", options_.url, fault.error.message);
  }
  return fault;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace holdfast::node
