#include "torture/forgetful_vfs.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include <sqlite3.h>

namespace holdfast::torture {

struct ForgetfulVfs::Disk {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  std::string name;
  std::string folder;
  ForgetfulDisk kept;
  Plan plan;
  std::uint64_t steps = 0;
  bool power = true;
  bool struck = false;

  enum class Kind : std::uint8_t { write, sync, other };

  // Takes one step. SQLITE_OK: it may be done.
  int step(Kind kind, int otherwise) {
    if (!power) return otherwise;
    ++steps;
    if (steps == plan.cut_power_at) {
      power = false;
      return otherwise;
    }
    if (kind == Kind::write && is_full()) {
      struck = true;
      return SQLITE_FULL;
    }
    if ((kind == Kind::write && comes_due(plan.fail_write_from)) ||
        (kind == Kind::sync && comes_due(plan.fail_sync_from))) {
      struck = true;
      return otherwise;
    }
    return SQLITE_OK;
  }

  // Once.
  [[nodiscard]] bool comes_due(std::uint64_t& from) const {
    if (from == 0 || steps < from) return false;
    from = 0;
    return true;
  }

  [[nodiscard]] bool is_full() const { return plan.full_from != 0 && steps >= plan.full_from; }
};

namespace {

using Disk = ForgetfulVfs::Disk;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// SQLite gives us raw memory of size szOsFile: this, and behind it the file of the real VFS.
struct OpenFile {
  sqlite3_file base;
  Disk* disk;
  std::shared_ptr<ForgetfulDisk::File> kept;  // null: a temporary file, which nobody wants back
  bool syncs_folder;                          // with its first sync
};

OpenFile& self(sqlite3_file* file) {
  return *reinterpret_cast<OpenFile*>(file);
}

sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(OpenFile));
}

int close_file(sqlite3_file* file) {
  const int code = real(file)->pMethods->xClose(real(file));
  std::destroy_at(&self(file));
  return code;
}

int read_file(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), bytes, size, offset);
}

int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  OpenFile& own = self(file);
  if (own.kept) {
    const int code = own.disk->step(Disk::Kind::write, SQLITE_IOERR_WRITE);
    if (code != SQLITE_OK) return code;
    own.kept->unsynced.push_back(
        {.offset = static_cast<std::uint64_t>(offset),
         .bytes = {static_cast<const char*>(bytes), static_cast<std::size_t>(size)}});
  }
  return real(file)->pMethods->xWrite(real(file), bytes, size, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  OpenFile& own = self(file);
  if (own.kept) {
    const int code = own.disk->step(Disk::Kind::other, SQLITE_IOERR_TRUNCATE);
    if (code != SQLITE_OK) return code;
    own.kept->unsynced.push_back({.offset = static_cast<std::uint64_t>(size), .truncates = true});
  }
  return real(file)->pMethods->xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int) {
  OpenFile& own = self(file);
  if (!own.kept) return SQLITE_OK;
  const int code = own.disk->step(Disk::Kind::sync, SQLITE_IOERR_FSYNC);
  if (code != SQLITE_OK) return code;
  ForgetfulDisk::sync(*own.kept);
  if (std::exchange(own.syncs_folder, false)) own.disk->kept.sync_folder();
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

int lock_file(sqlite3_file* file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}

int unlock_file(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

int check_reserved_lock(sqlite3_file* file, int* locked) {
  return real(file)->pMethods->xCheckReservedLock(real(file), locked);
}

int control_file(sqlite3_file* file, int operation, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

int sector_size(sqlite3_file* file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

int characteristics(sqlite3_file* file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  const OpenFile& own = self(file);
  const auto map = real(file)->pMethods->xShmMap;
  if (extend == 0 || !own.disk->is_full()) return map(real(file), region, size, extend, memory);
  // The shared index is a file too: with no room, it does not grow.
  const int code = map(real(file), region, size, 0, memory);
  if (code != SQLITE_OK || *memory) return code;
  own.disk->struck = true;
  return SQLITE_IOERR_SHMSIZE;
}

int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

void barrier_shared(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

int unmap_shared(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,  // without memory-mapped files, which would write past us
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier_shared,
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

Disk& disk_of(sqlite3_vfs* vfs) {
  return *static_cast<Disk*>(vfs->pAppData);
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  Disk& disk = disk_of(vfs);
  file->pMethods = nullptr;
  if (!disk.power) return SQLITE_CANTOPEN;
  constexpr int kLogs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
  const bool is_kept = name && (flags & (SQLITE_OPEN_MAIN_DB | kLogs)) != 0;
  const bool is_new = is_kept && !disk.kept.knows(name);
  const int code = disk.real->xOpen(disk.real, name, real(file), flags, out_flags);
  if (code != SQLITE_OK) return code;
  OpenFile& own = *std::construct_at(
      &self(file),
      OpenFile{
          .base = {.pMethods = &kMethods}, .disk = &disk, .kept = nullptr, .syncs_folder = false});
  if (is_kept) {
    own.kept = disk.kept.open(name, is_new ? content_of(name) : std::string());
    own.syncs_folder = is_new && (flags & kLogs) != 0;
  }
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  Disk& disk = disk_of(vfs);
  const int code = disk.step(Disk::Kind::other, SQLITE_IOERR_DELETE);
  if (code != SQLITE_OK) return code;
  disk.kept.remove(name);
  if (sync_folder != 0) disk.kept.sync_folder();
  return disk.real->xDelete(disk.real, name, 0);
}

int access_file(sqlite3_vfs* vfs, const char* name, int flags, int* answer) {
  sqlite3_vfs* real = disk_of(vfs).real;
  return real->xAccess(real, name, flags, answer);
}

int full_name(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  sqlite3_vfs* real = disk_of(vfs).real;
  return real->xFullPathname(real, name, size, out);
}

}  // namespace

ForgetfulVfs::ForgetfulVfs() : disk_(std::make_unique<Disk>()) {
  static int made = 0;
  disk_->name = "forgetful-" + std::to_string(++made);
  std::string pattern = std::filesystem::temp_directory_path() / "holdfast-disk-XXXXXX";
  if (!::mkdtemp(pattern.data())) std::abort();
  disk_->folder = pattern;
  disk_->real = sqlite3_vfs_find(nullptr);
  // All that is not said here (time, randomness, sleep) is the real one's.
  disk_->vfs = *disk_->real;
  disk_->vfs.szOsFile = static_cast<int>(sizeof(OpenFile)) + disk_->real->szOsFile;
  disk_->vfs.pNext = nullptr;
  disk_->vfs.zName = disk_->name.c_str();
  disk_->vfs.pAppData = disk_.get();
  disk_->vfs.xOpen = open_file;
  disk_->vfs.xDelete = remove_file;
  disk_->vfs.xAccess = access_file;
  disk_->vfs.xFullPathname = full_name;
  if (sqlite3_vfs_register(&disk_->vfs, 0) != SQLITE_OK) std::abort();
}

ForgetfulVfs::~ForgetfulVfs() {
  sqlite3_vfs_unregister(&disk_->vfs);
  std::error_code ignored;
  std::filesystem::remove_all(disk_->folder, ignored);
}

const std::string& ForgetfulVfs::name() const noexcept {
  return disk_->name;
}

const std::string& ForgetfulVfs::folder() const noexcept {
  return disk_->folder;
}

void ForgetfulVfs::plan(const Plan& plan) {
  disk_->plan = plan;
  disk_->steps = 0;
  disk_->struck = false;
}

std::uint64_t ForgetfulVfs::steps() const noexcept {
  return disk_->steps;
}

bool ForgetfulVfs::has_power() const noexcept {
  return disk_->power;
}

bool ForgetfulVfs::has_struck() const noexcept {
  return disk_->struck;
}

void ForgetfulVfs::restart(ForgetfulDisk::Keeps keeps, SeededRandom& random) {
  const auto contents = disk_->kept.cut_power(keeps, random);
  // The shared index is memory: it goes too, and so do names that were not synced.
  for (const auto& entry : std::filesystem::directory_iterator(disk_->folder))
    std::filesystem::remove(entry.path());
  for (const auto& [name, bytes] : contents) {
    std::ofstream(name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  plan({});
  disk_->power = true;
}

}  // namespace holdfast::torture
