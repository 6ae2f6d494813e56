#include "io/file_limit.hpp"

#include <atomic>

#include <sys/resource.h>

namespace holdfast::io {
namespace {

std::atomic<rlim_t> soft_before = 0;  // 0: was not raised

}  // namespace

std::size_t raise_file_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return before;
    soft_before = before;
  }
  return limit.rlim_cur;
}

void restore_file_limit() noexcept {
  const rlim_t before = soft_before;
  rlimit limit{};
  if (before == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = before;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace holdfast::io
