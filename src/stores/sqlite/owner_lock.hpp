#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>

namespace holdfast::stores::sqlite {

// One process owns an embedded store. The lock is the kernel's (it ends with the process, however
// that ends, and with children that the process was just starting), on a file beside the store,
// `<path>.lock`, which says who holds it: the pid, and where that process can be reached.
class OwnerLock {
 public:
  // A lock that another process holds: conflict, with its pid and address in the message. If its
  // owner is not running any more, whoever inherited the lock gets 5 s to release it.
  [[nodiscard]] static Result<OwnerLock> take(const std::string& path, const std::string& address,
                                              Clock& clock);

  // For looking only: keeps owners away while it lives, other lookers not, and makes no file. Where
  // there is no lock file there was never an owner, and nothing to hold. Fails as take() does.
  [[nodiscard]] static Result<OwnerLock> share(const std::string& path, Clock& clock);

  OwnerLock(OwnerLock&& other) noexcept;
  OwnerLock& operator=(OwnerLock&&) = delete;
  ~OwnerLock();

  // Who holds the lock of a store; empty: nobody.
  struct Owner {
    std::int64_t pid = 0;
    std::string address;
  };
  [[nodiscard]] static std::optional<Owner> owner_of(const std::string& path);

  // Says where this process, which must be the owner, can be reached from now on.
  [[nodiscard]] static Result<void> announce(const std::string& path, const std::string& address);

 private:
  explicit OwnerLock(int file) : file_(file) {}

  int file_ = -1;
  bool held_ = false;
};

// "process 4711 (http://127.0.0.1:8080)"
[[nodiscard]] std::string describe(const OwnerLock::Owner& owner);

}  // namespace holdfast::stores::sqlite
