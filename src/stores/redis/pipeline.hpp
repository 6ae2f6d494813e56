#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stores/redis/script.hpp"

namespace holdfast::stores::redis {

// Commands in the order they are to be carried out, as they go over the wire: their words are
// copied once, into one buffer.
class Pipeline {
 public:
  void add(std::span<const std::string_view> words);
  void add(std::initializer_list<std::string_view> words) {
    add(std::span(words.begin(), words.size()));
  }
  // EVALSHA <sha> 1 <key> <args…>
  void call(const Script& script, std::string_view key, std::span<const std::string_view> args);

  // Takes them all out; keeps its memory, unless that was much.
  void clear() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
  // As they go over the wire, from that one on.
  [[nodiscard]] std::string_view bytes_from(std::size_t index) const noexcept;
  // That one alone.
  [[nodiscard]] std::string_view bytes_of(std::size_t index) const noexcept;

 private:
  void begin(std::size_t words);
  void word(std::string_view bytes);

  std::string bytes_;
  std::vector<std::size_t> ends_;  // of each command
};

}  // namespace holdfast::stores::redis
