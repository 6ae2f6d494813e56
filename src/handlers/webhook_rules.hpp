#pragma once

#include <vector>

#include <holdfast/classify.hpp>
#include <holdfast/result.hpp>

namespace holdfast::handlers {

// What a failure of a webhook means whatever else is known of it: an address that is not allowed
// stays so, and a redirect stays one, until a person changes the configuration; both give up.
[[nodiscard]] std::vector<Rule> webhook_rules();

// These rules, and then the user's. Fails like Classifier::make, for a rule of the user's that has
// the name of one of ours.
[[nodiscard]] Result<Classifier> with_webhook_rules(const Classifier& users);

}  // namespace holdfast::handlers
