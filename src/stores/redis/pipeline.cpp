#include "stores/redis/pipeline.hpp"

#include <array>
#include <charconv>

namespace holdfast::stores::redis {
namespace {

// "*3\r\n" and "$5\r\n": what RESP puts before a list and before a word.
void append_count(std::string& into, char kind, std::size_t count) {
  std::array<char, 24> text{};
  text[0] = kind;
  char* const end = std::to_chars(text.data() + 1, text.data() + text.size(), count).ptr;
  into.append(text.data(), end);
  into += "\r\n";
}

}  // namespace

void Pipeline::add(std::span<const std::string_view> words) {
  begin(words.size());
  for (const std::string_view bytes : words)
    word(bytes);
  ends_.push_back(bytes_.size());
}

void Pipeline::call(const Script& script, std::string_view key,
                    std::span<const std::string_view> args) {
  begin(args.size() + 4);
  word("EVALSHA");
  word(script.sha());
  word("1");
  word(key);
  for (const std::string_view bytes : args)
    word(bytes);
  ends_.push_back(bytes_.size());
}

void Pipeline::clear() noexcept {
  constexpr std::size_t kKept = std::size_t{1} << 20U;
  if (bytes_.capacity() > kKept) bytes_ = std::string();
  bytes_.clear();
  ends_.clear();
}

std::string_view Pipeline::bytes_from(std::size_t index) const noexcept {
  const std::string_view all = bytes_;
  if (index >= size()) return {};
  return all.substr(index == 0 ? 0 : ends_[index - 1]);
}

std::string_view Pipeline::bytes_of(std::size_t index) const noexcept {
  if (index >= size()) return {};
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

void Pipeline::begin(std::size_t words) {
  append_count(bytes_, '*', words);
}

void Pipeline::word(std::string_view bytes) {
  append_count(bytes_, '$', bytes.size());
  bytes_ += bytes;
  bytes_ += "\r\n";
}

}  // namespace holdfast::stores::redis
