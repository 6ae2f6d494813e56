#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "brokers/sqs/fields.hpp"
#include "ports/message.hpp"

// Messages as SQS carries them: a text and at most ten attributes. Pure.
namespace holdfast::brokers::sqs {

struct Envelope {
  std::string body;
  std::vector<Attribute> attributes;

  // As SQS counts it.
  [[nodiscard]] std::size_t size_bytes() const noexcept;
};

// In which is everything that has no place of its own: the properties, headers of types that
// others do not know, or that would be the eleventh attribute, in which order they were, and
// whether the body is written in another way. JSON.
inline constexpr std::string_view kOurAttribute = "holdfast";

// `due`: not to be delivered before. Headers that tell of a delivery are left out; that of the
// group is too, if `is_fifo`. Fails with invalid_argument for names of headers that are no text.
[[nodiscard]] Result<Envelope> seal(const ports::Message& message, bool is_fifo,
                                    std::optional<WallTime> due);

struct Unsealed {
  ports::Message message;
  std::optional<WallTime> due;
  bool is_ours = false;  // not of another client
};

// What cannot be what we wrote is taken as of another client, as it is: nothing is lost.
[[nodiscard]] Unsealed unseal(Envelope envelope);

// The group that a message is in if nobody says so.
[[nodiscard]] std::string default_group(const ports::Message& message);
// Letters, digits and signs, at most 128: what is longer or has others is said by its digest.
[[nodiscard]] std::string group_of(const ports::Message& message);

}  // namespace holdfast::brokers::sqs
