// Any bytes as a request: a line with method and target, lines of headers, an empty line, a body.
// It is answered with what was asked for or with a problem that says what is wrong, never with a
// bug.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "api_box.hpp"

namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = take_line(text);
  const std::size_t space = std::min(first.find(' '), first.size());
  holdfast::http::Head head{.method = std::string(first.substr(0, space)),
                            .target = std::string(first.substr(std::min(space + 1, first.size())))};
  for (std::string_view line = take_line(text); !line.empty(); line = take_line(text)) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    head.headers.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
  }
  holdfast::fuzz::api_box().ask(std::move(head), std::string(text));
  return 0;
}
