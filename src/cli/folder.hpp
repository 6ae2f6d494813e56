#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace holdfast::cli {

// A new folder with a name of its own, removed with everything in it.
class Folder {
 public:
  // In `parent`, for files of the verb `purpose`.
  Folder(const std::filesystem::path& parent, const std::string& purpose) {
    std::string name = (parent / ("holdfast-" + purpose + "-XXXXXX")).string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (made()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] bool made() const { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace holdfast::cli
