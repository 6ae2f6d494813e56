#include "io/resident_memory.hpp"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace holdfast::io {

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double resident_file_mb() {
  std::ifstream file("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  double file_pages = 0;
  file >> total_pages >> resident_pages >> file_pages;
  return file_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double most_resident_mb() {
  struct rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace holdfast::io
