#pragma once

#include <string_view>

#include "triage/query.hpp"

namespace holdfast::triage {

// Whether the field that a term names is in a JSON payload, and what the term says of it holds.
// Texts are compared as texts ("*" stands for anything), numbers as numbers where both are; true,
// false and null as they are written. What is not there holds for nothing, "!=" as well.
[[nodiscard]] bool payload_holds(std::string_view payload, const Term& term);

}  // namespace holdfast::triage
