#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/store.hpp"

// Which tasks a person means, in one grammar for the command line, the API and the page
// (docs/queries.md):
//
//   state:dead,failed queue:mail type:mail.* attempts>=3 since:1h error:"connection refused"
//   payload.user.id:42 -payload.plan:gold
//
// Terms are separated by spaces, and all of them must hold; "-" turns one round. Pure: no input, no
// output, no clock.
namespace holdfast::triage {

struct Term {
  enum class Field : std::uint8_t {
    state,
    queue,
    type,
    group,
    id,
    reason,
    attempts,
    crashes,
    replays,
    since,
    until,
    created,
    error,
    payload,
    word,  // without a name: in the error, the type or the id
  };
  enum class Compare : std::uint8_t { equal, unequal, less, at_most, more, at_least };

  Field field = Field::word;
  bool negated = false;
  Compare compare = Compare::equal;
  std::vector<std::string> values = {};  // one of them
  std::vector<core::State> states = {};  // of state
  std::vector<core::DeadReason> reasons = {};
  std::vector<Fingerprint> groups = {};
  std::vector<TaskId> ids = {};
  double number = 0;                   // of what is counted
  WallTime time{};                     // of times
  std::vector<std::string> path = {};  // of a field of the payload
};

class Query {
 public:
  Query() = default;  // every task

  // Times that are given as "so long ago" are counted from `now`. Fails with invalid_argument; the
  // message names the term and where it stands.
  [[nodiscard]] static Result<Query> parse(std::string_view text, WallTime now);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::vector<Term>& terms() const noexcept { return terms_; }

  [[nodiscard]] bool matches(const ports::TaskRecord& record) const;
  // Whether a record must have its payload to be looked at.
  [[nodiscard]] bool needs_payload() const noexcept;
  // Whether what filters() leave is all that there is to look for.
  [[nodiscard]] bool is_left_to_store() const noexcept;

  // What a store can look for by itself: one filter for each state that may match, in the order of
  // what is gone through; the first has no state where any may. None: nothing can match.
  [[nodiscard]] std::vector<ports::Filter> filters() const;
  // What came to its state before does not match: a list that goes by that time ends there.
  [[nodiscard]] std::optional<WallTime> changed_from() const;

  // The tasks that are named one by one, if they are: it is these or none.
  [[nodiscard]] const std::vector<TaskId>* ids() const noexcept;

  [[nodiscard]] static Query of_ids(std::vector<TaskId> ids);
  // The same, and one condition more.
  [[nodiscard]] Query with_states(std::vector<core::State> states) const;
  [[nodiscard]] Query with_until(WallTime time) const;

 private:
  std::string text_;
  std::vector<Term> terms_;
};

}  // namespace holdfast::triage
