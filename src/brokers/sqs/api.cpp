#include "brokers/sqs/api.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "brokers/sqs/json.hpp"

namespace holdfast::brokers::sqs {
namespace {

// Ten messages of the largest size, every character of them an escape.
constexpr std::size_t kMostAnswerBytes = std::size_t{64} << 20;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

// The operator says where SQS is: that may well be this machine, or a private network.
std::shared_ptr<const io::AddressGuard> any_address() {
  const std::array<std::string, 2> all = {"0.0.0.0/0", "::/0"};
  return std::make_shared<const io::AddressGuard>(
      io::AddressGuard::make(all).value_or(io::AddressGuard()));
}

std::string endpoint_of(const Options& options) {
  if (!options.endpoint.empty()) return options.endpoint;
  const bool is_china = options.at.region.starts_with("cn-");
  return fmt::format("https://sqs.{}.amazonaws.com{}", options.at.region, is_china ? ".cn" : "");
}

}  // namespace

io::HttpRequest signed_request(std::string_view endpoint, std::string_view region,
                               const Request& request, const io::AwsCredentials& credentials,
                               WallTime now) {
  const std::size_t colon = std::min(endpoint.find("://"), endpoint.size());
  const std::string scheme = lower(endpoint.substr(0, colon));
  const std::string_view rest = endpoint.substr(std::min(colon + 3, endpoint.size()));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string host = lower(rest.substr(0, slash));
  std::string path(rest.substr(slash));
  // Nobody sends the port that goes without saying, so nobody signs it.
  const std::string_view own_port = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(own_port)) host.resize(host.size() - own_port.size());
  while (path.ends_with('/'))
    path.pop_back();
  path += '/';
  io::HttpRequest http;
  http.method = "POST";
  http.url = fmt::format("{}://{}{}", scheme, host, path);
  http.body = std::make_shared<const std::string>(request.body);
  const std::string signed_path = io::aws_encoded(path, io::Slash::kept);
  http.headers = io::signed_headers(
      {.method = "POST",
       .host = host,
       .path = signed_path,
       .headers = {{"Content-Type", "application/x-amz-json-1.0"},
                   {"X-Amz-Target", fmt::format("AmazonSQS.{}", request.operation)}},
       .body = *http.body,
       .region = region,
       .service = "sqs"},
      credentials, now);
  http.timeout = request.timeout;
  http.most_response_bytes = kMostAnswerBytes;
  return http;
}

// One request, for as long as it is tried.
struct Api::Call {
  Call(Request asked, Then told, const retry::Policy& policy)
      : request(std::move(asked)), then(std::move(told)), tries(policy) {}

  Request request;
  Then then;
  Tries tries;
  io::AwsCredentials signed_by = {};
  bool has_new_credentials = false;
};

Api::Api(ports::Loop& loop, const Options& options, Clock& clock, const Logger& log)
    : loop_(loop),
      options_(options),
      clock_(clock),
      log_(log),
      endpoint_(endpoint_of(options)),
      policy_(logged(request_policy(options, clock), options, log)),
      guard_(any_address()),
      client_(io::HttpClient::start(loop, {.ca_file = options.ca_file,
                                           .user_agent = options.client,
                                           .receive_buffer_bytes = std::size_t{64} << 10})) {
  if (client_) credentials_.emplace(loop, *client_, options.credentials, clock);
}

void Api::call(Request request, Then then) {
  attempt(std::make_shared<Call>(std::move(request), std::move(then), policy_));
}

void Api::attempt(std::shared_ptr<Call> call) {
  if (!client_) {
    loop_.post([this, call = std::move(call), why = client_.error()] {
      const Trouble trouble{.kind = Trouble::Kind::unsent, .message = why.text()};
      note(trouble);
      call->then(std::unexpected(trouble));
    });
    return;
  }
  credentials_->get([this, call = std::move(call)](const Result<io::AwsCredentials>& found) {
    if (found) return send(call, *found);
    const Trouble trouble{.kind = Trouble::Kind::unsent, .message = found.error().text()};
    note(trouble);
    call->then(std::unexpected(trouble));
  });
}

void Api::send(std::shared_ptr<Call> call, const io::AwsCredentials& credentials) {
  call->signed_by = credentials;
  io::HttpRequest request =
      signed_request(endpoint_, options_.at.region, call->request, credentials, clock_.wall_now());
  request.connect_timeout = options_.connect_timeout;
  request.guard = guard_;
  client_->send(std::move(request), [this, call = std::move(call)](io::HttpResult result) {
    if (!result) return failed(call, trouble_of(result.error()));
    if (result->status != 200) return failed(call, trouble_of(*result, clock_.wall_now()));
    if (result->body.empty()) result->body = "{}";
    if (!is_object(result->body)) return failed(call, trouble_of(*result, clock_.wall_now()));
    note(std::nullopt);
    call->tries.succeeded();
    call->then(std::move(result->body));
  });
}

void Api::failed(std::shared_ptr<Call> call, Trouble trouble) {
  if (trouble.is_of_credentials() && !std::exchange(call->has_new_credentials, true) &&
      credentials_->refuse(call->signed_by)) {
    log_.log(Level::info, "broker.credentials",
             "SQS calls the credentials expired; they are fetched anew.",
             {{"broker", options_.at.text()}, {"error", trouble.code}});
    return attempt(std::move(call));
  }
  note(trouble);
  const auto until =
      call->request.is_tried_again ? call->tries.failed(trouble) : std::optional<SteadyTime>();
  if (!until) return call->then(std::unexpected(std::move(trouble)));
  at(*until, [this, call = std::move(call)]() mutable { attempt(std::move(call)); });
}

void Api::note(const std::optional<Trouble>& trouble) {
  const bool usable = !trouble || !trouble->is_of_broker();
  if (usable_ == usable) return;
  usable_ = usable;
  if (on_change_) on_change_(usable ? std::nullopt : trouble);
}

void Api::at(SteadyTime when, ports::Loop::Work work) {
  const Duration wait = std::max(when - clock_.now(), Duration::zero());
  const std::uint64_t number = ++last_timer_;
  timers_.emplace(number, loop_.after(wait, [this, number, work = std::move(work)]() mutable {
    const auto gone = timers_.extract(number);  // not before this has run
    work();
  }));
}

}  // namespace holdfast::brokers::sqs
