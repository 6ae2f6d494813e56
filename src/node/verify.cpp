#include "node/verify.hpp"

#include <utility>

#include "stores/sqlite/inspect.hpp"
#include "stores/sqlite/migrate_file.hpp"

namespace holdfast::node {

Result<VerifyReport> verify(const std::string& path, const VerifyOptions& options) {
  auto seen =
      stores::sqlite::inspect({.path = path, .repair = options.repair, .on_step = options.on_step});
  if (!seen) return std::unexpected(std::move(seen).error());
  return VerifyReport{.schema = seen->schema,
                      .migrated = seen->migrated,
                      .backup = std::move(seen->backup),
                      .audit = std::move(seen->report),
                      .left = seen->left};
}

Result<Migration> migrate(const std::string& path) {
  const auto done = stores::sqlite::migrate_file(path);
  if (!done) return std::unexpected(done.error());
  return Migration{.from = done->from, .to = done->to};
}

}  // namespace holdfast::node
