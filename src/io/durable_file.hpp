#pragma once

#include <string>
#include <string_view>

#include <holdfast/result.hpp>

#include "io/unique_fd.hpp"

namespace holdfast::io {

// A file that is there whole, or not at all: written beside its place, for its owner's eyes only,
// and put there when it is on the disk.
class DurableFile {
 public:
  // Fails with conflict if there is such a file, unless it may be replaced.
  [[nodiscard]] static Result<DurableFile> create(std::string path, bool may_replace);
  ~DurableFile();  // what was not committed is gone
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;

  [[nodiscard]] Result<void> write(std::string_view bytes);
  // On the disk, under its name. Fails with conflict if there is such a file by now.
  [[nodiscard]] Result<void> commit();

 private:
  DurableFile(std::string path, std::string beside, UniqueFd file, bool may_replace);

  std::string path_;
  std::string beside_;  // empty: committed, or moved from
  UniqueFd file_;
  bool may_replace_;
};

}  // namespace holdfast::io
