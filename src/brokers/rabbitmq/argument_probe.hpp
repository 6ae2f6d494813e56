#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ports/broker.hpp"
#include "ports/message.hpp"

namespace holdfast::brokers::rabbitmq {

// Finds out the type and the arguments of a queue with nothing but declarations: RabbitMQ refuses
// one that differs, and names the first argument that does, with its value. Each answer adds an
// argument to the next declaration, until nothing differs. A queue that is there is never changed.
class ArgumentProbe {
 public:
  // With what to declare the queue next.
  [[nodiscard]] const ports::FieldTable& arguments() const noexcept { return arguments_; }
  // What the broker has answered: 0, or the code and text of its refusal. True: declare again.
  [[nodiscard]] bool answered(int code, std::string_view text);

  // What is known now. Policies do not show in declarations: the limit of a queue that counts
  // returns may be lower.
  [[nodiscard]] ports::QueueFacts facts() const;

 private:
  [[nodiscard]] bool learn(std::string_view text);
  [[nodiscard]] bool learn_type(std::string_view type);

  ports::FieldTable arguments_ = {{"x-queue-type", "classic"}};
  ports::QueueFacts::Kind kind_ = ports::QueueFacts::Kind::unknown;
  std::optional<std::int64_t> limit_;
  std::string failure_;
  int rounds_ = 0;
};

// A refusal in its parts: "inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received
// none but current is the value '5' of type 'long'".
struct Inequivalent {
  std::string argument;
  std::optional<std::string> current = {};  // nothing: the queue has no such argument
  std::string type = {};                    // empty: not said
};
[[nodiscard]] std::optional<Inequivalent> parse_inequivalent(std::string_view text);

}  // namespace holdfast::brokers::rabbitmq
