#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

namespace holdfast {

// A text with places to be filled in: "scans/{customer.id}/{object}". {{ and }} are braces
// themselves.
class TextTemplate {
 public:
  TextTemplate() = default;  // of the empty text

  // Fails with invalid_argument for a brace that is not closed, or has nothing in it; the message
  // says where.
  [[nodiscard]] static Result<TextTemplate> parse(std::string_view text);

  // What stands in the place of a field, or why there is nothing.
  using Lookup = std::function<std::expected<std::string, std::string>(std::string_view field)>;
  // The text, or the first thing that `lookup` had to say against it.
  [[nodiscard]] std::expected<std::string, std::string> fill(const Lookup& lookup) const;

  [[nodiscard]] bool is_empty() const noexcept { return parts_.empty(); }

 private:
  struct Part {
    std::string text;
    bool is_field = false;
  };
  std::vector<Part> parts_;
};

}  // namespace holdfast
