#include "stores/sqlite/file_check.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::stores::sqlite {

Result<void> check_file(const std::string& path) {
  const std::string doing = "open " + path;
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    const int error = errno;
    return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable, doing,
                std::generic_category().message(error));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::unavailable, doing,
                S_ISDIR(status.st_mode) ? "is a folder" : "is not a file");
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(ErrorCode::unavailable, doing, std::generic_category().message(errno));
  ::close(file);
  if (status.st_size == 0) {
    return fail(ErrorCode::invalid_argument, doing, "is empty: there is no store in it");
  }
  return {};
}

}  // namespace holdfast::stores::sqlite
