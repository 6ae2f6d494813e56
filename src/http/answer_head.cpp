#include "http/answer_head.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace holdfast::http {

std::string head_of(const Response& response, const HeadOptions& options) {
  std::string head;
  const auto add = [&](std::string_view text) { head += text; };
  add("HTTP/1.1 ");
  add(std::to_string(response.status));
  add(" ");
  add(reason_of(response.status));
  add("\r\nDate: ");
  add(options.date);
  if (options.chunked) {
    add("\r\nTransfer-Encoding: chunked");
  } else if (response.status != 204 && response.status != 304 && !response.source) {
    add("\r\nContent-Length: ");
    add(std::to_string(response.body.size()));
  }
  if (!response.body.empty() || response.source) {
    add("\r\nContent-Type: ");
    add(response.type);
  }
  add("\r\nX-Content-Type-Options: nosniff");
  // What is asked of the API is true for now only.
  const auto says = [](const auto& field) { return field.first == "Cache-Control"; };
  if (std::ranges::none_of(response.headers, says)) add("\r\nCache-Control: no-store");
  for (const auto& [name, value] : response.headers) {
    add("\r\n");
    add(name);
    add(": ");
    add(value);
  }
  if (!options.keep_alive) add("\r\nConnection: close");
  add("\r\n\r\n");
  return head;
}

std::string chunk_of(std::string_view bytes, bool is_last) {
  std::string chunk;
  if (!bytes.empty()) {
    chunk = fmt::format("{:x}\r\n", bytes.size());
    chunk += bytes;
    chunk += "\r\n";
  }
  if (is_last) chunk += "0\r\n\r\n";
  return chunk;
}

std::string http_date(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  const std::size_t size =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

}  // namespace holdfast::http
