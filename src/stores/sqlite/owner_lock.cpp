#include "stores/sqlite/owner_lock.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::stores::sqlite {
namespace {

// How long a lock may outlive its owner. A process that is killed while it starts a command leaves
// a child that shares its files for a moment, until the child becomes the command or is killed,
// too.
constexpr Duration kOutlives = std::chrono::seconds(5);
constexpr Duration kTryAgain = std::chrono::milliseconds(5);

std::string lock_path(const std::string& path) {
  return path + ".lock";
}

// "<pid> <address>\n"
OwnerLock::Owner parse(std::string_view text) {
  OwnerLock::Owner owner;
  const std::size_t space = text.find(' ');
  const std::string_view pid = text.substr(0, space);
  std::from_chars(pid.data(), pid.data() + pid.size(), owner.pid);
  if (space != std::string_view::npos) owner.address = text.substr(space + 1);
  while (!owner.address.empty() && owner.address.back() == '\n')
    owner.address.pop_back();
  return owner;
}

OwnerLock::Owner read_owner(int file) {
  char text[512] = {};
  const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
  return parse(std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0));
}

// Whether it is there and not only waits for its parent to notice its end.
bool is_running(std::int64_t pid) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return false;
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string status;
  std::getline(file, status);
  const std::size_t name_end =
      status.rfind(')');  // "4711 (name) Z ...": a name may contain anything
  return name_end == std::string::npos || !status.substr(name_end + 1).starts_with(" Z");
}

std::unexpected<Error> in_use(const std::string& path, const OwnerLock::Owner& owner) {
  std::string why = "is in use by " + describe(owner) +
                    ": an embedded store has one owner; ask that one, or stop it first";
  if (owner.pid > 0 && !is_running(owner.pid)) {
    why = "is locked, but not by its last owner: " + describe(owner) +
          " is not running here. Another command may be looking at the file, or the owner runs in "
          "another container; \"fuser " +
          lock_path(path) + "\" shows who has the lock";
  }
  return fail(ErrorCode::conflict, "open " + path, std::move(why));
}

// At once if nobody has it or its owner is running.
Result<void> lock_for(int file, int how, const std::string& path, Clock& clock) {
  const SteadyTime until = saturating_add(clock.now(), kOutlives);
  while (::flock(file, how | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) {
      return fail(ErrorCode::unavailable, "open " + path,
                  "cannot lock " + lock_path(path) + ": " + std::generic_category().message(errno));
    }
    const OwnerLock::Owner owner = read_owner(file);
    if ((owner.pid > 0 && is_running(owner.pid)) || clock.now() >= until)
      return in_use(path, owner);
    clock.sleep_for(kTryAgain);
  }
  return {};
}

}  // namespace

std::string describe(const OwnerLock::Owner& owner) {
  std::string text = owner.pid > 0 ? "process " + std::to_string(owner.pid) : "another process";
  if (!owner.address.empty()) text += " (" + owner.address + ")";
  return text;
}

Result<OwnerLock> OwnerLock::take(const std::string& path, const std::string& address,
                                  Clock& clock) {
  const std::string name = lock_path(path);
  const int file =
      ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file < 0) {
    return fail(
        ErrorCode::unavailable, "open " + path,
        "cannot make the lock file " + name + ": " + std::generic_category().message(errno));
  }
  OwnerLock lock(file);
  if (const auto locked = lock_for(file, LOCK_EX, path, clock); !locked)
    return std::unexpected(locked.error());
  lock.held_ = true;
  const std::string text = std::to_string(::getpid()) + " " + address + "\n";
  const bool written = ::ftruncate(file, 0) == 0 && ::pwrite(file, text.data(), text.size(), 0) ==
                                                        static_cast<ssize_t>(text.size());
  if (!written) {
    return fail(
        ErrorCode::exhausted, "open " + path,
        "cannot write the lock file " + name + ": " + std::generic_category().message(errno));
  }
  return lock;
}

Result<OwnerLock> OwnerLock::share(const std::string& path, Clock& clock) {
  OwnerLock lock(::open(lock_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (lock.file_ < 0) {
    if (errno == ENOENT) return lock;
    return fail(ErrorCode::unavailable, "open " + path,
                "cannot read the lock file " + lock_path(path) + ": " +
                    std::generic_category().message(errno));
  }
  if (const auto locked = lock_for(lock.file_, LOCK_SH, path, clock); !locked)
    return std::unexpected(locked.error());
  return lock;
}

Result<void> OwnerLock::announce(const std::string& path, const std::string& address) {
  const std::string name = lock_path(path);
  const int file = ::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  bool written = false;
  if (file >= 0 && read_owner(file).pid == ::getpid()) {
    // In place, and cut afterwards: who reads meanwhile finds the process, at the least.
    const std::string text = std::to_string(::getpid()) + " " + address + "\n";
    const auto size = static_cast<ssize_t>(text.size());
    written = ::pwrite(file, text.data(), text.size(), 0) == size && ::ftruncate(file, size) == 0;
  }
  if (file >= 0) ::close(file);
  if (written) return {};
  return fail(ErrorCode::unavailable, "announce",
              "cannot write to " + name + " where this server can be reached");
}

OwnerLock::OwnerLock(OwnerLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), held_(std::exchange(other.held_, false)) {}

OwnerLock::~OwnerLock() {
  if (file_ < 0) return;
  // The file stays, empty: removing it would let two processes lock two files of one name.
  if (held_) [[maybe_unused]]
    const int emptied = ::ftruncate(file_, 0);
  ::close(file_);
}

std::optional<OwnerLock::Owner> OwnerLock::owner_of(const std::string& path) {
  const int file = ::open(lock_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  std::optional<Owner> owner;
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) owner = read_owner(file);
  ::close(file);
  return owner;
}

}  // namespace holdfast::stores::sqlite
