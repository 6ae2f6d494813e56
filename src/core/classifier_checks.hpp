#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/classify.hpp>

namespace holdfast {

// `rule 3 "nonce": …`; `index` counts from 0, the message from 1.
[[nodiscard]] Error rule_error(const Rule& rule, int index, std::string_view what);

// What is wrong with a rule, apart from its pattern: "no condition: …". None: nothing.
[[nodiscard]] std::optional<std::string> check_rule(const Rule& rule);

// Gives rules without a name theirs, and refuses a name used twice.
[[nodiscard]] std::optional<Error> name_rules(std::vector<Rule>& rules);

}  // namespace holdfast
