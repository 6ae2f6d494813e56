#pragma once

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/unique_fd.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::testing {

// A named pipe, read by the test. What writes to it says so that it lives, and by the end of it
// that it is dead: events, where a test would otherwise have to ask again and again.
class Fifo {
 public:
  Fifo() {
    if (::mkfifo(path().c_str(), 0600) != 0)
      throw std::system_error(errno, std::generic_category());
    read_.reset(::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }

  [[nodiscard]] std::string path() const { return folder_ / "fifo"; }

  // Waits for the first bytes.
  [[nodiscard]] std::string first() { return next() ? text_ : "nothing came"; }

  // Waits until every writer has closed it, so until they are dead: true. False: some live on.
  [[nodiscard]] bool ends() {
    while (next()) {
    }
    return ended_;
  }

  // All that has come.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static constexpr int kPatienceMs = 20'000;  // reached only by a test that fails

  bool next() {
    pollfd waiting{.fd = read_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPatienceMs) <= 0) return false;
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(read_.get(), buffer.data(), buffer.size());
    ended_ = size == 0;
    if (size > 0) text_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  TemporaryFolder folder_;
  io::UniqueFd read_;
  std::string text_;
  bool ended_ = false;
};

}  // namespace holdfast::testing
