#pragma once

#include <vector>

#include <holdfast/classify.hpp>
#include <holdfast/result.hpp>

namespace holdfast::handlers {

// How a command says by its exit code what its failure means, as sysexits(3) names them: 64 (usage)
// and 65 (bad data) give up, 75 (temporary failure) is retried.
[[nodiscard]] std::vector<Rule> command_rules();

// These rules, and then the user's: a command that says what it means is believed first. Fails like
// Classifier::make, for a rule of the user's that has the name of one of ours.
[[nodiscard]] Result<Classifier> with_command_rules(const Classifier& users);

}  // namespace holdfast::handlers
