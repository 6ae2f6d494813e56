// Fingerprints: any bytes are normalized to a bounded text on one line, which stays as it is when
// it is normalized again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/fingerprint.hpp"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string once = holdfast::normalized(text);
  expect(once.size() <= holdfast::kFingerprintBytes);
  expect(std::ranges::none_of(once, [](char c) { return c >= 0 && c < ' '; }));
  expect(!once.starts_with(' ') && !once.ends_with(' '));
  expect(holdfast::normalized(once) == once);
  expect(holdfast::fingerprint(once) == holdfast::fingerprint(text));
  return 0;
}
