#include "stores/sqlite/migrate_file.hpp"

#include "stores/sqlite/database.hpp"
#include "stores/sqlite/file_check.hpp"
#include "stores/sqlite/owner_lock.hpp"
#include "stores/sqlite/schema.hpp"

namespace holdfast::stores::sqlite {

Result<Migration> migrate_file(const std::string& path, Clock& clock) {
  if (const auto sound = check_file(path); !sound) return std::unexpected(sound.error());
  const auto lock = OwnerLock::take(path, "holdfast migrate", clock);
  if (!lock) return std::unexpected(lock.error());
  try {
    Database database(path, Database::Mode::write);
    const auto version = version_of(database, path);
    if (!version) return std::unexpected(version.error());
    if (*version == 0) {
      return fail(ErrorCode::invalid_argument, "open " + path, "is empty: there is no store in it");
    }
    database.execute("pragma synchronous = full");
    const auto found = migrate(database, path, clock.wall_now());
    if (!found) return std::unexpected(found.error());
    return Migration{.from = *found, .to = newest_version()};
  } catch (const SqlError& error) {
    return std::unexpected(error.error("migrate " + path));
  }
}

}  // namespace holdfast::stores::sqlite
