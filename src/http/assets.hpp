#pragma once

#include <span>
#include <string_view>

namespace holdfast::http {

// A file of the dashboard, as a browser is given it.
struct Asset {
  std::string_view path;  // what is asked for: "/" is the page itself, all else "/assets/NAME"
  std::string_view type;  // for Content-Type
  std::string_view etag;  // for ETag, in its quotes
  std::string_view gzipped;
};

// All there are, the page first. NAME carries a hash of what is in it, so that a browser may keep
// such a file for ever; the page itself has to be asked for anew. They are made from web/ when we
// are built (cmake/dashboard.cmake), and live as long as the program.
[[nodiscard]] std::span<const Asset> assets() noexcept;

}  // namespace holdfast::http
