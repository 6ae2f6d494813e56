#pragma once

#include <string>

#include <holdfast/result.hpp>

#include "http/message.hpp"

namespace holdfast::http {

// Answers that say what is wrong and where: RFC 9457.
[[nodiscard]] Response problem(int status, std::string detail, Fields headers = {});
[[nodiscard]] Response problem(const Error& error);

}  // namespace holdfast::http
