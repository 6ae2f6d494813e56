#include "handlers/webhook.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <stop_token>
#include <string_view>

#include <fmt/format.h>

#include "core/json_check.hpp"
#include "core/json_text.hpp"
#include "core/utf8.hpp"
#include "io/http_url.hpp"
#include "io/trimmed.hpp"

namespace holdfast::handlers {
namespace {

// Ours, and those that say how the message is sent. Others may be set.
constexpr std::array<std::string_view, 8> kNotToSet{
    "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te",
    "content-type",   "traceparent"};
constexpr std::array<std::string_view, 2> kNotToBegin{"webhook-", "holdfast-"};

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

bool is_token(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
  return !name.empty() && name.find_first_not_of(kAllowed) == name.npos;
}

bool is_header_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::unexpected<Error> bad_option(std::string message) {
  return fail(ErrorCode::invalid_argument, "configure webhook", std::move(message));
}

Result<void> check_headers(const WebhookOptions& options) {
  for (const io::HttpHeader& header : options.headers) {
    if (!is_token(header.name))
      return bad_option(quoted(header.name) + " is not the name of a header");
    const std::string name = in_small_letters(header.name);
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    if (std::ranges::find(kNotToSet, name) != kNotToSet.end() ||
        std::ranges::any_of(kNotToBegin, begins))
      return bad_option("the header " + quoted(header.name) + " cannot be set: it is ours");
    // The value may be a secret.
    if (!is_header_value(header.value))
      return bad_option("the value of the header " + quoted(header.name) +
                        " has characters that must not be there");
  }
  if (!is_header_value(options.content_type))
    return bad_option("the content type has characters that must not be there");
  return {};
}

// A type of tasks may have any name, a header not.
std::string as_header_value(std::string_view text) {
  std::string value;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && byte != '%') {
      value += c;
    } else {
      value += fmt::format("%{:02X}", byte);
    }
  }
  return value;
}

// "HTTP 503: the beginning of the answer".
std::string message_of(const io::HttpResponse& answer, std::size_t kept_bytes) {
  const std::string_view body = io::trimmed(answer.body);
  const std::string_view kept = utf8_prefix(body, kept_bytes);
  std::string message = fmt::format("HTTP {}", answer.status);
  if (answer.status / 100 == 3) message += ": redirects are not followed";
  if (kept.empty()) return message;
  return fmt::format("{}: {}{}", message, kept, kept.size() < body.size() ? "…" : "");
}

core::Outcome outcome_of_answer(io::HttpResponse answer, WallTime now, std::size_t kept_bytes) {
  if (answer.status / 100 == 2) return core::Success{std::move(answer.body)};
  Failure failure{.message = message_of(answer, kept_bytes), .http_status = answer.status};
  if (const auto wait = answer.header("Retry-After"))
    failure.retry_after = parse_retry_after(*wait, now);
  return failure;
}

}  // namespace

core::Outcome outcome_of(io::HttpResult result, WallTime now, std::size_t kept_error_bytes) {
  if (result) return outcome_of_answer(*std::move(result), now, kept_error_bytes);
  io::HttpError& error = result.error();
  // The receiver has said what it thinks of it; that it went on and on about it is no reason to
  // send it again.
  if (error.fault == io::HttpFault::too_large && error.answer.status != 0)
    return outcome_of_answer(std::move(error.answer), now, kept_error_bytes);
  const bool is_late = error.fault == io::HttpFault::timeout;
  return Failure{.message = std::move(error.message),
                 .kind = is_late ? FailureKind::timeout : FailureKind::error,
                 .os_error = error.os_error};
}

// An attempt and its request.
class Webhook::Running {
 public:
  explicit Running(std::shared_ptr<ports::Run> run) : run_(std::move(run)) {}

  void cancel_with(const io::HttpCall& call) { stop_.emplace(run_->stop(), Cancel{call}); }

  void finish(core::Outcome outcome) {
    stop_.reset();
    run_->finish(std::move(outcome));
  }

 private:
  struct Cancel {
    io::HttpCall call;
    void operator()() const { call.cancel(); }
  };

  const std::shared_ptr<ports::Run> run_;
  std::optional<std::stop_callback<Cancel>> stop_;
};

Result<Webhook> Webhook::make(io::HttpClient& client, WebhookOptions options, const Clock& clock) {
  auto host = io::host_of(options.url);
  if (!host) return std::unexpected(std::move(host).error());
  if (auto checked = check_headers(options); !checked)
    return std::unexpected(std::move(checked).error());
  std::vector<WebhookSigner> signers;
  for (const std::string& secret : options.secrets) {
    auto signer = WebhookSigner::make(secret);
    if (!signer) return std::unexpected(std::move(signer).error());
    signers.push_back(*std::move(signer));
  }
  return Webhook(client, std::move(options), *std::move(host), std::move(signers), clock);
}

Webhook::Webhook(io::HttpClient& client, WebhookOptions options, std::string host,
                 std::vector<WebhookSigner> signers, const Clock& clock)
    : client_(&client),
      options_(std::move(options)),
      host_(std::move(host)),
      signers_(std::move(signers)),
      clock_(&clock) {
  options_.secrets.clear();  // the signers have what is needed of them
}

void Webhook::start(std::shared_ptr<ports::Run> run) noexcept {
  if (!run->begin()) {
    run->finish(core::HandedBack{});
    return;
  }
  try {
    // The handler may be gone by the time of the answer.
    const auto running = std::make_shared<Running>(run);
    const auto call = client_->send(
        request_for(run),
        [running, clock = clock_, kept = options_.kept_error_bytes](io::HttpResult result) {
          running->finish(outcome_of(std::move(result), clock->wall_now(), kept));
        });
    running->cancel_with(call);
  } catch (const std::exception& error) {
    run->finish(Failure{.message = fmt::format("cannot send the webhook: {}", error.what())});
  }
}

io::HttpRequest Webhook::request_for(const std::shared_ptr<ports::Run>& run) const {
  const ports::TaskRecord& task = run->task();
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_->wall_now());
  const std::string timestamp = std::to_string(now.time_since_epoch().count());
  const std::string id = task.id.text();
  std::vector<io::HttpHeader> headers = options_.headers;
  headers.reserve(headers.size() + 8);
  std::string type = options_.content_type;
  if (type.empty()) type = is_json(task.payload) ? "application/json" : "application/octet-stream";
  headers.push_back({"Content-Type", std::move(type)});
  headers.push_back({"Holdfast-Task-Type", as_header_value(task.type)});
  headers.push_back({"Holdfast-Attempt", std::to_string(run->number())});
  headers.push_back({"Holdfast-Token", std::to_string(task.task.token.value)});
  if (!task.trace.empty()) headers.push_back({"traceparent", task.trace});
  headers.push_back({"webhook-id", id});
  headers.push_back({"webhook-timestamp", timestamp});
  std::string signatures;
  for (const WebhookSigner& signer : signers_) {
    if (!signatures.empty()) signatures += ' ';
    signatures += signer.sign(id, timestamp, task.payload);
  }
  if (!signatures.empty()) headers.push_back({"webhook-signature", std::move(signatures)});
  return {.method = "POST",
          .url = options_.url,
          .headers = std::move(headers),
          // The attempt keeps its payload.
          .body = std::shared_ptr<const std::string>(run, &task.payload),
          .timeout = options_.timeout,
          .connect_timeout = options_.connect_timeout,
          .most_response_bytes = options_.most_result_bytes,
          .guard = options_.guard};
}

}  // namespace holdfast::handlers
