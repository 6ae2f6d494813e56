#include <array>

#include <fmt/format.h>

#include <holdfast/classify.hpp>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"

namespace holdfast::presets {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"network", "http",     "ethereum",
                                                    "aws",     "database", "all"};

}  // namespace

std::vector<Rule> all() {
  return combine({ethereum(), aws(), database(), http(), network()});
}

std::span<const std::string_view> names() noexcept {
  return kNames;
}

Result<std::vector<Rule>> named(std::string_view name) {
  if (name == "network") return network();
  if (name == "http") return http();
  if (name == "ethereum") return ethereum();
  if (name == "aws") return aws();
  if (name == "database") return database();
  if (name == "all") return all();
  return fail(ErrorCode::invalid_argument, "find preset",
              fmt::format("unknown preset {}{}", quoted(name), did_you_mean(name, kNames)));
}

}  // namespace holdfast::presets
