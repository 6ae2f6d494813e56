#include "io/private_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/lane.hpp"
#include "io/os_error.hpp"

namespace holdfast::io {
namespace {

constexpr int kMostTries = 100;
constexpr const char* kPrivateFolderOperation = "make private folder";

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

// Names in a folder, but for itself and its parent.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> open(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!open) {
    UniqueFd(copy).reset();
    return names;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): of a stream of its own it is safe
  while (const dirent* const entry = ::readdir(open.get())) {
    const std::string_view name = &entry->d_name[0];
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

void remove_all_in(int folder) {
  for (const std::string& name : names_in(folder))
    ::unlinkat(folder, name.c_str(), 0);
}

// A folder of our own that is there; it is ours alone as long as what comes back lives.
UniqueFd open_and_lock(int parent, const std::string& name) {
  UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid()) return {};
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  // Whoever had the lock before us may have removed it.
  if (::fstat(fd.get(), &status) != 0 || status.st_nlink == 0) return {};
  return fd;
}

void sweep(int parent, std::string_view prefix) {
  for (const std::string& name : names_in(parent)) {
    if (!name.starts_with(prefix)) continue;
    const UniqueFd left = open_and_lock(parent, name);
    if (!left) continue;
    remove_all_in(left.get());
    ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

// Removes on a thread of its own: the blocks of a large file take a disk its time.
struct PrivateFile::Remover {
  Remover(ports::Loop& loop, std::string its_path, UniqueFd its_folder)
      : path(std::move(its_path)),
        folder(std::move(its_folder)),
        lane(loop, "hf-remove", [this](std::span<std::string> names) {
          for (const std::string& name : names)
            ::unlinkat(folder.get(), name.c_str(), 0);
        }) {}

  ~Remover() {
    remove_all_in(folder.get());
    ::rmdir(path.c_str());
  }
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;

  void remove(const std::string& file) {
    lane.post(file.substr(file.rfind('/') + 1), [](const std::string&) {});
  }

  const std::string path;
  const UniqueFd folder;  // with the lock
  Lane<std::string> lane;
};

PrivateFile::PrivateFile(std::shared_ptr<Remover> remover, std::string path, UniqueFd fd)
    : remover_(std::move(remover)), path_(std::move(path)), fd_(std::move(fd)) {}

PrivateFile::~PrivateFile() {
  if (remover_) remover_->remove(path_);
}

PrivateFile::PrivateFile(PrivateFile&& other) noexcept = default;

PrivateFile& PrivateFile::operator=(PrivateFile&& other) noexcept {
  if (this == &other) return *this;
  if (remover_) remover_->remove(path_);
  remover_ = std::move(other.remover_);
  path_ = std::move(other.path_);
  fd_ = std::move(other.fd_);
  return *this;
}

int PrivateFile::write(std::string_view bytes) const noexcept {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd_.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return 0;
}

int PrivateFile::empty_out() const noexcept {
  return ::ftruncate(fd_.get(), 0) == 0 ? 0 : errno;
}

Result<PrivateFolder> PrivateFolder::make(ports::Loop& loop, const std::string& beside,
                                          std::string_view prefix) {
  const UniqueFd parent(::open(beside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return fail_os(kPrivateFolderOperation, beside, errno);
  sweep(parent.get(), prefix);
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::string path = beside + "/" + std::string(prefix) + "XXXXXX";
    if (!::mkdtemp(path.data())) return fail_os(kPrivateFolderOperation, beside, errno);
    // Somebody else may have swept it before it was locked: then another is made.
    UniqueFd folder = open_and_lock(parent.get(), path.substr(beside.size() + 1));
    if (!folder) {
      ::rmdir(path.c_str());
      continue;
    }
    return PrivateFolder(
        std::make_shared<PrivateFile::Remover>(loop, std::move(path), std::move(folder)));
  }
  return fail(ErrorCode::unavailable, kPrivateFolderOperation, beside + ": folders vanish there");
}

PrivateFolder::PrivateFolder(std::shared_ptr<PrivateFile::Remover> remover)
    : remover_(std::move(remover)) {}

Result<PrivateFile> PrivateFolder::create(const std::string& name) const {
  constexpr int kFlags = O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  std::string path = remover_->path + "/" + name;
  UniqueFd fd(::openat(remover_->folder.get(), name.c_str(), kFlags, 0600));
  if (!fd) return fail_os("make file", path, errno);
  return PrivateFile(remover_, std::move(path), std::move(fd));
}

const std::string& PrivateFolder::path() const noexcept {
  return remover_->path;
}

std::string folder_for_temporary_files() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start, before other threads may change it
  const char* const chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/var/tmp";
}

}  // namespace holdfast::io
