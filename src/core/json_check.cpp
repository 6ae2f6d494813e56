#include "core/json_check.hpp"

#include <algorithm>
#include <bitset>
#include <cstddef>

#include "core/utf8.hpp"

namespace holdfast {
namespace {

constexpr std::size_t kDeepest = 512;

// Reads from left to right. No recursion: the depth is the sender's to choose.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) noexcept : rest_(text) {}

  // Each round reads one value, and then all the brackets that end after it.
  bool is_one_value() noexcept {
    while (true) {
      spaces();
      if (skip('[') || skip('{')) {
        if (!open(before_ == '{')) return false;
        spaces();
        if (!skip(closing())) {
          if (!key()) return false;
          continue;
        }
        --depth_;
      } else if (!scalar()) {
        return false;
      }
      if (!ends()) return false;
      if (depth_ == 0) return rest_.empty();
    }
  }

 private:
  // After a value: either another follows (true, and it stands before it), or all is closed.
  bool ends() noexcept {
    spaces();
    while (depth_ > 0) {
      if (skip(',')) {
        spaces();
        return key();
      }
      if (!skip(closing())) return false;
      --depth_;
      spaces();
    }
    return true;
  }

  bool open(bool is_object) noexcept {
    if (depth_ == kDeepest) return false;
    is_object_[depth_++] = is_object;
    return true;
  }
  [[nodiscard]] char closing() const noexcept { return is_object_[depth_ - 1] ? '}' : ']'; }

  // Within an object, a value has a name before it.
  bool key() noexcept {
    if (!is_object_[depth_ - 1]) return true;
    if (!skip('"') || !string()) return false;
    spaces();
    return skip(':');
  }

  bool scalar() noexcept {
    if (skip('"')) return string();
    return word("true") || word("false") || word("null") || number();
  }

  bool string() noexcept {  // what follows the first quote
    while (!rest_.empty()) {
      if (skip('"')) return true;
      if (skip('\\')) {
        if (!escape()) return false;
        continue;
      }
      const CodePoint point = first_code_point(rest_);
      if (point.length == 0 || point.value < 0x20) return false;
      rest_.remove_prefix(point.length);
    }
    return false;
  }

  bool escape() noexcept {
    if (skip('u')) {
      constexpr std::string_view kHex = "0123456789abcdefABCDEF";
      if (rest_.size() < 4 || rest_.substr(0, 4).find_first_not_of(kHex) != rest_.npos)
        return false;
      rest_.remove_prefix(4);
      return true;
    }
    if (rest_.empty() || !std::string_view(R"("\/bfnrt)").contains(rest_.front())) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool number() noexcept {
    skip('-');
    if (!skip('0') && !digits()) return false;
    if (skip('.') && !digits()) return false;
    if (skip('e') || skip('E')) {
      if (!skip('+')) skip('-');
      return digits();
    }
    return true;
  }

  bool digits() noexcept {
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    rest_.remove_prefix(count);
    return count > 0;
  }

  bool word(std::string_view expected) noexcept {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  bool skip(char expected) noexcept {
    if (!rest_.starts_with(expected)) return false;
    before_ = expected;
    rest_.remove_prefix(1);
    return true;
  }

  void spaces() noexcept {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  std::string_view rest_;
  char before_ = '\0';  // what was skipped last
  std::bitset<kDeepest> is_object_;
  std::size_t depth_ = 0;
};

}  // namespace

bool is_json(std::string_view text) noexcept {
  return JsonReader(text).is_one_value();
}

}  // namespace holdfast
