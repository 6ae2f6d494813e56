#include "io/aws_credentials.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/json_check.hpp"
#include "core/json_text.hpp"
#include "core/time_text.hpp"
#include "io/text_file.hpp"
#include "io/trimmed.hpp"
#include "wire/json_cursor.hpp"

namespace holdfast::io {
namespace {

constexpr const char* kCredentialsOperation = "find AWS credentials";
constexpr Duration kRefreshBefore = std::chrono::minutes(5);
// Where there is no such endpoint, nobody answers at all; where there is one, it is near.
constexpr Duration kConnectTimeout = std::chrono::seconds(1);
constexpr Duration kTimeout = std::chrono::seconds(5);
constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;
constexpr std::string_view kRolePath = "/latest/meta-data/iam/security-credentials/";

enum class Origin : bool { fixed, changing };

struct Found {
  AwsCredentials credentials;
  std::optional<WallTime> expires = {};
  Origin origin = Origin::changing;
};

std::unexpected<Error> failed(ErrorCode code, std::string message) {
  return fail(code, kCredentialsOperation, std::move(message));
}

// What the endpoints of containers and instances answer.
Result<Found> read_answer(std::string_view text) {
  if (!is_json(text) || wire::JsonCursor(text).kind() != wire::JsonKind::object)
    return failed(ErrorCode::unavailable, "the endpoint's answer is no JSON object");
  Found found;
  wire::JsonCursor cursor(text);
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    const wire::JsonValue value = cursor.take();
    if (value.kind != wire::JsonKind::string) continue;
    const std::string said = wire::unescaped(value.text.substr(1, value.text.size() - 2));
    if (*key == "AccessKeyId") found.credentials.access_key = said;
    if (*key == "SecretAccessKey") found.credentials.secret_key = said;
    if (*key == "Token") found.credentials.session_token = said;
    if (*key == "Expiration") {
      if (const auto time = parse_rfc3339(said)) found.expires = *time;
    }
  }
  if (found.credentials.access_key.empty() || found.credentials.secret_key.empty())
    return failed(ErrorCode::unavailable, "the endpoint's answer has no keys in it");
  return found;
}

// Secrets go over plain HTTP only to where nobody else listens.
bool may_be_plain(std::string_view url) {
  constexpr std::array<std::string_view, 6> kHosts = {
      "localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  if (url.starts_with("https://")) return true;
  if (!url.starts_with("http://")) return false;
  url.remove_prefix(7);
  return std::ranges::any_of(kHosts, [&](std::string_view host) {
    return url.starts_with(host) &&
           (url.size() == host.size() || url[host.size()] == ':' || url[host.size()] == '/');
  });
}

std::shared_ptr<const AddressGuard> any_address() {
  static const std::shared_ptr<const AddressGuard> guard = [] {
    const std::array<std::string, 2> all = {"0.0.0.0/0", "::/0"};
    return std::make_shared<const AddressGuard>(AddressGuard::make(all).value_or(AddressGuard()));
  }();
  return guard;
}

}  // namespace

Environment system_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    if (!value || !*value) return std::nullopt;
    return value;
  };
}

Result<AwsCredentials> read_aws_profile(std::string_view text, std::string_view profile) {
  AwsCredentials credentials;
  bool is_ours = false;
  bool is_there = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      const std::string_view name =
          trimmed(line.substr(1, std::min(line.find(']'), line.size()) - 1));
      is_ours =
          name == profile || (name.starts_with("profile ") && trimmed(name.substr(8)) == profile);
      is_there = is_there || is_ours;
      continue;
    }
    const auto equals = line.find('=');
    if (!is_ours || equals == line.npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (key == "aws_access_key_id") credentials.access_key = value;
    if (key == "aws_secret_access_key") credentials.secret_key = value;
    if (key == "aws_session_token") credentials.session_token = value;
  }
  if (!is_there)
    return failed(ErrorCode::not_found, fmt::format("no profile {} in the file", quoted(profile)));
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return failed(ErrorCode::not_found,
                  fmt::format("the profile {} has no aws_access_key_id and aws_secret_access_key",
                              quoted(profile)));
  return credentials;
}

struct AwsCredentialsProvider::State : std::enable_shared_from_this<State> {
  using FoundThen = std::move_only_function<void(Result<Found>)>;
  using TextThen = std::move_only_function<void(Result<std::string>)>;

  State(ports::Loop& on, HttpClient& by, AwsSources from, Clock& time)
      : loop(on), client(by), sources(std::move(from)), clock(time) {}

  ports::Loop& loop;
  HttpClient& client;
  const AwsSources sources;
  Clock& clock;
  bool is_over = false;
  bool is_fetching = false;
  std::optional<Found> current;
  std::vector<Then> waiting;

  [[nodiscard]] std::string value(const std::string& name) const {
    return sources.environment ? sources.environment(name).value_or("") : "";
  }
  [[nodiscard]] bool lasts(Duration from_now) const {
    return current && (!current->expires || clock.wall_now() + from_now < *current->expires);
  }

  void begin() {
    is_fetching = true;
    fetch([self = shared_from_this()](Result<Found> found) {
      self->is_fetching = false;
      if (self->is_over) return;
      self->fetched(std::move(found));
    });
  }

  // What was found from now on; if nothing was, what there is, as long as it lasts.
  Result<AwsCredentials> newest(Result<Found> found) {
    if (found) {
      current = *std::move(found);
    } else if (!lasts(Duration::zero())) {
      return std::unexpected(std::move(found).error());
    }
    return current->credentials;
  }

  void fetched(Result<Found> found) {
    const Result<AwsCredentials> answer = newest(std::move(found));
    const std::weak_ptr<State> self = weak_from_this();
    for (Then& then : std::exchange(waiting, {})) {
      if (const auto alive = self.lock(); !alive || alive->is_over) return;
      then(answer);
    }
  }

  void fetch(FoundThen then) {
    if (!sources.given.access_key.empty())
      return then(Found{.credentials = sources.given, .origin = Origin::fixed});
    AwsCredentials named{.access_key = value("AWS_ACCESS_KEY_ID"),
                         .secret_key = value("AWS_SECRET_ACCESS_KEY"),
                         .session_token = value("AWS_SESSION_TOKEN")};
    if (!named.access_key.empty() && !named.secret_key.empty())
      return then(Found{.credentials = std::move(named), .origin = Origin::fixed});
    if (auto in_file = from_file()) return then(*std::move(in_file));
    if (const std::string path = value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !path.empty())
      return from_container("http://169.254.170.2" + path, std::move(then));
    if (const std::string url = value("AWS_CONTAINER_CREDENTIALS_FULL_URI"); !url.empty())
      return from_container(url, std::move(then));
    if (value("AWS_EC2_METADATA_DISABLED") == "true")
      return then(failed(ErrorCode::not_found, nobody_has_any()));
    from_instance(std::move(then));
  }

  [[nodiscard]] static std::string nobody_has_any() {
    return "there are none in the configuration, the environment (AWS_ACCESS_KEY_ID, "
           "AWS_SECRET_ACCESS_KEY) or the shared file, and no container or instance gives any";
  }

  [[nodiscard]] std::optional<Result<Found>> from_file() const {
    std::string path = sources.file.empty() ? value("AWS_SHARED_CREDENTIALS_FILE") : sources.file;
    const bool is_named = !path.empty() || !sources.profile.empty();
    if (path.empty()) {
      const std::string home = value("HOME");
      if (home.empty()) return std::nullopt;
      path = home + "/.aws/credentials";
    }
    std::string profile = sources.profile.empty() ? value("AWS_PROFILE") : sources.profile;
    if (profile.empty()) profile = "default";
    const auto text = read_text_file(path, kCredentialsOperation, kMostFileBytes);
    if (!text && !is_named) return std::nullopt;
    if (!text) return failed(ErrorCode::not_found, text.error().message);
    auto found = read_aws_profile(*text, profile);
    if (found) return Found{.credentials = *std::move(found)};
    // One that was not asked for by name need not have any.
    if (!is_named && value("AWS_PROFILE").empty()) return std::nullopt;
    return failed(found.error().code, fmt::format("{}: {}", path, found.error().message));
  }

  void from_container(const std::string& url, FoundThen then) {
    if (!may_be_plain(url))
      return then(
          failed(ErrorCode::invalid_argument,
                 "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor of this machine"));
    std::string token = value("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (const std::string path = value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !path.empty()) {
      auto text = read_text_file(path, kCredentialsOperation, kMostFileBytes);
      if (!text) return then(failed(ErrorCode::unavailable, text.error().message));
      token = trimmed(*text);
    }
    std::vector<HttpHeader> headers;
    if (!token.empty()) headers.push_back({"Authorization", token});
    ask("GET", url, std::move(headers), "the container's endpoint", read_by(std::move(then)));
  }

  [[nodiscard]] static TextThen read_by(FoundThen then) {
    return [then = std::move(then)](Result<std::string> text) mutable {
      if (!text) return then(std::unexpected(std::move(text).error()));
      then(read_answer(*text));
    };
  }

  // IMDSv2: a token first, then the name of the role, then its credentials.
  void from_instance(FoundThen then) {
    std::string at = value("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (at.empty()) at = "http://169.254.169.254";
    while (at.ends_with('/'))
      at.pop_back();
    ask("PUT", at + "/latest/api/token", {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}},
        "the instance's endpoint",
        [self = shared_from_this(), at, then = std::move(then)](Result<std::string> token) mutable {
          if (!token)
            return then(
                failed(token.error().code, nobody_has_any() + ": " + token.error().message));
          self->role(at, *token, std::move(then));
        });
  }

  void role(const std::string& at, const std::string& token, FoundThen then) {
    const std::vector<HttpHeader> headers{{"x-aws-ec2-metadata-token", token}};
    const std::string url = at + std::string(kRolePath);
    ask("GET", url, headers, "the instance's endpoint",
        [self = shared_from_this(), url, headers,
         then = std::move(then)](Result<std::string> roles) mutable {
          if (!roles) return then(std::unexpected(std::move(roles).error()));
          const std::string_view first =
              trimmed(std::string_view(*roles).substr(0, roles->find('\n')));
          self->ask("GET", url + aws_encoded(first, Slash::encoded), headers,
                    "the instance's endpoint", read_by(std::move(then)));
        });
  }

  void ask(std::string method, std::string url, std::vector<HttpHeader> headers, std::string whom,
           TextThen then) {
    HttpRequest request;
    request.method = std::move(method);
    request.url = std::move(url);
    request.headers = std::move(headers);
    request.timeout = kTimeout;
    request.connect_timeout = kConnectTimeout;
    request.guard = any_address();  // of the operator's environment, or of this machine
    client.send(std::move(request),
                [whom = std::move(whom), then = std::move(then)](HttpResult result) mutable {
                  if (!result)
                    return then(failed(ErrorCode::unavailable,
                                       fmt::format("{}: {}", whom, result.error().message)));
                  if (result->status != 200)
                    return then(failed(ErrorCode::unavailable,
                                       fmt::format("{}: HTTP {}", whom, result->status)));
                  then(std::move(result->body));
                });
  }
};

AwsCredentialsProvider::AwsCredentialsProvider(ports::Loop& loop, HttpClient& client,
                                               AwsSources sources, Clock& clock)
    : state_(std::make_shared<State>(loop, client, std::move(sources), clock)) {}

AwsCredentialsProvider::~AwsCredentialsProvider() {
  state_->is_over = true;
}

void AwsCredentialsProvider::get(Then then) {
  state_->waiting.push_back(std::move(then));
  if (state_->is_fetching) return;
  if (!state_->lasts(kRefreshBefore)) {
    // Some places answer at once.
    state_->is_fetching = true;
    state_->loop.post([state = state_] {
      if (!state->is_over) state->begin();
    });
    return;
  }
  if (state_->waiting.size() > 1) return;  // those before are about to be told
  state_->loop.post([state = state_] {
    if (state->is_over || state->is_fetching) return;
    if (!state->current) return state->begin();  // they were refused meanwhile
    state->fetched(*state->current);
  });
}

bool AwsCredentialsProvider::refuse(const AwsCredentials& refused) {
  std::optional<Found>& current = state_->current;
  if (!current) return true;
  const AwsCredentials& ours = current->credentials;
  if (ours.access_key != refused.access_key || ours.session_token != refused.session_token)
    return true;  // others have come since
  if (current->origin == Origin::fixed) return false;
  current.reset();
  return true;
}

}  // namespace holdfast::io
