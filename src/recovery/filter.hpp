#pragma once

#include <span>
#include <string>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "core/condition_expression.hpp"
#include "recovery/letter.hpp"

namespace holdfast::recovery {

// Which messages are to be recovered: those that meet every one of several expressions
// (core/condition_expression.hpp). The names that it knows:
//
//   type          as V6 finds it                 reason      of the newest death: rejected …
//   id            the message id                 queue       where it died
//   routing_key   that it had when it died       exchange    that it was published to then
//   age           since it died (2h, 7d)         recoveries  so often it was brought back
//   error         what its consumer said of it   body        the whole of it
//   header.NAME   a header                       json.A.B    a field of a body that is JSON
class Filter {
 public:
  Filter() = default;  // everything

  // Errors are invalid_argument, and name every expression that is wrong, and where: a name that
  // there is not, an age that is no duration.
  [[nodiscard]] static Result<Filter> parse(std::span<const std::string> expressions);

  [[nodiscard]] bool chooses(const Letter& letter, WallTime now) const;
  [[nodiscard]] bool is_empty() const noexcept { return all_.empty(); }

 private:
  std::vector<ConditionNode> all_;
};

}  // namespace holdfast::recovery
