#include "config/config.hpp"
#include "config/keys.hpp"

namespace holdfast::config {
namespace {

template <class S>
void append(std::string& text, const Section<S>& section, const std::string& path,
            const S& values) {
  if (!text.empty()) text += '\n';
  text += "[" + path + "]\n";
  for (const Row<S>& row : section.rows) {
    if (!applies(row.info, values)) continue;
    const std::string value = row.show(values);
    if (value.empty()) continue;
    text += std::string(row.info.name) + " = " + value + "\n";
  }
}

template <class S>
void append(std::string& text, const Section<S>& section, const std::string& path,
            const std::map<std::string, S>& all) {
  for (const auto& [name, values] : all)
    append(text, section, join_key(path, name), values);
}

}  // namespace

std::string describe(const Config& config) {
  std::string text;
  each_section([&](const auto& section, auto member) {
    append(text, section, std::string(section.name), config.*member);
  });
  return text;
}

}  // namespace holdfast::config
