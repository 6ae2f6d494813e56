#include "stores/sqlite/inspect.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "stores/sqlite/audit.hpp"
#include "stores/sqlite/backup.hpp"
#include "stores/sqlite/file_check.hpp"
#include "stores/sqlite/owner_lock.hpp"
#include "stores/sqlite/schema.hpp"

namespace holdfast::stores::sqlite {
namespace {

namespace fs = std::filesystem;

bool has_log(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path + "-wal", error);
  return !error && size > 0;
}

bool can_be_written(const std::string& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

// Whether its header says that what is new goes to a log beside the file.
bool wants_log(const std::string& path) {
  constexpr char kWriteAheadLog = 2;
  std::array<char, 20> header{};
  std::ifstream(path, std::ios::binary).read(header.data(), header.size());
  return header[18] == kWriteAheadLog && header[19] == kWriteAheadLog;
}

// The file and its log once more, in a folder for our eyes only that is removed with it: SQLite
// must write to read a log, and not every file can be written to.
class TemporaryCopy {
 public:
  static Result<TemporaryCopy> of(const std::string& path) {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "holdfast-verify-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return failed(path, name, std::generic_category().message(errno));
    TemporaryCopy copy(name);
    for (const char* suffix : {"", "-wal"}) {
      fs::copy_file(path + suffix, copy.path() + suffix, error);
      if (!error) fs::permissions(copy.path() + suffix, fs::perms::owner_all, error);
      if (error) return failed(path, name, error.message());
    }
    return copy;
  }

  TemporaryCopy(TemporaryCopy&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  TemporaryCopy& operator=(TemporaryCopy&&) = delete;
  ~TemporaryCopy() { remove(); }

  void remove() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path() const { return folder_ / "copy.db"; }

 private:
  explicit TemporaryCopy(fs::path folder) : folder_(std::move(folder)) {}

  static std::unexpected<Error> failed(const std::string& path, const std::string& folder,
                                       const std::string& why) {
    return fail(ErrorCode::exhausted, "open " + path,
                "has a log and cannot be written to, so that it can be read in a copy only, and " +
                    folder + " cannot be made (" + why + "): set TMPDIR to a folder with room");
  }

  fs::path folder_;
};

std::string free_backup_name(const std::string& path) {
  const std::string first = path + ".before-repair";
  std::string name = first;
  std::error_code ignored;
  for (int i = 2; fs::exists(fs::symlink_status(name, ignored)); ++i)
    name = first + "." + std::to_string(i);
  return name;
}

class Inspector {
 public:
  Inspector(const InspectOptions& options, Clock& clock)
      : path_(options.path), options_(options), clock_(clock) {}

  Result<Inspection> run() {
    if (const auto sound = check_file(path_); !sound) return std::unexpected(sound.error());
    auto lock = options_.repair ? OwnerLock::take(path_, "holdfast verify", clock_)
                                : OwnerLock::share(path_, clock_);
    if (!lock) return std::unexpected(lock.error());
    if (const auto looked = look_through_damage(); !looked) {
      return std::unexpected(looked.error());
    }
    if (const auto mended = mend_if_wanted(); !mended) return std::unexpected(mended.error());
    // Where there was no lock to hold, somebody may have begun to write meanwhile.
    if (const auto owner = options_.repair ? std::nullopt : OwnerLock::owner_of(path_)) {
      return fail(ErrorCode::conflict, "open " + path_,
                  "was opened by " + describe(*owner) + " meanwhile: what was seen may be wrong");
    }
    return std::move(found_);
  }

 private:
  // Damage may keep SQLite from reading anything at all: that is a finding like others.
  Result<void> look_through_damage() {
    try {
      return look();
    } catch (const SqlError& error) {
      const int code = error.code() & 0xff;
      if (code == SQLITE_NOTADB) {
        return fail(ErrorCode::corrupt, "open " + path_,
                    "is no SQLite database, or its beginning is destroyed");
      }
      if (code == SQLITE_BUSY) {
        return fail(ErrorCode::conflict, "open " + path_,
                    "is being read by another program: wait until that one has ended");
      }
      if (code != SQLITE_CORRUPT) throw;
      found_.report = {};
      found_.report.readable = false;
      found_.report.found = found_.left = 1;
      found_.report.findings.push_back(
          {.what = "SQLite: " + std::string(error.what()), .task = {}});
      return {};
    }
  }

  // Changes nothing, and makes no file beside it.
  Result<void> look() {
    if (!has_log(path_)) {
      Database database(path_, Database::Mode::frozen);
      return look_at(database);
    }
    if (can_be_written(path_) && can_be_written(path_ + "-wal")) {
      Database database(path_, Database::Mode::alone);
      return look_at(database);
    }
    auto copy = TemporaryCopy::of(path_);
    if (!copy) return std::unexpected(copy.error());
    Database database(copy->path(), Database::Mode::alone);
    (void)database.number("select count(*) from sqlite_master");  // opens the log, too
    copy->remove();  // what is open needs no name: nothing is left behind, however we end
    return look_at(database);
  }

  // An audit reads every version that there was.
  Result<void> look_at(Database& database) {
    const auto version = version_of(database, path_);
    if (!version) return std::unexpected(version.error());
    if (*version == 0) {
      const bool left_behind = !has_log(path_) && wants_log(path_);
      return fail(ErrorCode::invalid_argument, "open " + path_,
                  left_behind ? "holds no store; if this is a copy, its -wal was left behind"
                              : "is empty: there is no store in it");
    }
    found_.schema = *version;
    database.execute("begin");
    found_.report = audit(database, {.on_step = options_.on_step});
    found_.left = found_.report.found;
    return {};
  }

  Result<void> mend_if_wanted() {
    if (!options_.repair || !found_.report.readable || found_.report.clean()) return {};
    Database database(path_, Database::Mode::write);
    database.execute("pragma synchronous = full");
    const std::string backup = free_backup_name(path_);
    if (const auto saved = back_up(database, path_, backup); !saved) return saved;
    found_.backup = backup;
    const auto migrated = migrate(database, path_, clock_.wall_now());
    if (!migrated) return std::unexpected(migrated.error());
    found_.migrated = *migrated != newest_version();
    mend(database);
    return {};
  }

  void mend(Database& database) {
    database.execute("begin immediate");
    found_.report = audit(database, {.repair = true, .on_step = options_.on_step});
    database.execute("commit");
    const ports::AuditReport after = audit(database, {.on_step = options_.on_step});
    // What is lost is not to be found any more once the counters say so, but not repaired either.
    found_.left = std::max(after.found, found_.report.found - found_.report.repaired);
  }

  const std::string path_;
  const InspectOptions& options_;
  Clock& clock_;
  Inspection found_;
};

}  // namespace

Result<Inspection> inspect(const InspectOptions& options, Clock& clock) {
  try {
    return Inspector(options, clock).run();
  } catch (const SqlError& error) {
    return std::unexpected(error.error("open " + options.path));
  }
}

}  // namespace holdfast::stores::sqlite
