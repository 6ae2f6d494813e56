#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "torture/seeded_random.hpp"

namespace holdfast::torture {

// What a disk has kept of each file, as far as anybody may rely on it: the bytes that were there
// when the file was last synced, and the names that were there when the folder was. What was
// written since is remembered piece by piece, so that a power cut can keep some of it.
//
// Threads: one at a time.
class ForgetfulDisk {
 public:
  // What survives of that which was not synced. A disk may do any of these.
  enum class Keeps : std::uint8_t {
    nothing,
    a_beginning,  // as if the disk wrote everything in order, up to a point within a piece
    any_sectors,  // as if it wrote sectors of 512 bytes in any order
  };

  struct File {
    struct Piece {
      std::uint64_t offset = 0;
      std::string bytes = {};
      bool truncates = false;  // to `offset`; there are no bytes then
    };

    std::string synced = {};
    std::vector<Piece> unsynced = {};
  };

  // The file of that name, made if it is new. `content` is what it has then: of a file that was
  // there before this disk was.
  std::shared_ptr<File> open(const std::string& name, std::string content);
  [[nodiscard]] bool knows(const std::string& name) const { return names_.contains(name); }

  static void sync(File& file);
  void remove(const std::string& name);
  void sync_folder();

  // The power is cut, and comes back: what is there now, by name. Everything in it is synced.
  // Files that were open are not to be used any more.
  std::map<std::string, std::string> cut_power(Keeps keeps, SeededRandom& random);

 private:
  using Names = std::map<std::string, std::shared_ptr<File>>;
  struct NameChange {
    std::string name;
    std::shared_ptr<File> file;  // null: removed
  };

  Names names_;                           // as the process sees them
  Names synced_names_;                    // as the folder was synced
  std::vector<NameChange> name_changes_;  // since then
};

}  // namespace holdfast::torture
