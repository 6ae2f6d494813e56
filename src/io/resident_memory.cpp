#include "io/resident_memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/unique_fd.hpp"

namespace holdfast::io {
namespace {

// What the kernel tells of a page, in 64 bits: Documentation/admin-guide/mm/pagemap.rst.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U;
constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61U;

std::size_t page_bytes() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

double in_mb(std::size_t pages) {
  return static_cast<double>(pages) * static_cast<double>(page_bytes()) / 1e6;
}

// "7f00-7f80 r-xp …": a mapping, in pages. False: it is none.
bool read_range(const std::string& line, std::uintptr_t& first, std::uintptr_t& last) {
  const char* const end = line.data() + line.size();
  auto read = std::from_chars(line.data(), end, first, 16);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != '-') return false;
  read = std::from_chars(read.ptr + 1, end, last, 16);
  first /= page_bytes();
  last /= page_bytes();
  return read.ec == std::errc();
}

}  // namespace

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  std::size_t total_pages = 0;
  std::size_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return in_mb(resident_pages);
}

double most_resident_mb() {
  struct rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

FilePages FilePages::of_this_process() {
  FilePages found;
  const UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  std::ifstream maps("/proc/self/maps");
  std::vector<std::uint64_t> told;
  for (std::string line; pagemap && std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    if (!line.contains('/') || !read_range(line, first, last)) continue;
    told.assign(last - first, 0);
    const ssize_t read = ::pread(pagemap.get(), told.data(), told.size() * sizeof told[0],
                                 static_cast<off_t>(first * sizeof told[0]));
    told.resize(read > 0 ? static_cast<std::size_t>(read) / sizeof told[0] : 0);
    for (std::size_t at = 0; at < told.size(); ++at) {
      if ((told[at] & kPresent) != 0 && (told[at] & kOfFile) != 0) {
        found.pages_.push_back(first + at);
      }
    }
  }
  std::ranges::sort(found.pages_);
  return found;
}

double FilePages::with_ours(double mb) const {
  const FilePages ours = of_this_process();
  std::vector<std::uintptr_t> theirs_alone;
  std::ranges::set_difference(pages_, ours.pages_, std::back_inserter(theirs_alone));
  return mb + in_mb(theirs_alone.size());
}

}  // namespace holdfast::io
