#pragma once

#include <memory>
#include <string>

#include <holdfast/result.hpp>

#include "ports/witness.hpp"

namespace holdfast::io {

// The witness of a real process: a small file that is mapped into its memory. The system keeps such
// memory when a process dies, however it dies; nothing is synced, so after the death of the machine
// the file may hold anything. It knows by the machine's boot id, and then says that it cannot tell.
//
// It cannot tell either if more attempts were under way at the end than there are places, if the
// file is damaged or of another version, or if it is missing, unless the store is known to be new.
class WitnessFile final : public ports::Witness {
 public:
  struct Options {
    std::string path = {};
    bool store_is_new = false;  // nothing can have been under way
    std::size_t places = 8192;  // most attempts under way at once; 32 bytes for each
    std::string boot_id = {};   // empty: the machine's own
  };

  // What begin() gives when all places are taken.
  static constexpr Place kNoPlace = static_cast<Place>(-1);

  // Reads what the last life has left. Made with mode 0600; whatever else is at `path` is
  // overwritten. Fails with conflict if a living process has it, exhausted if there is no room for
  // it, unavailable if the system refuses it.
  [[nodiscard]] static Result<std::unique_ptr<WitnessFile>> open(Options options);

  struct Parts;
  explicit WitnessFile(std::unique_ptr<Parts> parts);  // see open()
  ~WitnessFile() override;
  WitnessFile(const WitnessFile&) = delete;
  WitnessFile& operator=(const WitnessFile&) = delete;

  // Wait for nobody, and take the same time however many are under way.
  [[nodiscard]] Place begin(const ports::Held& claim) noexcept override;
  void end(Place place, const ports::Held& claim) noexcept override;

  [[nodiscard]] const std::optional<std::vector<ports::Held>>& last_life() const noexcept override;
  void forget_last_life() noexcept override;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::io
