// Any bytes as a rule file: rules that make a classifier, or an error that says where.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <holdfast/classify.hpp>

#include "io/rule_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto rules = holdfast::parse_rules(text, "f");
  if (!rules) {
    if (!rules.error().message.starts_with("f:")) std::abort();
    return 0;
  }
  // Only a name that a preset has, or a preset used twice, may still be refused.
  const auto classifier = holdfast::Classifier::make(std::move(*rules));
  if (!classifier && classifier.error().message.find("is taken by") == std::string::npos) {
    std::abort();
  }
  return 0;
}
