#include "brokers/rabbitmq/management.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/percent_text.hpp"
#include "io/address_guard.hpp"
#include "wire/base64.hpp"
#include "wire/json_syntax.hpp"
#include "wire/json_view.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

using namespace std::chrono_literals;
using wire::JsonView;
using Kind = ports::QueueFacts::Kind;

constexpr const char* kAskOperation = "ask the management API";
constexpr Duration kRequestTimeout = 5s;
constexpr Duration kConnectTimeout = 2s;
constexpr Duration kAgainAfter = 250ms;
// Its figures of a queue that was just declared come after two intervals of the broker, 5 s each.
constexpr int kMostQuestions = 60;
constexpr std::size_t kDeepest = 32;
constexpr std::int64_t kLimitFromVersion4 = 20;

// The operator says where the broker is: that may well be this machine, or a private network.
std::shared_ptr<const io::AddressGuard> any_address() {
  const std::array<std::string, 2> all = {"0.0.0.0/0", "::/0"};
  return std::make_shared<const io::AddressGuard>(
      io::AddressGuard::make(all).value_or(io::AddressGuard()));
}

Kind kind_of(std::string_view type) {
  if (type == "quorum") return Kind::counts;
  if (type == "stream") return Kind::stream;
  return type == "classic" ? Kind::plain : Kind::unknown;
}

// The lower of those that are there; less than nothing means none.
void lower_limit(std::optional<std::int64_t>& limit, bool& is_said,
                 const std::optional<JsonView>& value) {
  const auto number = value ? value->number() : std::nullopt;
  if (!number) return;
  is_said = true;
  if (*number >= 0) limit = std::min(limit.value_or(*number), *number);
}

}  // namespace

std::string usual_management_url(const Location& at) {
  const std::string host = at.host.contains(':') ? '[' + at.host + ']' : at.host;
  return at.tls ? "https://" + host + ":15671" : "http://" + host + ":15672";
}

ManagementApi management_api(const Options& options) {
  ManagementApi api{.user = options.at.user, .password = options.at.password};
  std::string_view url = options.management;
  const std::string usual = usual_management_url(options.at);
  if (url.empty()) url = usual;
  url = url.substr(0, url.find_first_of("?#"));  // which may be a secret, and is of no use here
  while (url.ends_with('/'))
    url.remove_suffix(1);
  const std::size_t host = url.find("://") == std::string_view::npos ? 0 : url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find('/', host)).rfind('@');
  if (at == std::string_view::npos || at < host) {
    api.url = url;
    return api;
  }
  const std::string_view who = url.substr(host, at - host);
  const std::size_t colon = std::min(who.find(':'), who.size());
  api.user = percent_decoded(who.substr(0, colon)).value_or("");
  api.password = percent_decoded(who.substr(std::min(colon + 1, who.size()))).value_or("");
  api.url = std::string(url.substr(0, host)) + std::string(url.substr(at + 1));
  return api;
}

Result<std::optional<ports::QueueFacts>> read_queue(std::string_view json, int broker_version) {
  if (wire::syntax_fault(json, kDeepest)) {
    return fail(ErrorCode::unavailable, kAskOperation, "its answer is not JSON");
  }
  const JsonView queue(json);
  const Kind kind = kind_of(queue.text_of("type"));
  if (kind == Kind::unknown) {
    return fail(ErrorCode::unavailable, kAskOperation, "its answer does not describe a queue");
  }
  const auto policy = queue.find("effective_policy_definition");
  if (!policy && kind == Kind::counts) return std::nullopt;
  const auto arguments = queue.find("arguments");
  const auto of = [](const std::optional<JsonView>& object, std::string_view name) {
    return object ? object->find(name) : std::nullopt;
  };
  ports::QueueFacts facts{.kind = kind, .limit_is_known = true};
  if (kind == Kind::counts) {
    bool is_said = false;
    lower_limit(facts.return_limit, is_said, of(arguments, "x-delivery-limit"));
    lower_limit(facts.return_limit, is_said, of(policy, "delivery-limit"));
    if (!is_said && broker_version >= 4) facts.return_limit = kLimitFromVersion4;
  }
  auto exchange = of(arguments, "x-dead-letter-exchange");
  if (!exchange) exchange = of(policy, "dead-letter-exchange");
  if (exchange) {
    auto key = of(arguments, "x-dead-letter-routing-key");
    if (!key) key = of(policy, "dead-letter-routing-key");
    facts.dead_letter =
        ports::Address{.exchange = exchange->text(), .routing_key = key ? key->text() : ""};
  }
  return facts;
}

struct Management::Asking {
  std::string url;
  int broker_version = 0;
  Then then;
  int questions = 0;
};

Management::Management(ports::Loop& loop, const Options& options)
    : loop_(loop),
      options_(options),
      api_(management_api(options)),
      client_(io::HttpClient::start(loop,
                                    {.ca_file = options.ca_file, .user_agent = options.client})) {}

Management::~Management() = default;

void Management::queue(const std::string& name, int broker_version, Then then) {
  auto asking = std::make_shared<Asking>();
  asking->url =
      api_.url + "/api/queues/" + percent_encoded(options_.at.vhost) + '/' + percent_encoded(name);
  asking->broker_version = broker_version;
  asking->then = std::move(then);
  ask(std::move(asking));
}

void Management::ask(std::shared_ptr<Asking> asking) {
  if (!client_) return asking->then(std::unexpected(client_.error()));
  ++asking->questions;
  io::HttpRequest request{.url = asking->url,
                          .timeout = kRequestTimeout,
                          .connect_timeout = kConnectTimeout,
                          .guard = any_address()};
  std::string credentials = "Basic ";
  wire::append_base64(credentials, api_.user + ':' + api_.password);
  request.headers = {{"Authorization", std::move(credentials)}};
  client_->send(std::move(request),
                [this, asking](const io::HttpResult& result) { answered(asking, result); });
}

void Management::answered(const std::shared_ptr<Asking>& asking, const io::HttpResult& result) {
  const auto give_up = [&](ErrorCode code, const std::string& what) {
    asking->then(fail(code, kAskOperation, api_.url + ": " + what));
  };
  if (!result) return give_up(ErrorCode::unavailable, result.error().message);
  if (result->status == 401) {
    return give_up(ErrorCode::unavailable,
                   "it refuses user " + api_.user + " (which needs the tag management)");
  }
  if (result->status != 200) {
    return give_up(ErrorCode::unavailable, "it answers " + std::to_string(result->status));
  }
  auto facts = read_queue(result->body, asking->broker_version);
  if (!facts) return give_up(ErrorCode::unavailable, facts.error().message);
  if (*facts) return asking->then(std::move(**facts));
  if (asking->questions >= kMostQuestions) {
    return give_up(ErrorCode::unavailable, "it does not tell the queue's policies");
  }
  again_.push_back(loop_.after(kAgainAfter, [this, asking] { ask(asking); }));
}

}  // namespace holdfast::brokers::rabbitmq
