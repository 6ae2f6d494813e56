#include "brokers/rabbitmq/management.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/json_text.hpp"
#include "core/name_pattern.hpp"
#include "core/percent_text.hpp"
#include "io/address_guard.hpp"
#include "wire/base64.hpp"
#include "wire/json_syntax.hpp"
#include "wire/json_view.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

using namespace std::chrono_literals;

constexpr const char* kAskOperation = "ask the management API";
constexpr Duration kRequestTimeout = 5s;
constexpr Duration kListTimeout = 60s;  // it looks at every queue of the vhost for each page
constexpr std::size_t kPageSize = 500;  // which is the most that it allows
constexpr std::size_t kMostFilterBytes = 100;
constexpr std::size_t kMostAnswerBytes = std::size_t{32} << 20;
constexpr std::size_t kDeepest = 32;
constexpr Duration kConnectTimeout = 2s;
constexpr Duration kAgainAfter = 250ms;
// Its figures of a queue that was just declared come after two intervals of the broker, 5 s each.
constexpr int kMostQuestions = 60;

// The operator says where the broker is: that may well be this machine, or a private network.
std::shared_ptr<const io::AddressGuard> any_address() {
  const std::array<std::string, 2> all = {"0.0.0.0/0", "::/0"};
  return std::make_shared<const io::AddressGuard>(
      io::AddressGuard::make(all).value_or(io::AddressGuard()));
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

std::vector<ManagementApi> management_apis(const Options& options) {
  if (!options.management.empty()) return {management_api(options)};
  std::vector<ManagementApi> all;
  for (const Host& host : options.at.hosts()) {
    Options of_one = options;
    of_one.at.host = host.name;
    all.push_back(management_api(of_one));
  }
  return all;
}

struct Management::Asking {
  std::string path;
  int broker_version = 0;
  Then then;
  int questions = 0;
};

Management::Management(ports::Loop& loop, const Options& options)
    : loop_(loop),
      options_(options),
      apis_(management_apis(options)),
      client_(io::HttpClient::start(loop,
                                    {.ca_file = options.ca_file, .user_agent = options.client})) {}

Management::~Management() = default;

std::string Management::queues_path() const {
  return "/api/queues/" + percent_encoded(options_.at.vhost);
}

struct Management::Get {
  std::string path;
  Duration timeout;
  Answered then;
  std::size_t tried = 0;
};

void Management::get(std::string path, Duration timeout, Answered then) {
  if (!client_) {
    loop_.post([then = std::move(then), why = client_.error().message]() mutable {
      then(std::unexpected(io::HttpError{.message = why}));
    });
    return;
  }
  attempt(std::make_shared<Get>(std::move(path), timeout, std::move(then)));
}

void Management::attempt(std::shared_ptr<Get> get) {
  io::HttpRequest request{.url = api().url + get->path,
                          .timeout = get->timeout,
                          .connect_timeout = kConnectTimeout,
                          .most_response_bytes = kMostAnswerBytes,
                          .guard = any_address()};
  std::string credentials = "Basic ";
  wire::append_base64(credentials, api().user + ':' + api().password);
  request.headers = {{"Authorization", std::move(credentials)}};
  client_->send(std::move(request),
                [this, life = std::weak_ptr(life_), get](const io::HttpResult& result) {
                  if (life.expired()) return;
                  if (result || ++get->tried >= apis_.size()) return get->then(result);
                  at_ = (at_ + 1) % apis_.size();
                  attempt(get);
                });
}

// What is missing to whoever asks.
std::string Management::refusal(const io::HttpResponse& answer) const {
  if (answer.status != 401 && answer.status != 403)
    return "it answers " + std::to_string(answer.status);
  std::string what = "it refuses user " + api().user + " (which needs the tag management and a " +
                     "permission in vhost " + quoted(options_.at.vhost) + ")";
  if (wire::syntax_fault(answer.body, kDeepest)) return what;
  const std::string reason = wire::JsonView(answer.body).text_of("reason");
  return reason.empty() ? what : what + ": " + reason;
}

void Management::queue(const std::string& name, int broker_version, Then then) {
  auto asking = std::make_shared<Asking>();
  asking->path = queues_path() + '/' + percent_encoded(name);
  asking->broker_version = broker_version;
  asking->then = std::move(then);
  ask(asking);
}

void Management::ask(const std::shared_ptr<Asking>& asking) {
  ++asking->questions;
  get(asking->path, kRequestTimeout,
      [this, asking](const io::HttpResult& result) { answered(asking, result); });
}

void Management::answered(const std::shared_ptr<Asking>& asking, const io::HttpResult& result) {
  const auto give_up = [&](ErrorCode code, const std::string& what) {
    asking->then(fail(code, kAskOperation, api().url + ": " + what));
  };
  if (!result) return give_up(ErrorCode::unavailable, result.error().message);
  if (result->status != 200) return give_up(ErrorCode::unavailable, refusal(*result));
  auto facts = read_queue(result->body, asking->broker_version);
  if (!facts) return give_up(ErrorCode::unavailable, facts.error().message);
  if (*facts) return asking->then(std::move(**facts));
  if (asking->questions >= kMostQuestions) {
    return give_up(ErrorCode::unavailable, "it does not tell the queue's policies");
  }
  again_.push_back(loop_.after(kAgainAfter, [this, asking] { ask(asking); }));
}

struct Management::Listing {
  Listing(const std::string& text, ListThen told) : pattern(text), then(std::move(told)) {}

  NamePattern pattern;
  ListThen then;
  std::size_t page = 1;
  std::map<std::string, ports::QueueStatus> found = {};
};

void Management::list(const std::string& pattern, ListThen then) {
  ask_page(std::make_shared<Listing>(pattern, std::move(then)));
}

void Management::ask_page(std::shared_ptr<Listing> listing) {
  std::string path = queues_path() + "?page=" + std::to_string(listing->page) +
                     "&page_size=" + std::to_string(kPageSize) +
                     "&columns=name,type,arguments,effective_policy_definition,messages_ready," +
                     "messages_unacknowledged,consumers,head_message_timestamp," +
                     "message_stats.ack_details.rate,message_stats.get_no_ack_details.rate," +
                     "message_stats.deliver_no_ack_details.rate";
  // The API looks for it in names, upper and lower case alike. Of more than ASCII it takes bytes.
  const std::string& part = listing->pattern.longest_part();
  const bool is_plain = std::ranges::all_of(part, [](char c) { return c > ' ' && c < 0x7f; });
  if (!part.empty() && is_plain && part.size() <= kMostFilterBytes)
    path += "&name=" + percent_encoded(part) + "&use_regex=false";
  get(std::move(path), kListTimeout,
      [this, listing](const io::HttpResult& result) { page_came(listing, result); });
}

void Management::page_came(const std::shared_ptr<Listing>& listing, const io::HttpResult& result) {
  const auto give_up = [&](ErrorCode code, const std::string& what) {
    listing->then(fail(code, "list queues", api().url + queues_path() + ": " + what));
  };
  if (!result) {
    const std::string& setting = options_.management_setting;
    return give_up(ErrorCode::unavailable,
                   result.error().message +
                       (setting.empty() ? "" : ". " + setting + " says where the API is"));
  }
  if (result->status == 404) return give_up(ErrorCode::not_found, "there is no such vhost");
  QueuePage page{.pages = listing->page};
  // The last page is gone if queues were deleted meanwhile.
  if (const bool is_past_the_end = result->status == 400 && listing->page > 1; !is_past_the_end) {
    if (result->status != 200) return give_up(ErrorCode::unavailable, refusal(*result));
    auto read = read_queue_page(result->body);
    if (!read) return give_up(ErrorCode::unavailable, read.error().message);
    page = *std::move(read);
  }
  for (ports::QueueStatus& queue : page.queues) {
    if (listing->pattern.matches(queue.name)) listing->found[queue.name] = std::move(queue);
  }
  if (listing->found.size() > ports::kMostListedQueues) {
    return give_up(ErrorCode::exhausted, "more than " + std::to_string(ports::kMostListedQueues) +
                                             " queues match: use a narrower pattern");
  }
  if (++listing->page <= page.pages) return ask_page(listing);
  std::vector<ports::QueueStatus> found;
  for (auto& [name, queue] : listing->found)
    found.push_back(std::move(queue));
  listing->then(std::move(found));
}

}  // namespace holdfast::brokers::rabbitmq
