#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "torture/forgetful_disk.hpp"

namespace holdfast::torture {

// A place for SQLite's files on a disk that forgets what was not synced, runs full, or fails, when
// a test says so. It stands before SQLite's own VFS: files, locks and the shared index are real, in
// a folder of their own, but nothing is ever really synced. What would survive is kept in a
// ForgetfulDisk. SQLite's promise to itself is kept as its own VFS keeps it: a new log or journal
// syncs the folder with its first sync.
//
// A step is what changes the disk: a write, a truncation, a sync, a removal. Steps are counted
// from 1, from when this was made or last told to begin again.
//
// Threads: one at a time. Everything that was opened through it must be closed before it goes.
class ForgetfulVfs {
 public:
  ForgetfulVfs();
  ~ForgetfulVfs();
  ForgetfulVfs(const ForgetfulVfs&) = delete;
  ForgetfulVfs& operator=(const ForgetfulVfs&) = delete;

  [[nodiscard]] const std::string& name() const noexcept;    // for Options::vfs
  [[nodiscard]] const std::string& folder() const noexcept;  // real, empty; removed with this

  // At which steps what happens; 0: never. Begins to count anew.
  struct Plan {
    std::uint64_t cut_power_at = 0;     // this step and all after it fail, and do nothing
    std::uint64_t full_from = 0;        // from this step on there is no room
    std::uint64_t fail_write_from = 0;  // the first write from this step on fails, and no other
    std::uint64_t fail_sync_from = 0;   // likewise
  };
  void plan(const Plan& plan);
  [[nodiscard]] std::uint64_t steps() const noexcept;
  [[nodiscard]] bool has_power() const noexcept;
  // Whether something was refused for lack of room, or failed, since the plan was made.
  [[nodiscard]] bool has_struck() const noexcept;

  // Cuts the power, if it is still on, and brings it back. Everything must be closed.
  void restart(ForgetfulDisk::Keeps keeps, SeededRandom& random);

  struct Disk;  // what its files share

 private:
  std::unique_ptr<Disk> disk_;
};

}  // namespace holdfast::torture
