#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include <holdfast/time.hpp>

#include "recovery/filter.hpp"
#include "recovery/letter.hpp"
#include "recovery/routes.hpp"

namespace holdfast::recovery {

// What a run goes by.
struct Rules {
  Routes routes = {};
  Filter filter = {};
  int max_recoveries = 3;             // N3: what was brought back so often is for people to look at
  std::string run = {};               // its id
  std::string queue = {};             // the dead-letter queue itself, which is no target
  std::set<std::string> others = {};  // recovered together with it, which are no targets either
  // Of a run that only looks for certain messages: why one is among them, instead of the filter and
  // the routes.
  std::function<std::optional<std::string>(const Letter&)> seeks = {};
};

struct Decision {
  enum class What : std::uint8_t {
    recover,     // to `to`
    discard,     // removed from the queue, and sent nowhere
    skip,        // kept for review; `why`
    pass,        // not chosen by the filter
    kept_again,  // put aside by this very run, which has counted it
  };
  What what = What::skip;
  ports::Address to = {};
  std::string why = {};
};

[[nodiscard]] Decision decide(const Letter& letter, const Rules& rules, WallTime now);

}  // namespace holdfast::recovery
