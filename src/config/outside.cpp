#include "config/outside.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/units.hpp"
#include "io/os_error.hpp"
#include "io/rule_file.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::config {
namespace {

constexpr std::size_t kMostSecretBytes = 64 << 10;
constexpr std::size_t kFirstRead = 16 << 10;

struct OpenFile {
  io::UniqueFd descriptor;
  struct stat facts = {};
};

// Never waits, as opening a FIFO would.
Result<OpenFile> open_file(const std::string& path) {
  OpenFile file{io::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))};
  if (file.descriptor.get() < 0) return io::fail_os("open", path, errno);
  if (::fstat(file.descriptor.get(), &file.facts) != 0) return io::fail_os("open", path, errno);
  if (S_ISREG(file.facts.st_mode)) return file;
  return fail(ErrorCode::invalid_argument, "open", path + ": this is not a file");
}

Result<std::string> read_all(const OpenFile& file, const std::string& path, std::size_t most) {
  std::string text;
  std::size_t length = 0;
  while (length <= most) {
    // Not all that is allowed at once: most files are short.
    if (length == text.size()) text.resize(std::min(std::max(kFirstRead, 2 * length), most + 1));
    const ssize_t got = ::read(file.descriptor.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io::fail_os("read", path, errno);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length > most) {
    return fail(ErrorCode::exhausted, "read",
                fmt::format("{}: more than {}", path, format_size(most)));
  }
  text.resize(length);
  return text;
}

class SystemOutside final : public Outside {
 public:
  std::optional<std::string> variable(const std::string& name) override {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): see the header
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  }

  Result<std::string> secret_file(const std::string& path) override {
    const auto file = open_file(path);
    if (!file) return std::unexpected(file.error());
    // Of the file that is open, so that nobody can change it between the look and the reading.
    if ((file->facts.st_mode & 077) != 0) {
      return fail(
          ErrorCode::invalid_argument, "read",
          fmt::format("{}: others than its owner can read or change it: chmod 600 {}", path, path));
    }
    auto text = read_all(*file, path, kMostSecretBytes);
    if (!text) return text;
    if (text->ends_with('\n')) text->pop_back();
    if (text->ends_with('\r')) text->pop_back();
    return text;
  }

  Result<void> check_path(const std::string& path, PathUse use) override {
    const auto refuse = [&](std::string_view what) {
      return fail(ErrorCode::invalid_argument, "look", fmt::format("{}: {}", path, what));
    };
    struct stat facts = {};
    if (::stat(path.c_str(), &facts) != 0) return io::fail_os("look", path, errno);
    if (use == PathUse::folder) {
      if (S_ISDIR(facts.st_mode)) return {};
      return refuse("this is not a folder");
    }
    if (!S_ISREG(facts.st_mode)) return refuse("this is not a file");
    if (use == PathUse::private_key && (facts.st_mode & 07) != 0) {
      return refuse(fmt::format("everyone can read or change it: chmod 600 {}", path));
    }
    const int wanted = use == PathUse::program ? X_OK : R_OK;
    if (::access(path.c_str(), wanted) != 0) return io::fail_os("look", path, errno);
    return {};
  }

  Result<std::vector<Rule>> rules(const std::string& path) override { return load_rules(path); }
};

}  // namespace

Outside& system_outside() noexcept {
  static SystemOutside outside;
  return outside;
}

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const auto file = open_file(path);
  if (!file) return std::unexpected(file.error());
  return read_all(*file, path, most_bytes);
}

}  // namespace holdfast::config
