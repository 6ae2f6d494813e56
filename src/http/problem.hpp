#pragma once

#include <string>

#include <holdfast/result.hpp>

#include "http/message.hpp"

namespace holdfast::wire {
struct Problem;
}

namespace holdfast::http {

// Answers that say what is wrong and where: RFC 9457.
[[nodiscard]] Response problem(int status, std::string detail, Fields headers = {});
[[nodiscard]] Response problem(const Error& error);
// What it says of it, with the headers that go with its status.
[[nodiscard]] Response problem(const wire::Problem& problem);

}  // namespace holdfast::http
