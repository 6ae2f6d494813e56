#include "server/retention.hpp"

#include "node/open_store.hpp"
#include "server/retention_files.hpp"

namespace holdfast::server {
namespace {

// Beside the file of an embedded store; of a store elsewhere, where its tasks are spilled to.
std::string memo_path(const config::Store& store) {
  const auto place = node::parse_place(store.url.text.reveal());
  if (place && place->kind == node::Place::Kind::sqlite) return place->path + "-warnings";
  return store.spill.empty() ? "" : store.spill + "/.warnings";
}

}  // namespace

engine::Keep keep_of(const config::Store& store) {
  return {.succeeded = store.keep_succeeded,
          .canceled = store.keep_canceled,
          .failed = store.keep_failed,
          .dead = store.keep_dead,
          .warning = store.keep_warning};
}

Retention retention_of(const config::Store& store, ports::Loop& loop, const Logger& log) {
  if (!store.keep_failed && !store.keep_dead) return {};
  const RetentionFiles::Paths paths{.folder = store.spill, .memo = memo_path(store)};
  if (paths.folder.empty() && paths.memo.empty()) return {};
  const auto files = std::make_shared<RetentionFiles>(loop, paths, log);
  return {.spill = paths.folder.empty() ? nullptr : files, .memo = files};
}

}  // namespace holdfast::server
