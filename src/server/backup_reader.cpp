#include "server/backup_reader.hpp"

#include <cerrno>
#include <utility>

#include <unistd.h>

#include "io/os_error.hpp"

namespace holdfast::server {
namespace {

constexpr std::size_t kChunk = 256 << 10;

}  // namespace

Result<std::optional<BackupReader::Line>> BackupReader::next() {
  for (std::size_t looked = begin_;;) {
    const std::size_t end = buffer_.find('\n', looked);
    if (end != std::string::npos) return take(end, false);
    buffer_.erase(0, std::exchange(begin_, 0));
    looked = buffer_.size();
    buffer_.resize(looked + kChunk);
    const ssize_t got = ::pread(file_.get(), buffer_.data() + looked, kChunk, read_);
    const int os_error = errno;
    buffer_.resize(looked + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0 && os_error == EINTR) continue;
    if (got < 0) return io::fail_os("read backup", path_, os_error);
    read_ += got;
    if (got > 0) continue;
    if (buffer_.empty()) return std::nullopt;
    return take(buffer_.size(), true);
  }
}

BackupReader::Line BackupReader::take(std::size_t end, bool is_torn) {
  const std::size_t begin = std::exchange(begin_, is_torn ? end : end + 1);
  offset_ += static_cast<off_t>(begin_ - begin);
  return {.number = ++number_,
          .text = std::string_view(buffer_).substr(begin, end - begin),
          .is_torn = is_torn};
}

}  // namespace holdfast::server
