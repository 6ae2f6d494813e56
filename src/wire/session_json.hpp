#pragma once

#include <string>
#include <string_view>

#include <holdfast/result.hpp>

namespace holdfast::wire {

// How a browser logs in: {"token":"…"}. What is said of it when it is wrong never repeats it.
struct LoginRequest {
  std::string token = {};
};

[[nodiscard]] Result<LoginRequest> read_login_request(std::string_view json);

}  // namespace holdfast::wire
