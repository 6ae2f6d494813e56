#include "engine/carried_message.hpp"

#include <algorithm>
#include <limits>

#include "core/json_check.hpp"
#include "core/time_text.hpp"
#include "core/traceparent.hpp"
#include "core/utf8.hpp"

namespace holdfast::engine {
namespace {

// So that a person can read it in a table of headers.
constexpr std::size_t kMostErrorBytes = 2048;
// A store takes longer ones; a name that long is a mistake, or an attack.
constexpr std::size_t kMostNameBytes = 200;

// What brokers note of deaths and deliveries: it is about the message that was, not about its copy.
void remove_notes_of_brokers(ports::FieldTable& headers) {
  std::erase_if(headers, [](const auto& header) {
    const std::string& name = header.first;
    return name == "x-death" || name == "x-delivery-count" || name.starts_with("x-first-death-") ||
           name.starts_with("x-last-death-");
  });
}

void remove_notes_of_death(ports::FieldTable& headers) {
  for (const std::string_view name :
       {kReasonHeader, kErrorHeader, kDeadAtHeader, kOriginHeader, kDeadTokenHeader}) {
    ports::remove_field(headers, name);
  }
}

// One that a broker would refuse from us, or send to more than the queue that it is for.
void make_ours(ports::Message& message) {
  message.user_id.reset();
  message.expiration.reset();
  ports::remove_field(message.headers, "CC");
  ports::remove_field(message.headers, "BCC");
}

std::uint64_t seconds_of(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0));
}

std::string time_text(WallTime time) {
  std::string text;
  append_rfc3339(text, time);
  return text;
}

// 64-bit FNV-1a: the same on every machine, and after every restart.
std::string hash_text(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return Fingerprint(hash).text();
}

std::optional<std::string> usable(std::optional<std::string_view> name) {
  if (!name || name->empty() || name->size() > kMostNameBytes || !is_utf8(*name)) {
    return std::nullopt;
  }
  return std::string(*name);
}

int as_count(std::int64_t number) {
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, std::numeric_limits<int>::max()));
}

}  // namespace

ports::Message copy_of(const ports::Message& message) {
  ports::Message copy = message;
  remove_notes_of_brokers(copy.headers);
  make_ours(copy);
  return copy;
}

ports::Message message_for(const ports::TaskRecord& task, const ports::Message* original) {
  ports::Message message;
  if (original) {
    message = copy_of(*original);
    remove_notes_of_death(message.headers);
  } else {
    message.body = task.payload;
    message.content_type = is_json(task.payload) ? "application/json" : "application/octet-stream";
    message.message_id = task.id.text();
    message.timestamp = seconds_of(task.task.created);
    message.type = task.type.size() <= kMostNameBytes ? std::optional(task.type) : std::nullopt;
    message.app_id = "holdfast";
  }
  message.delivery_mode = 2;
  ports::set_field(message.headers, kTaskHeader, task.id.text());
  ports::set_field(message.headers, kTypeHeader, task.type);
  ports::set_field(message.headers, kAttemptHeader, std::int64_t{task.task.spent.attempts});
  if (!task.trace.empty()) ports::set_field(message.headers, "traceparent", task.trace);
  if (task.retry_on_failure) {
    ports::set_field(message.headers, kRetryOnFailureHeader, std::string("true"));
  } else {
    ports::remove_field(message.headers, kRetryOnFailureHeader);
  }
  return message;
}

ports::Message dead_message_for(const ports::TaskRecord& task, const core::Transition& transition,
                                const ports::Message* original) {
  ports::Message message = message_for(task, original);
  const auto& failure = transition.failure ? transition.failure : task.task.last_failure;
  const std::string_view error = failure ? std::string_view(failure->message) : "";
  ports::set_field(message.headers, kAttemptHeader,
                   std::int64_t{transition.spent.attempts + transition.spent.crashes});
  ports::set_field(
      message.headers, kReasonHeader,
      std::string(transition.dead_reason ? core::to_string(*transition.dead_reason) : "unknown"));
  ports::set_field(message.headers, kErrorHeader, std::string(utf8_prefix(error, kMostErrorBytes)));
  ports::set_field(message.headers, kDeadAtHeader, time_text(transition.due - transition.wait));
  ports::set_field(message.headers, kOriginHeader, task.queue);
  ports::set_field(message.headers, kDeadTokenHeader,
                   static_cast<std::int64_t>(transition.token.value));
  if (!ports::find_field(message.headers, "MessageType")) {
    ports::set_field(message.headers, "MessageType", task.type);
  }
  return message;
}

void set_sent_at(ports::Message& message, WallTime time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
  ports::set_field(message.headers, kSentHeader, std::int64_t{ms});
}

std::optional<WallTime> sent_at(const ports::Message& message) {
  const auto ms = ports::number_of(message.headers, kSentHeader);
  // A foreign hand may have written anything; beyond 2100 it cannot be.
  if (!ms || *ms < 0 || *ms > 4'102'444'800'000) return std::nullopt;
  return WallTime(std::chrono::milliseconds(*ms));
}

std::optional<TaskId> task_of(const ports::Message& message) {
  const auto text = ports::text_of(message.headers, kTaskHeader);
  if (!text) return std::nullopt;
  const auto id = TaskId::parse(*text);
  return id ? std::optional(*id) : std::nullopt;
}

std::optional<core::Token> died_with(const ports::Message& message) {
  const auto number = ports::number_of(message.headers, kDeadTokenHeader);
  if (!number || *number < 0) return std::nullopt;
  return core::Token{static_cast<std::uint64_t>(*number)};
}

bool asks_for_retry(const ports::Message& message) {
  const ports::Field* const field = ports::find_field(message.headers, kRetryOnFailureHeader);
  if (!field) return false;
  if (const auto* truth = std::get_if<bool>(&field->value)) return *truth;
  if (const auto* text = std::get_if<std::string>(&field->value)) {
    return *text == "true" || *text == "1";
  }
  return ports::number_of(message.headers, kRetryOnFailureHeader).value_or(0) != 0;
}

int attempts_before(const ports::Message& message, std::string_view queue) {
  int most = as_count(ports::number_of(message.headers, kAttemptHeader).value_or(0));
  most =
      std::max(most, as_count(ports::number_of(message.headers, "x-delivery-count").value_or(0)));
  for (const ports::Death& death : ports::deaths_of(message)) {
    const bool failed = death.reason == "rejected" || death.reason == "delivery_limit";
    if (failed && death.queue == queue) most = std::max(most, as_count(death.count));
  }
  return most;
}

ports::NewTask adopted(const ports::Delivery& delivery, const std::string& queue,
                       const std::string& fallback) {
  const ports::Message& message = delivery.message;
  ports::NewTask task{.queue = queue, .payload = message.body};
  const auto first_of = [&](std::optional<std::string> a, std::optional<std::string> b) {
    return a ? std::move(a) : std::move(b);
  };
  auto type = first_of(usable(ports::text_of(message.headers, kTypeHeader)),
                       usable(ports::text_of(message.headers, "MessageType")));
  if (!type && message.type) type = usable(*message.type);
  task.type = type ? *std::move(type) : fallback;
  task.attempts = attempts_before(message, queue);
  // One without an id will not be known again after a crash: its task gets a message of its own.
  task.carried = message.message_id && !message.message_id->empty();
  if (task.carried) {
    task.key = "amqp:" + queue + ":" + hash_text(*message.message_id + '\0' + message.body) + ":" +
               std::string(utf8_prefix(*message.message_id, kMostNameBytes));
    if (!is_utf8(task.key)) task.key = "amqp:" + queue + ":" + hash_text(task.key);
  }
  task.retry_on_failure = asks_for_retry(message);
  if (const auto trace = ports::text_of(message.headers, "traceparent")) {
    task.trace = received_traceparent(*trace).value_or("");
  }
  return task;
}

}  // namespace holdfast::engine
