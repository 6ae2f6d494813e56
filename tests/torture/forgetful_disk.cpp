#include "torture/forgetful_disk.hpp"

#include <cstring>
#include <span>
#include <utility>

namespace holdfast::torture {
namespace {

constexpr std::size_t kSectorBytes = 512;

using File = ForgetfulDisk::File;

void write(std::string& bytes, std::uint64_t offset, std::string_view piece) {
  if (piece.empty()) return;
  if (bytes.size() < offset + piece.size()) bytes.resize(offset + piece.size());
  std::memcpy(bytes.data() + offset, piece.data(), piece.size());
}

void apply(const File::Piece& piece, std::string& bytes) {
  if (piece.truncates) {
    bytes.resize(piece.offset);
  } else {
    write(bytes, piece.offset, piece.bytes);
  }
}

// The parts of a piece by the disk's sectors, which are written wholly or not at all.
void apply_some_sectors(const File::Piece& piece, std::string& bytes, SeededRandom& random) {
  std::uint64_t at = piece.offset;
  std::string_view rest = piece.bytes;
  while (!rest.empty()) {
    const std::size_t to_border = kSectorBytes - at % kSectorBytes;
    const std::string_view part = rest.substr(0, to_border);
    if (random.chance(0.5)) write(bytes, at, part);
    at += part.size();
    rest.remove_prefix(part.size());
  }
}

std::string after_cut(const File& file, ForgetfulDisk::Keeps keeps, SeededRandom& random) {
  std::string bytes = file.synced;
  const std::span<const File::Piece> pieces = file.unsynced;
  switch (keeps) {
    case ForgetfulDisk::Keeps::nothing: break;
    case ForgetfulDisk::Keeps::a_beginning: {
      const std::size_t whole = random.below(pieces.size() + 1);
      for (const File::Piece& piece : pieces.first(whole))
        apply(piece, bytes);
      if (whole < pieces.size() && !pieces[whole].truncates) {
        const File::Piece& torn = pieces[whole];
        const std::size_t sectors = random.below(torn.bytes.size() / kSectorBytes + 1);
        write(bytes, torn.offset, std::string_view(torn.bytes).substr(0, sectors * kSectorBytes));
      }
      break;
    }
    case ForgetfulDisk::Keeps::any_sectors:
      for (const File::Piece& piece : pieces) {
        if (!piece.truncates) {
          apply_some_sectors(piece, bytes, random);
        } else if (random.chance(0.5)) {
          apply(piece, bytes);
        }
      }
      break;
  }
  return bytes;
}

}  // namespace

std::shared_ptr<File> ForgetfulDisk::open(const std::string& name, std::string content) {
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  const auto file = std::make_shared<File>();
  names_.emplace(name, file);
  if (content.empty()) {
    name_changes_.push_back({name, file});
  } else {
    file->synced = std::move(content);
    synced_names_.emplace(name, file);
  }
  return file;
}

void ForgetfulDisk::sync(File& file) {
  for (const File::Piece& piece : file.unsynced)
    apply(piece, file.synced);
  file.unsynced.clear();
}

void ForgetfulDisk::remove(const std::string& name) {
  if (names_.erase(name) != 0) name_changes_.push_back({name, nullptr});
}

void ForgetfulDisk::sync_folder() {
  synced_names_ = names_;
  name_changes_.clear();
}

std::map<std::string, std::string> ForgetfulDisk::cut_power(Keeps keeps, SeededRandom& random) {
  // File systems keep names in a log of their own, so of these a beginning survives.
  std::size_t kept = 0;
  if (keeps != Keeps::nothing) kept = random.below(name_changes_.size() + 1);
  for (const NameChange& change : std::span(name_changes_).first(kept)) {
    if (change.file) {
      synced_names_[change.name] = change.file;
    } else {
      synced_names_.erase(change.name);
    }
  }
  name_changes_.clear();

  std::map<std::string, std::string> contents;
  names_.clear();
  for (auto& [name, file] : synced_names_) {
    const auto fresh = std::make_shared<File>();
    fresh->synced = after_cut(*file, keeps, random);
    contents.emplace(name, fresh->synced);
    names_.emplace(name, fresh);
  }
  synced_names_ = names_;
  return contents;
}

}  // namespace holdfast::torture
