// Durations and sizes: any text is a value or an error, and a value survives being written.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/json_text.hpp"
#include "core/units.hpp"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

template <class Value>
void check(const holdfast::Result<Value>& parsed, Value (*read_back)(Value)) {
  if (parsed) {
    expect(read_back(*parsed) == *parsed);
  } else {
    expect(parsed.error().code == holdfast::ErrorCode::invalid_argument);
    expect(parsed.error().message.find(" at offset ") != std::string::npos);
    expect(holdfast::is_visible(parsed.error().message));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check<holdfast::Duration>(holdfast::parse_duration(text), [](holdfast::Duration span) {
    expect(span >= holdfast::Duration::zero());
    return holdfast::parse_duration(holdfast::format_duration(span)).value();
  });
  check<std::uint64_t>(holdfast::parse_size(text), [](std::uint64_t bytes) {
    return holdfast::parse_size(holdfast::format_size(bytes)).value();
  });
  return 0;
}
