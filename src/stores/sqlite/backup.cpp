#include "stores/sqlite/backup.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::stores::sqlite {
namespace {

std::unexpected<Error> failed(const std::string& path, const std::string& to,
                              const std::string& why) {
  return fail(ErrorCode::exhausted, "back up " + path,
              "cannot make " + to + ": " + why + "; nothing was changed");
}

void copy_pages(Database& from, Database& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (!backup) to.fail(SQLITE_ERROR, "backup");
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) to.fail(code, "backup");
}

}  // namespace

Result<void> back_up(Database& database, const std::string& path, const std::string& to) {
  std::remove(to.c_str());
  // Made by us, so that nobody else can read it, not even for a moment.
  const int made = ::open(to.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (made < 0) return failed(path, to, std::generic_category().message(errno));
  ::close(made);
  try {
    Database copy(to, Database::Mode::write);
    copy_pages(database, copy);
    return {};
  } catch (const SqlError& error) {
    std::remove(to.c_str());
    return failed(path, to, error.what());
  }
}

}  // namespace holdfast::stores::sqlite
