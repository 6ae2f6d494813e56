#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::stores::redis {

// Words for a script, one behind the other in one text: thousands of them cost no more memory to be
// asked for than a few.
class WordList {
 public:
  // Where the next word is written to; end_word() says that it is whole.
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  void end_word() { ends_.push_back(bytes_.size()); }
  void add(std::string_view word) {
    bytes_ += word;
    end_word();
  }

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t at) const noexcept {
    const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
    return std::string_view(bytes_).substr(begin, ends_[at] - begin);
  }
  void append_to(std::vector<std::string_view>& words) const {
    for (std::size_t at = 0; at < size(); ++at)
      words.push_back((*this)[at]);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace holdfast::stores::redis
