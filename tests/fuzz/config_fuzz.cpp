// Any bytes as a configuration: one that holds, or problems that say where. Nothing outside of the
// input is read: files and variables are those of FakeOutside.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/change.hpp"
#include "config/config.hpp"
#include "config/config_testing.hpp"

namespace config = holdfast::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string file = "/etc/holdfast/f.toml";
  static config::FakeOutside outside = config::furnished_outside();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = config::check(text, file, outside);
  if (!read) {
    if (read.error().empty()) std::abort();
    for (const config::Problem& problem : read.error()) {
      if (problem.message.empty() || problem.place.line == 0) std::abort();
    }
    return 0;
  }
  if (!config::diff(*read, *read).is_empty()) std::abort();
  if (config::diff({}, *read).config.tasks != read->tasks) std::abort();
  // What it says of itself is the same configuration, unless there was something to hide.
  const std::string description = config::describe(*read);
  if (description.find("***") != std::string::npos) return 0;
  const auto again = config::check(description, file, outside);
  if (!again || *again != *read) std::abort();
  return 0;
}
