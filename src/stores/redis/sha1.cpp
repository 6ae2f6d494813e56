#include "stores/redis/sha1.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace holdfast::stores::redis {
namespace {

// FIPS 180-4, 6.1; the names a to e are those of the standard.
using State = std::array<std::uint32_t, 5>;
constexpr std::size_t kBlockBytes = 64;

void take_block(State& state, const char* bytes) noexcept {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t t = 0; t < kBlockBytes; ++t)
    words[t / 4] = (words[t / 4] << 8U) | static_cast<unsigned char>(bytes[t]);
  for (std::size_t t = 16; t < words.size(); ++t)
    words[t] = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
  auto [a, b, c, d, e] = state;
  for (std::size_t t = 0; t < words.size(); ++t) {
    std::uint32_t mixed = b ^ c ^ d;
    std::uint32_t constant = t < 40 ? 0x6ed9eba1 : 0xca62c1d6;
    if (t < 20) {
      mixed = (b & c) | (~b & d);
      constant = 0x5a827999;
    } else if (t >= 40 && t < 60) {
      mixed = (b & c) | (b & d) | (c & d);
      constant = 0x8f1bbcdc;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + constant + words[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string sha1_hex(std::string_view text) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (; text.size() >= kBlockBytes; text.remove_prefix(kBlockBytes))
    take_block(state, text.data());
  // What is left, a bit that is set, zeros, and the length: one block, or two.
  std::string rest(text);
  rest += '\x80';
  while (rest.size() % kBlockBytes != kBlockBytes - sizeof bits)
    rest += '\0';
  for (unsigned shift = 64; shift > 0; shift -= 8)
    rest += static_cast<char>(bits >> (shift - 8));
  for (std::size_t at = 0; at < rest.size(); at += kBlockBytes)
    take_block(state, rest.data() + at);

  std::string hex;
  for (const std::uint32_t word : state) {
    for (unsigned shift = 32; shift > 0; shift -= 4)
      hex += "0123456789abcdef"[(word >> (shift - 4)) & 15U];
  }
  return hex;
}

}  // namespace holdfast::stores::redis
