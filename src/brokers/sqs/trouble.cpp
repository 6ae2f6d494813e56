#include "brokers/sqs/trouble.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "brokers/sqs/json.hpp"
#include "brokers/sqs/sqs.hpp"

namespace holdfast::brokers::sqs {
namespace {

using Kind = Trouble::Kind;
using io::HttpFault;

constexpr std::size_t kMostWordBytes = 500;

template <std::size_t Count>
bool is_one_of(const std::array<std::string_view, Count>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_throttling(std::string_view code) {
  constexpr std::array<std::string_view, 12> kCodes = {"ThrottlingException",
                                                       "Throttling",
                                                       "ThrottledException",
                                                       "RequestThrottled",
                                                       "RequestThrottledException",
                                                       "TooManyRequestsException",
                                                       "RequestLimitExceeded",
                                                       "SlowDown",
                                                       "OverLimit",
                                                       "KmsThrottled",
                                                       "ServiceUnavailable",
                                                       "QueueDeletedRecently"};
  return is_one_of(kCodes, code);
}

bool is_of_keys(std::string_view code) {
  constexpr std::array<std::string_view, 5> kCodes = {
      "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId",
      "UnrecognizedClientException", "InvalidSecurity"};
  return is_one_of(kCodes, code);
}

// "com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue;Sender"
std::string plain_code(std::string_view code) {
  if (const auto hash = code.rfind('#'); hash != code.npos) code.remove_prefix(hash + 1);
  code = code.substr(0, code.find_first_of(";:"));
  if (code.starts_with("AWS.SimpleQueueService.")) code.remove_prefix(23);
  return std::string(code == "NonExistentQueue" ? std::string_view("QueueDoesNotExist") : code);
}

Kind kind_of(std::string_view code, int status) {
  if (code == "QueueDoesNotExist") return Kind::no_queue;
  if (is_throttling(code) || status == 429 || status == 503) return Kind::throttled;
  if (status >= 500) return Kind::server;
  // Nothing is wrong with what was asked: whoever runs this is to say who we are, and what we may.
  if (status == 401 || status == 403 || is_of_keys(code)) return Kind::unsent;
  return Kind::refused;
}

retry::Wait impatient() {
  return retry::from_error(retry::exponential({.first = std::chrono::milliseconds(200),
                                               .factor = 2,
                                               .cap = std::chrono::seconds(5),
                                               .jitter = retry::Jitter::equal}))
      .capped(std::chrono::seconds(20));
}

}  // namespace

bool Trouble::is_of_credentials() const noexcept {
  return is_of_keys(code);
}

bool Trouble::is_of_broker() const noexcept {
  // What this user may not do says nothing of what else there is.
  if (kind == Kind::unsent && http_status) return is_of_credentials();
  return kind == Kind::unsent || kind == Kind::unknown || kind == Kind::server;
}

std::string Trouble::text() const {
  if (code.empty()) return message;
  return message.empty() ? code : fmt::format("{}: {}", code, message);
}

Error Trouble::error(std::string operation) const {
  const auto error_code = [this] {
    switch (kind) {
      case Kind::unsent:
      case Kind::unknown:
      case Kind::server: return ErrorCode::unavailable;
      case Kind::refused: return ErrorCode::invalid_argument;
      case Kind::no_queue: return ErrorCode::not_found;
      case Kind::throttled: return ErrorCode::unavailable;
    }
    return ErrorCode::internal;
  };
  return {error_code(), std::move(operation), text()};
}

Failure to_failure(const Trouble& trouble) {
  return {.message = trouble.text(),
          .http_status = trouble.http_status,
          .retry_after = trouble.retry_after};
}

Trouble trouble_of(const io::HttpResponse& answer, WallTime now) {
  Trouble trouble{.http_status = answer.status};
  if (is_object(answer.body)) {
    const Json document(answer.body);
    trouble.code = plain_code(document.text_of("__type"));
    trouble.message = document.text_of("message");
    if (trouble.message.empty()) trouble.message = document.text_of("Message");
    trouble.message.resize(std::min(trouble.message.size(), kMostWordBytes));
  }
  if (trouble.code.empty()) {
    if (const auto code = answer.header("x-amzn-errortype")) trouble.code = plain_code(*code);
  }
  if (trouble.code.empty()) trouble.code = fmt::format("HTTP {}", answer.status);
  if (answer.status == 200) {
    trouble.kind = Kind::unknown;
    trouble.message = "the answer is no JSON object";
    return trouble;
  }
  trouble.kind = kind_of(trouble.code, answer.status);
  if (const auto after = answer.header("Retry-After"))
    trouble.retry_after = parse_retry_after(*after, now);
  return trouble;
}

Trouble trouble_of(const io::HttpError& error) {
  const bool wrong_here = error.fault == HttpFault::bad_request;
  const Kind sent = error.was_sent ? Kind::unknown : Kind::unsent;
  return {.kind = wrong_here ? Kind::refused : sent, .message = error.message};
}

std::vector<EntryResult> entry_results(std::string_view answer, std::size_t count) {
  std::vector<EntryResult> results(count);
  for (EntryResult& result : results)
    result.trouble = Trouble{.kind = Kind::unknown, .message = "the answer does not tell of it"};
  const Json document(answer);
  const auto entry_of = [&](const Json& entry) -> EntryResult* {
    const auto id = entry.find("Id");
    const auto number = id ? id->number() : std::nullopt;
    const bool is_ours = number && *number >= 0 && static_cast<std::size_t>(*number) < count;
    return is_ours ? &results[static_cast<std::size_t>(*number)] : nullptr;
  };
  const auto successful = document.find("Successful");
  for (const Json& entry : successful ? successful->elements() : std::vector<Json>()) {
    if (EntryResult* const result = entry_of(entry))
      *result = {.trouble = {}, .body_md5 = entry.text_of("MD5OfMessageBody")};
  }
  const auto failed = document.find("Failed");
  for (const Json& entry : failed ? failed->elements() : std::vector<Json>()) {
    EntryResult* const result = entry_of(entry);
    if (!result) continue;
    Trouble trouble{.code = plain_code(entry.text_of("Code")), .message = entry.text_of("Message")};
    trouble.message.resize(std::min(trouble.message.size(), kMostWordBytes));
    const bool is_senders = entry.text_of("SenderFault") == "true";
    trouble.kind = kind_of(trouble.code, is_senders ? 400 : 500);
    result->trouble = std::move(trouble);
  }
  return results;
}

ports::Sent sent_of(const Trouble& trouble, bool earlier) {
  const Error error = trouble.error("publish");
  if (earlier || trouble.may_be_done()) return {ports::Fate::unknown, error};
  switch (trouble.kind) {
    case Kind::no_queue: return {ports::Fate::returned, error};
    case Kind::refused: return {ports::Fate::refused, error};
    case Kind::unsent:
    case Kind::throttled:
    case Kind::unknown:
    case Kind::server: break;
  }
  return {ports::Fate::unsent, error};
}

retry::Policy request_policy(const Options& options, Clock& clock) {
  return retry::Policy(clock, system_random())
      .named("request")
      .stop(retry::attempts(std::max(options.request_attempts, 1)) |
            retry::elapsed(std::chrono::seconds(20)))
      .wait(impatient())
      .retry_if([](const Trouble& trouble) {
        return trouble.kind == Kind::throttled || trouble.kind == Kind::server;
      });
}

retry::Policy order_policy(const Options& options, Clock& clock) {
  const Duration most = std::max(options.visibility_timeout, Duration(std::chrono::seconds(30)));
  return retry::Policy(clock, system_random())
      .named("settle")
      .stop(retry::elapsed(most))
      .wait(impatient())
      .retry_if([](const Trouble& trouble) {
        return trouble.kind != Kind::refused && trouble.kind != Kind::no_queue;
      });
}

retry::Policy logged(const retry::Policy& policy, const Options& options, const Logger& log) {
  const std::string broker = options.at.text();
  return policy
      .before_sleep([log, broker](const retry::BeforeSleep& failed) {
        log.log(Level::warning, "broker.retry", "The broker cannot be used; trying again.",
                {{"broker", broker},
                 {"operation", failed.operation},
                 {"attempt", failed.attempt},
                 {"wait", failed.wait},
                 {"error", failed.failure.message}});
      })
      .on_recovered([log, broker](const retry::Recovered& done) {
        log.log(Level::info, "broker.recovered", "The broker can be used again.",
                {{"broker", broker},
                 {"operation", done.operation},
                 {"attempts", done.attempts},
                 {"waited", done.waited}});
      });
}

void log_again(const Options& options, const Clock& clock, const Logger& log,
               std::string_view operation, const Trouble& trouble, SteadyTime when) {
  log.log(Level::warning, "broker.retry", "The broker cannot be used; trying again.",
          {{"broker", options.at.text()},
           {"operation", operation},
           {"wait", when - clock.now()},
           {"error", trouble.text()}});
}

retry::Policy receive_policy(const Options& options, const std::string& queue, Clock& clock,
                             const Logger& log) {
  const std::string broker = options.at.text();
  return logged(retry::Policy(clock, system_random())
                    .named("consume " + queue)
                    .stop(retry::attempts(std::max(options.connect_attempts, 1)))
                    .wait(retry::fixed(options.connect_wait)),
                options, log)
      .on_give_up([log, broker](const retry::GaveUp& given) {
        log.log(Level::critical, "broker.gave_up", "The broker could not be used; giving up.",
                {{"broker", broker},
                 {"operation", given.operation},
                 {"attempts", given.attempts},
                 {"error", given.failure.message}});
      });
}

std::optional<SteadyTime> Tries::failed(const Trouble& trouble) {
  if (run_) {
    (void)run_->woke(true);
  } else {
    run_.emplace(*policy_, nullptr, false);
    (void)run_->begin();
  }
  const auto until = run_->failed(retry::Observed::error(trouble));
  if (!until) run_.reset();
  return until;
}

void Tries::succeeded() {
  if (!run_) return;
  (void)run_->woke(true);
  run_->succeeded();
  run_.reset();
}

}  // namespace holdfast::brokers::sqs
