#pragma once

#include <memory>
#include <string>
#include <vector>

#include <holdfast/result.hpp>

#include "io/unique_fd.hpp"
#include "recovery/journal.hpp"

namespace holdfast::server {

// The journal of recoveries as a file that only grows, for its owner's eyes only. One process has
// it open at a time. Each append is one write, so that a kill leaves whole lines but for the last.
class JournalFile final : public recovery::Journal {
 public:
  // Makes it, or reads what is there of runs at `place`; also into `restored`, if that is given.
  // Fails with conflict if somebody else has it open.
  [[nodiscard]] static Result<std::unique_ptr<JournalFile>> open(
      const std::string& path, const std::string& place,
      recovery::RestoredEntries* restored = nullptr);

  // Copies of runs before that may still have their originals in the queue. Once.
  [[nodiscard]] recovery::EarlierCopies take_unsettled() { return std::move(unsettled_); }

  [[nodiscard]] Result<void> append(std::string_view lines) override;
  [[nodiscard]] Result<void> sync() override;

  JournalFile(std::string path, io::UniqueFd file)
      : path_(std::move(path)), file_(std::move(file)) {}

 private:
  [[nodiscard]] Result<void> read(const std::string& place, recovery::RestoredEntries* restored);

  const std::string path_;
  io::UniqueFd file_;
  recovery::EarlierCopies unsettled_;
  bool is_torn_ = false;  // the last line has no end
};

}  // namespace holdfast::server
