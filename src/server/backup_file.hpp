#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <holdfast/result.hpp>

#include "io/unique_fd.hpp"
#include "recovery/backup.hpp"

namespace holdfast::server {

// A backup of messages as a file that only grows, for its owner's eyes only. One process has it
// open at a time.
class BackupFile final : public recovery::Backup {
 public:
  // Makes it, or goes on with what is there: a file that is no backup is refused and left as it is.
  // A last line without an end, which a killed run has left, is removed, unless its checksum is
  // right: then it lacks its newline only. Fails with conflict if somebody else has it open.
  [[nodiscard]] static Result<std::unique_ptr<BackupFile>> open(const std::string& path);

  [[nodiscard]] Result<void> append(std::string_view lines) override;
  [[nodiscard]] Result<void> sync() override;
  // Whether it is still what its path leads to, and as long as it was made.
  [[nodiscard]] Result<void> check() const;

  BackupFile(std::string path, io::UniqueFd file)
      : path_(std::move(path)), file_(std::move(file)) {}

 private:
  [[nodiscard]] Result<void> find_end();
  [[nodiscard]] std::unexpected<Error> undo(int os_error);

  const std::string path_;
  io::UniqueFd file_;
  off_t durable_ = 0;  // so much is on the disk
  off_t size_ = 0;     // what was appended since among it
};

}  // namespace holdfast::server
