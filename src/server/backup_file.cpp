#include "server/backup_file.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/os_error.hpp"
#include "server/backup_reader.hpp"

namespace holdfast::server {
namespace {

constexpr const char* kBackupOperation = "backup";

// A new file is there after a crash only when its folder says so.
Result<void> sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const io::UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) return io::fail_os(kBackupOperation, folder, errno);
  return {};
}

}  // namespace

Result<std::unique_ptr<BackupFile>> BackupFile::open(const std::string& path) {
  io::UniqueFd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return io::fail_os(kBackupOperation, path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io::fail_os(kBackupOperation, path, errno);
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument, kBackupOperation,
                path + ": a backup is a regular file");
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::conflict, kBackupOperation,
                path + ": another recovery writes or reads it now");
  }
  auto backup = std::make_unique<BackupFile>(path, std::move(file));
  if (auto found = backup->find_end(); !found) return std::unexpected(found.error());
  // One that was there before may be open to others.
  if ((info.st_mode & 077) != 0 && ::fchmod(backup->file_.get(), info.st_mode & 0700) != 0)
    return io::fail_os(kBackupOperation, path, errno);
  if (auto synced = sync_folder_of(path); !synced) return std::unexpected(synced.error());
  return backup;
}

Result<void> BackupFile::find_end() {
  BackupReader reader(path_, io::UniqueFd(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)));
  const auto none = [this](const std::string& why) {
    return fail(ErrorCode::invalid_argument, kBackupOperation,
                path_ + ": this file is not a backup of messages" + why +
                    ". Nothing was written to it; name another file");
  };
  std::string fault;  // of the first line
  bool is_backup = false;
  bool lacks_newline = false;
  for (;;) {
    auto next = reader.next();
    if (!next) return std::unexpected(std::move(next).error());
    if (!*next) break;
    const BackupReader::Line& line = **next;
    const auto parsed = recovery::parse_backup_line(line.text);
    if (parsed && parsed->is_newer) return none(" of this version");
    if (!parsed && line.number == 1) fault = parsed.error();
    is_backup = is_backup || parsed ||
                (line.number == 1 && line.is_torn && recovery::may_begin_backup(line.text));
    lacks_newline = line.is_torn && parsed;
    if (parsed || !line.is_torn) durable_ = reader.offset();
  }
  if (!is_backup && reader.offset() > 0)
    return none(" that can be continued: in its first line, " + fault);
  if (::ftruncate(file_.get(), durable_) != 0 || ::fdatasync(file_.get()) != 0)
    return io::fail_os(kBackupOperation, path_, errno);
  size_ = durable_;
  if (!lacks_newline) return {};
  if (auto ended = append("\n"); !ended) return ended;
  return sync();
}

Result<void> BackupFile::append(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t put = ::write(file_.get(), lines.data(), lines.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return undo(errno);
    size_ += put;
    lines.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> BackupFile::sync() {
  if (::fdatasync(file_.get()) != 0) return undo(errno);
  if (auto checked = check(); !checked) return checked;
  durable_ = size_;
  return {};
}

Result<void> BackupFile::check() const {
  struct stat open_file {};
  struct stat named {};
  if (::fstat(file_.get(), &open_file) != 0) return io::fail_os(kBackupOperation, path_, errno);
  const bool is_there = ::stat(path_.c_str(), &named) == 0 && named.st_dev == open_file.st_dev &&
                        named.st_ino == open_file.st_ino;
  if (is_there && open_file.st_size == size_) return {};
  return fail(ErrorCode::conflict, kBackupOperation,
              path_ +
                  (is_there ? ": somebody else has written to the backup, or cut it"
                            : ": somebody else has removed or renamed the backup") +
                  ". What this run has taken from its queue before is only there");
}

std::unexpected<Error> BackupFile::undo(int os_error) {
  auto error = io::fail_os(kBackupOperation, path_, os_error).error();
  // What is left of a torn line, if this fails too, is removed by who opens it next.
  if (check() && ::ftruncate(file_.get(), durable_) == 0)
    size_ = durable_;
  else
    error.message += " (and its end is torn)";
  error.message += ". No message was taken from its queue that is not in the backup";
  return std::unexpected(std::move(error));
}

}  // namespace holdfast::server
