#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/rules.hpp"
#include "ports/broker.hpp"
#include "ports/records.hpp"

// What messages of tasks look like, and what a message of anybody's says of a task: pure functions.
namespace holdfast::engine {

// Headers of Holdfast's own.
inline constexpr std::string_view kTaskHeader = "x-holdfast-task";
inline constexpr std::string_view kTypeHeader = "x-holdfast-type";
inline constexpr std::string_view kAttemptHeader = "x-holdfast-attempt";
// "true": its queue may bring it back by itself when it is a dead letter (C2.2).
inline constexpr std::string_view kRetryOnFailureHeader = "x-holdfast-retry-on-failure";
// When it was to be delivered, in milliseconds since 1970.
inline constexpr std::string_view kSentHeader = "x-holdfast-sent";
// Of dead letters.
inline constexpr std::string_view kReasonHeader = "x-holdfast-reason";
inline constexpr std::string_view kErrorHeader = "x-holdfast-error";
inline constexpr std::string_view kDeadAtHeader = "x-holdfast-dead-at";
inline constexpr std::string_view kOriginHeader = "x-holdfast-queue";
inline constexpr std::string_view kDeadTokenHeader = "x-holdfast-dead-token";

// The message that has a task run. `original`: the one that brought it here, whose properties and
// headers are kept; what brokers note down of deaths is not, or they would take its way through a
// delay queue for a cycle and drop it (trap 7).
[[nodiscard]] ports::Message message_for(const ports::TaskRecord& task,
                                         const ports::Message* original);

// The dead letter of a task that died by `transition`: why, of what, when, how often tried, and
// where it came from, so that it makes sense to whoever looks at the queue.
[[nodiscard]] ports::Message dead_message_for(const ports::TaskRecord& task,
                                              const core::Transition& transition,
                                              const ports::Message* original);

// The same message, to be sent again.
[[nodiscard]] ports::Message copy_of(const ports::Message& message);

void set_sent_at(ports::Message& message, WallTime time);
[[nodiscard]] std::optional<WallTime> sent_at(const ports::Message& message);

// The task that a message of ours belongs to; nothing: it is not ours.
[[nodiscard]] std::optional<TaskId> task_of(const ports::Message& message);

// A message of ours that was dead-lettered and came back: with which token its task had died.
[[nodiscard]] std::optional<core::Token> died_with(const ports::Message& message);

// A foreign message as a task. Its type: the header x-holdfast-type, the header MessageType, the
// property `type`, else `fallback`. Its key: message id and content; nothing without an id, since
// two messages of the same content are two.
[[nodiscard]] ports::NewTask adopted(const ports::Delivery& delivery, const std::string& queue,
                                     const std::string& fallback);

// Whether a message of anybody's asks to be brought back: a truth value, a number, or a text.
[[nodiscard]] bool asks_for_retry(const ports::Message& message);

// How often it has failed elsewhere, as far as its headers tell (R9): our own count, what a broker
// noted of rejections from `queue`, what a quorum queue counted. The greatest: they are of one
// story.
[[nodiscard]] int attempts_before(const ports::Message& message, std::string_view queue);

}  // namespace holdfast::engine
