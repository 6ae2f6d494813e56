#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "http/message.hpp"

// Answers as they go over the wire.
namespace holdfast::http {

struct HeadOptions {
  std::string_view date;
  bool keep_alive = true;
  bool chunked = false;  // the body comes in chunks: see chunk_of
};

// Status line and headers, to the empty line at their end.
[[nodiscard]] std::string head_of(const Response& response, const HeadOptions& options);

// One chunk of a body, and the end of all of them if it is the last. Nothing that is not the last
// is no chunk, since an empty one is the end.
[[nodiscard]] std::string chunk_of(std::string_view bytes, bool is_last);

// "Mon, 16 Nov 2026 03:00:00 GMT"
[[nodiscard]] std::string http_date(std::time_t now);

}  // namespace holdfast::http
