#include "ports/store.hpp"

namespace holdfast::ports {

bool is_query(const Request& request) noexcept {
  if (const auto* audit = std::get_if<Asked<Audit>>(&request)) return !audit->verb.repair;
  return std::holds_alternative<Asked<Find>>(request) ||
         std::holds_alternative<Asked<List>>(request) ||
         std::holds_alternative<Asked<Count>>(request) ||
         std::holds_alternative<Asked<Groups>>(request) ||
         std::holds_alternative<Asked<Notes>>(request) ||
         std::holds_alternative<Asked<Uncarried>>(request);
}

}  // namespace holdfast::ports
