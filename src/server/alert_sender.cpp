#include "server/alert_sender.hpp"

#include <utility>

#include "handlers/webhook.hpp"
#include "handlers/webhook_rules.hpp"

namespace holdfast::server {
namespace {

constexpr std::size_t kKeptAnswerBytes = 200;

Result<retry::Policy> policy_of(const AlertSender::Options& options, const Logger& log) {
  auto presets = Classifier::make(presets::all());
  if (!presets) return std::unexpected(std::move(presets).error());
  auto classifier = handlers::with_webhook_rules(*presets);
  if (!classifier) return std::unexpected(std::move(classifier).error());
  return retry::Policy()
      .named("send alert")
      .stop(retry::attempts(options.attempts))
      .wait(options.wait)
      .classify_with(*std::move(classifier))
      .log_to(log);
}

}  // namespace

struct AlertSender::Parts : std::enable_shared_from_this<AlertSender::Parts> {
  struct Message {
    std::string id;
    std::shared_ptr<const std::string> body;
  };

  Parts(io::HttpClient& its_client, ports::Loop& its_loop, Options its_options,
        retry::Policy its_policy, Logger its_log)
      : client(its_client),
        loop(its_loop),
        options(std::move(its_options)),
        policy(std::move(its_policy)),
        log(its_log) {}

  void begin();
  void attempt();
  void ended(io::HttpResult result);
  void give_up(const std::string& error);
  void next();
  [[nodiscard]] io::HttpRequest request() const;

  io::HttpClient& client;
  ports::Loop& loop;
  const Options options;
  const retry::Policy policy;
  const Logger log;
  std::optional<handlers::WebhookSigner> signer;
  UuidSource ids{system_random()};
  std::deque<Message> waiting;    // the first of them is under way
  std::optional<retry::Run> run;  // of the one that is
  std::unique_ptr<ports::Loop::Timer> timer;
};

void AlertSender::Parts::begin() {
  if (run || waiting.empty()) return;
  run.emplace(policy, nullptr);
  if (run->begin().kind == retry::Run::Next::Kind::go) return attempt();
  give_up("the policy does not let it through");
}

io::HttpRequest AlertSender::Parts::request() const {
  const Message& message = waiting.front();
  const auto now = std::chrono::floor<std::chrono::seconds>(system_clock().wall_now());
  const std::string timestamp = std::to_string(now.time_since_epoch().count());
  io::HttpRequest request{.method = "POST",
                          .url = options.url,
                          .headers = {{"Content-Type", "application/json"},
                                      {"webhook-id", message.id},
                                      {"webhook-timestamp", timestamp}},
                          .body = message.body,
                          .guard = options.guard};
  if (signer) {
    request.headers.push_back(
        {"webhook-signature", signer->sign(message.id, timestamp, *message.body)});
  }
  return request;
}

void AlertSender::Parts::attempt() {
  client.send(request(), [weak = weak_from_this()](io::HttpResult result) {
    if (const auto self = weak.lock()) self->ended(std::move(result));
  });
}

void AlertSender::Parts::ended(io::HttpResult result) {
  const core::Outcome outcome =
      handlers::outcome_of(std::move(result), system_clock().wall_now(), kKeptAnswerBytes);
  const auto* failure = std::get_if<Failure>(&outcome);
  if (!failure) {
    run->succeeded();
    return next();
  }
  const auto until = run->failed(retry::Observed::error(*failure));
  if (!until) return give_up(failure->message);
  timer = loop.after(*until - run->clock().now(), [this] {
    if (run->woke(true).kind == retry::Run::Next::Kind::go) return attempt();
    give_up("the policy does not let it through");
  });
}

void AlertSender::Parts::give_up(const std::string& error) {
  log.log(Level::error, "alert.not_sent", "an alert could not be sent to its webhook",
          {{"message", waiting.front().id}, {"error", error}});
  next();
}

void AlertSender::Parts::next() {
  run.reset();
  waiting.pop_front();
  begin();
}

Result<std::unique_ptr<AlertSender>> AlertSender::make(io::HttpClient& client, ports::Loop& loop,
                                                       Options options, Logger log) {
  auto policy = policy_of(options, log);
  if (!policy) return std::unexpected(std::move(policy).error());
  const std::string secret = std::exchange(options.secret, {});
  auto parts = std::make_shared<Parts>(client, loop, std::move(options), *std::move(policy), log);
  if (!secret.empty()) {
    auto signer = handlers::WebhookSigner::make(secret);
    if (!signer) return std::unexpected(std::move(signer).error());
    parts->signer.emplace(*std::move(signer));
  }
  return std::make_unique<AlertSender>(std::move(parts));
}

AlertSender::AlertSender(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}

AlertSender::~AlertSender() {
  parts_->timer.reset();
}

void AlertSender::send(std::string json) {
  if (parts_->waiting.size() >= kMostWaiting) {
    const auto oldest = parts_->waiting.begin() + 1;  // the first is under way
    parts_->log.log(Level::warning, "alert.dropped", "too many alerts wait for their webhook",
                    {{"message", oldest->id}});
    parts_->waiting.erase(oldest);
  }
  const std::string id = "alert_" + parts_->ids.next(system_clock().wall_now()).text();
  parts_->waiting.push_back({id, std::make_shared<const std::string>(std::move(json))});
  parts_->begin();
}

}  // namespace holdfast::server
