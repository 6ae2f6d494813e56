#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <holdfast/result.hpp>

#include "io/unique_fd.hpp"

namespace holdfast::server {

// The lines of a file, one after the other, each as long as it is.
class BackupReader {
 public:
  struct Line {
    std::uint64_t number = 0;    // from 1
    std::string_view text = {};  // until the next one is read
    bool is_torn = false;        // it has no end: it is the last one
  };

  BackupReader(std::string path, io::UniqueFd file)
      : path_(std::move(path)), file_(std::move(file)) {}

  // Nothing at the end of the file.
  [[nodiscard]] Result<std::optional<Line>> next();
  // Behind the line that was read last.
  [[nodiscard]] off_t offset() const noexcept { return offset_; }

 private:
  Line take(std::size_t end, bool is_torn);

  const std::string path_;
  io::UniqueFd file_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of what was not read as lines yet
  off_t read_ = 0;         // of the file, into the buffer
  off_t offset_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace holdfast::server
