#include "cli/top_keys.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/utf8.hpp"

namespace holdfast::cli {
namespace {

using Kind = Key::Kind;

struct Sequence {
  std::string_view bytes;  // behind ESC [ or ESC O
  Kind kind;
};
constexpr auto kSequences = std::to_array<Sequence>({
    {"A", Kind::up},
    {"B", Kind::down},
    {"H", Kind::home},
    {"F", Kind::end},
    {"Z", Kind::back_tab},
    {"1~", Kind::home},
    {"4~", Kind::end},
    {"7~", Kind::home},
    {"8~", Kind::end},
    {"5~", Kind::page_up},
    {"6~", Kind::page_down},
});

// How long the sequence at the start is, of those that begin with ESC [ or ESC O: up to a letter or
// ~. 0: it has not ended.
std::size_t sequence_length(std::string_view bytes) {
  for (std::size_t at = 2; at < bytes.size(); ++at) {
    if (bytes[at] >= '@' && bytes[at] <= '~') return at + 1;
  }
  return 0;
}

std::optional<Key> plain_key(char byte) {
  switch (byte) {
    case '\t': return Key{Kind::tab};
    case '\r':
    case '\n': return Key{Kind::enter};
    case '\x7f':
    case '\b': return Key{Kind::backspace};
    case '\x1b': return Key{Kind::escape};
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<Key> KeyReader::take(bool is_all) {
  std::vector<Key> keys;
  std::string_view rest = bytes_;
  while (!rest.empty()) {
    const bool may_be_sequence = rest[0] == '\x1b' && !(is_all && rest.size() == 1);
    if (may_be_sequence && rest.size() == 1) break;
    if (may_be_sequence && (rest[1] == '[' || rest[1] == 'O')) {
      const std::size_t length = sequence_length(rest);
      if (length == 0 && !is_all) break;
      const std::string_view bytes = rest.substr(2, length == 0 ? 0 : length - 2);
      const auto found = std::ranges::find(kSequences, bytes, &Sequence::bytes);
      if (found != kSequences.end()) keys.push_back({found->kind});
      rest.remove_prefix(length == 0 ? rest.size() : length);  // others are no keys of ours
      continue;
    }
    const CodePoint point = first_code_point(rest);
    if (const auto key = plain_key(rest[0])) {
      keys.push_back(*key);
      rest.remove_prefix(1);
    } else if (point.length == 0) {
      if (!is_all && rest.size() < 4 && static_cast<unsigned char>(rest[0]) >= 0xC0) break;
      rest.remove_prefix(1);
    } else {
      if (point.value >= ' ')
        keys.push_back({Kind::text, std::string(rest.substr(0, point.length))});
      rest.remove_prefix(point.length);
    }
  }
  bytes_ = std::string(rest);
  return keys;
}

}  // namespace holdfast::cli
