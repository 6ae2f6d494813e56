#include "torture/ledger.hpp"

#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include <holdfast/clock.hpp>

namespace holdfast::torture {
namespace {

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::_Exit(70);
}

}  // namespace

Ledger::Ledger(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (file_ < 0) give_up(path.c_str());
}

Ledger::~Ledger() {
  ::close(file_);
}

Ledger& Ledger::add(std::string_view text) {
  unwritten_ += std::to_string(system_clock().now().time_since_epoch().count());
  unwritten_ += ' ';
  unwritten_ += text;
  unwritten_ += '\n';
  return *this;
}

void Ledger::sync() {
  const ssize_t written = ::write(file_, unwritten_.data(), unwritten_.size());
  if (written != static_cast<ssize_t>(unwritten_.size())) give_up("write a ledger");
  if (::fsync(file_) != 0) give_up("sync a ledger");
  unwritten_.clear();
}

void Ledger::line(std::string_view text) {
  add(text).sync();
}

}  // namespace holdfast::torture
