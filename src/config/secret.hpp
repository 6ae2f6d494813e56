#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::config {

// A text that must never be printed: a token, a signing key. It has no operator<<, no format and no
// conversion, so that a log line cannot take it by accident; who needs the text says reveal().
// Copies share one text, which is wiped when the last of them goes.
class Secret {
 public:
  Secret() = default;  // none at all
  // `source` is where it came from, "env:NAME" or "file:PATH": no secret, and good to know.
  Secret(std::string text, std::string source);

  [[nodiscard]] bool is_set() const noexcept { return text_ != nullptr; }
  [[nodiscard]] std::string_view reveal() const noexcept {
    return text_ ? std::string_view(*text_) : std::string_view();
  }
  [[nodiscard]] const std::string& source() const noexcept { return source_; }

  bool operator==(const Secret& other) const noexcept {
    return is_set() == other.is_set() && reveal() == other.reveal() && source_ == other.source_;
  }

 private:
  std::shared_ptr<const std::string> text_;
  std::string source_;
};

}  // namespace holdfast::config
