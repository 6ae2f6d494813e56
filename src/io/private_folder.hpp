#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

#include "io/unique_fd.hpp"
#include "ports/loop.hpp"

namespace holdfast::io {

// A file in a PrivateFolder, which is gone with this object. Threads: one at a time.
class PrivateFile {
 public:
  PrivateFile() = default;  // none
  ~PrivateFile();
  PrivateFile(PrivateFile&& other) noexcept;
  PrivateFile& operator=(PrivateFile&& other) noexcept;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Appends. 0, or an errno.
  [[nodiscard]] int write(std::string_view bytes) const noexcept;
  [[nodiscard]] int empty_out() const noexcept;  // likewise
  void close() noexcept { fd_.reset(); }         // it stays, to be read by its path

 private:
  friend class PrivateFolder;
  struct Remover;
  PrivateFile(std::shared_ptr<Remover> remover, std::string path, UniqueFd fd);

  std::shared_ptr<Remover> remover_;
  std::string path_;
  UniqueFd fd_;
};

// A folder for files that only this process and its children need. Nobody else can look into it; it
// is gone, with all that is in it, with this object and its last file. What a process has left that
// was killed, the next to make a folder beside it removes: while a process lives, it holds a lock.
class PrivateFolder {
 public:
  // Within `beside`, a folder that many may write to. `prefix` is how the names begin of all
  // folders that are swept with it. Fails with the error of the system.
  [[nodiscard]] static Result<PrivateFolder> make(ports::Loop& loop, const std::string& beside,
                                                  std::string_view prefix);

  // A new file of that name. Fails with the error of the system, among them that there is one.
  [[nodiscard]] Result<PrivateFile> create(const std::string& name) const;

  [[nodiscard]] const std::string& path() const noexcept;

 private:
  explicit PrivateFolder(std::shared_ptr<PrivateFile::Remover> remover);

  std::shared_ptr<PrivateFile::Remover> remover_;
};

// Where temporary files of any size belong: TMPDIR, or else /var/tmp, which is on a disk.
[[nodiscard]] std::string folder_for_temporary_files();

}  // namespace holdfast::io
