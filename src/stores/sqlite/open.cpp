#include "stores/sqlite/open.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stores/sqlite/owner_lock.hpp"
#include "stores/sqlite/reader.hpp"
#include "stores/sqlite/schema.hpp"
#include "stores/sqlite/writer.hpp"

namespace holdfast::stores::sqlite {
namespace {

// Holds the lock for as long as anything of the store is open.
class Locked final : public ports::Store {
 public:
  Locked(std::shared_ptr<OwnerLock> lock, std::unique_ptr<ports::Store> store)
      : lock_(std::move(lock)), store_(std::move(store)) {}

  void carry_out(std::span<ports::Request> batch) override { store_->carry_out(batch); }

 private:
  std::shared_ptr<OwnerLock> lock_;
  std::unique_ptr<ports::Store> store_;
};

// Made by us, so that nobody else can read it, not even for a moment. SQLite gives the log beside
// it the same mode.
Result<bool> make_private_file(const std::string& path) {
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (made >= 0) {
    ::close(made);
    return true;
  }
  if (errno == EEXIST) return false;
  return fail(ErrorCode::unavailable, "open " + path,
              std::string("cannot be made: ") + std::generic_category().message(errno));
}

void prepare(Database& database, const std::string& synchronous) {
  // Larger pages: fewer of them to log for a batch. Only a new file takes it.
  database.execute("pragma page_size = 8192");
  database.execute("pragma journal_mode = wal");
  database.execute("pragma synchronous = " + synchronous);
  // In KiB. A backlog of 200,000 short tasks fits, so that claims read what was just written from
  // memory.
  database.execute("pragma cache_size = -65536");
  database.execute("pragma busy_timeout = 5000");
  database.execute("pragma temp_store = memory");
  // Debian's SQLite overwrites what it deletes with zeros, at a tenth of the cost of everything.
  database.execute("pragma secure_delete = off");
}

}  // namespace

Result<ports::OpenStore> open(const Options& options, Clock& clock, bool* new_file) {
  const std::string& path = options.path;
  if (path.empty()) return fail(ErrorCode::invalid_argument, "open", "the store has no path");
  auto lock = OwnerLock::take(path, options.address, clock);
  if (!lock) return std::unexpected(lock.error());
  const auto made = make_private_file(path);
  if (!made) return std::unexpected(made.error());
  try {
    Database database(path, Database::Mode::write, options.vfs);
    // Before anything is changed: what is not ours stays as it is.
    if (const auto version = version_of(database, path); !version) {
      return std::unexpected(version.error());
    }
    prepare(database, options.synchronous);
    const auto found = migrate(database, path, clock.wall_now());
    if (!found) return std::unexpected(found.error());
    if (new_file) *new_file = *found == 0;
    if (*found != 0 && *found != newest_version()) {
      options.log.log(Level::info, "store.migrated", "the store was brought to a newer schema",
                      {{"path", path}, {"from", *found}, {"to", newest_version()}});
    }
    auto writer =
        std::make_unique<Writer>(std::move(database), options.log, options.checkpoint_pages);
    Database reading(path, Database::Mode::read, options.vfs);
    reading.execute("pragma cache_size = -8192");
    reading.execute("pragma busy_timeout = 5000");
    auto reader = std::make_unique<Reader>(std::move(reading));
    const auto shared = std::make_shared<OwnerLock>(std::move(*lock));
    return ports::OpenStore{.writer = std::make_unique<Locked>(shared, std::move(writer)),
                            .reader = std::make_unique<Locked>(shared, std::move(reader)),
                            .sole_owner = true};
  } catch (const SqlError& error) {
    return std::unexpected(error.error("open " + path));
  }
}

}  // namespace holdfast::stores::sqlite
