#include "node/verify.hpp"

#include <utility>

#include "node/open_store.hpp"
#include "stores/redis/address.hpp"
#include "stores/sqlite/inspect.hpp"
#include "stores/sqlite/migrate_file.hpp"

namespace holdfast::node {
namespace {

Result<VerifyReport> verify_shared(const std::string& url, const VerifyOptions& options) {
  const auto place = parse_place(url);
  if (!place) return std::unexpected(place.error());
  auto opened = open_store(*place, {});
  if (!opened) return std::unexpected(std::move(opened).error());
  if (options.on_step) options.on_step("tasks");
  auto audit = ports::ask(*opened->store.writer, ports::Audit{.repair = options.repair});
  if (!audit) return std::unexpected(std::move(audit).error());
  VerifyReport report{.audit = *std::move(audit)};
  report.left = report.audit.found;
  if (!options.repair || report.audit.clean()) return report;
  if (options.on_step) options.on_step("what was repaired");
  const auto after = ports::ask(*opened->store.writer, ports::Audit{});
  if (!after) return std::unexpected(after.error());
  report.left = after->found;
  report.audit.accepted = after->accepted;
  report.audit.present = after->present;
  report.audit.removed = after->removed;
  return report;
}

}  // namespace

bool is_shared(const std::string& path_or_url) {
  return stores::redis::is_redis_url(path_or_url);
}

Result<VerifyReport> verify(const std::string& path, const VerifyOptions& options) {
  if (is_shared(path)) return verify_shared(path, options);
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
