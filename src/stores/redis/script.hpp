#pragma once

#include <string>
#include <string_view>

namespace holdfast::stores::redis {

// A Lua script that a server keeps, and is called by the SHA-1 of its text.
class Script {
 public:
  Script(std::string_view name, std::string text);

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::string& sha() const noexcept { return sha_; }  // 40 hexadecimal digits

 private:
  std::string_view name_;
  std::string text_;
  std::string sha_;
};

}  // namespace holdfast::stores::redis
