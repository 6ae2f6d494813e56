#include "stores/sqlite/audit.hpp"

namespace holdfast::stores::sqlite {

ports::AuditReport audit(Database&, const Tally&, bool) {
  return {};
}

}  // namespace holdfast::stores::sqlite
