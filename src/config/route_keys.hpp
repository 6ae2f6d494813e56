#pragma once

#include "config/keys.hpp"
#include "wire/body_field.hpp"

namespace holdfast::config {

// [route."POST /path"]
[[nodiscard]] Section<Route> route_section();
// [route."POST /path".body.FIELD]: a table in a table, whose names are the user's.
[[nodiscard]] const Section<wire::BodyField>& body_field_section();

}  // namespace holdfast::config
