#include "io/durable_file.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/os_error.hpp"

namespace holdfast::io {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::unexpected<Error> exists_already(const std::string& path) {
  return fail(ErrorCode::conflict, "write", path + " exists already, and is left as it is");
}

}  // namespace

DurableFile::DurableFile(std::string path, std::string beside, UniqueFd file, bool may_replace)
    : path_(std::move(path)),
      beside_(std::move(beside)),
      file_(std::move(file)),
      may_replace_(may_replace) {}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, {})),
      file_(std::move(other.file_)),
      may_replace_(other.may_replace_) {}

DurableFile::~DurableFile() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

Result<DurableFile> DurableFile::create(std::string path, bool may_replace) {
  if (!may_replace && ::access(path.c_str(), F_OK) == 0) return exists_already(path);
  std::string beside = path + ".part-" + std::to_string(::getpid());
  UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                       S_IRUSR | S_IWUSR));
  if (!file) return fail_os("write", path, errno);
  return DurableFile(std::move(path), std::move(beside), std::move(file), may_replace);
}

Result<void> DurableFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(file_.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail_os("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

Result<void> DurableFile::commit() {
  if (::fsync(file_.get()) != 0) return fail_os("write", path_, errno);
  const unsigned flags = may_replace_ ? 0U : static_cast<unsigned>(RENAME_NOREPLACE);
  if (::renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, path_.c_str(), flags) != 0) {
    if (errno == EEXIST) return exists_already(path_);
    return fail_os("write", path_, errno);
  }
  beside_.clear();
  const UniqueFd folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) return fail_os("write", path_, errno);
  return {};
}

}  // namespace holdfast::io
