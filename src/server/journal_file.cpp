#include "server/journal_file.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json_text.hpp"

namespace holdfast::server {
namespace {

constexpr std::size_t kMostLine = 1 << 20;  // longer ones are none of ours

std::unexpected<Error> failed(const std::string& path, ErrorCode code = ErrorCode::unavailable) {
  const std::error_code reason(errno, std::generic_category());
  if (reason == std::errc::no_space_on_device) code = ErrorCode::exhausted;
  return fail(code, "journal", path + ": " + reason.message());
}

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::open(const std::string& path,
                                                       const std::string& place,
                                                       recovery::RestoredEntries* restored) {
  io::UniqueFd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return failed(path, errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return failed(path);
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument, "journal", path + ": a journal is a regular file");
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::conflict, "journal", path + ": another recovery writes it now");
  }
  auto journal = std::make_unique<JournalFile>(path, std::move(file));
  if (auto read = journal->read(place, restored); !read) return std::unexpected(read.error());
  return journal;
}

Result<void> JournalFile::read(const std::string& place, recovery::RestoredEntries* restored) {
  recovery::EarlierRuns runs;
  std::array<char, 1 << 16> chunk{};
  std::string line;
  bool is_first = true;
  const auto none = [this] {
    return fail(ErrorCode::invalid_argument, "journal",
                path_ +
                    ": this file is not a journal of recoveries. Nothing was written to it; "
                    "name another file");
  };
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(file_.get(), chunk.data(), chunk.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path_);
    if (got == 0) break;
    at += got;
    for (std::string_view rest(chunk.data(), static_cast<std::size_t>(got)); !rest.empty();) {
      const std::size_t end = rest.find('\n');
      if (line.size() < kMostLine) line.append(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      // Of a journal the first line is whole: it was written before the first message was taken.
      if (std::exchange(is_first, false) && !recovery::is_journal_line(line)) return none();
      runs.read(line);
      if (restored) restored->read(line);
      line.clear();
      rest.remove_prefix(end + 1);
    }
  }
  is_torn_ = !line.empty();
  if (is_first && is_torn_ && !line.starts_with(R"({"time":)")) return none();
  unsettled_ = runs.unsettled(place);
  return {};
}

Result<void> JournalFile::append(std::string_view lines) {
  std::string whole;
  if (std::exchange(is_torn_, false)) {
    whole.append("\n").append(lines);
    lines = whole;
  }
  while (!lines.empty()) {
    const ssize_t put = ::write(file_.get(), lines.data(), lines.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed(path_);
    lines.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> JournalFile::sync() {
  if (::fdatasync(file_.get()) == 0 || errno == EINVAL) return {};  // a pipe has nothing to sync
  return failed(path_);
}

}  // namespace holdfast::server
