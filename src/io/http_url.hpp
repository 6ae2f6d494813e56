#pragma once

#include <string>

#include <holdfast/result.hpp>

namespace holdfast::io {

// The host of an http or https URL in small letters, with the port unless it is the scheme's own:
// "hooks.example.org", "[::1]:8080". Fails with invalid_argument for what is no such URL; the
// message does not show the URL, which may have a secret in it.
[[nodiscard]] Result<std::string> host_of(const std::string& url);

}  // namespace holdfast::io
