#pragma once

#include <string>
#include <string_view>

namespace holdfast::brokers::sqs {

// Whether SQS carries it as it is: UTF-8 of #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and
// #x10000 to #x10FFFF. Everything else it replaces, without a word.
[[nodiscard]] bool is_message_text(std::string_view text) noexcept;

// Whether an attribute may be called so: letters, digits, _, - and dots, none of them at an end or
// beside another; not what begins like a name of Amazon's own.
[[nodiscard]] bool is_attribute_name(std::string_view name) noexcept;

// The name of the queue in "arn:aws:sqs:eu-central-1:123456789012:jobs"; of a text without a colon
// all of it.
[[nodiscard]] std::string_view queue_of_arn(std::string_view arn) noexcept;

// By which SQS says what it has got: 32 digits.
[[nodiscard]] std::string md5_hex(std::string_view bytes);

[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace holdfast::brokers::sqs
