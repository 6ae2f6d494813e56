#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/classify.hpp>

namespace holdfast {

// Classifier rules from a TOML file:
//
//   use       = ["ethereum", "http"]  # presets, after the file's own rules, in this order
//   use_first = ["aws"]               # presets that go before them; both may be absent
//
//   [[rule]]                          # as many as wanted; the first that matches wins
//   name      = "billing.quota"       # optional
//   pattern   = 'quota .* exceeded'   # these five: at least one
//   status    = [403, "5xx", "500-504"]
//   exit_code = [75]
//   os_error  = ["ECONNRESET", 110]
//   kind      = "timeout"             # error, timeout or crash
//   verdict   = "throttle"            # retry, throttle, give up, ambiguous or success
//   wait      = "30s"                 # for throttle only
//   reason    = "The daily quota is used up."
//
// Lists of one may be written without brackets. Errors are invalid_argument and say where:
// `rules.toml:12:1: unknown key "patern"; did you mean "pattern"?`. What can be wrong with a rule
// is found here, and not only when the classifier is made.
[[nodiscard]] Result<std::vector<Rule>> parse_rules(std::string_view text, std::string_view name);

// The same from a file; not_found or unavailable if it cannot be read, exhausted if it has more
// than 4 MiB.
[[nodiscard]] Result<std::vector<Rule>> load_rules(const std::string& path);

}  // namespace holdfast
