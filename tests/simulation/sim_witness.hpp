#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ports/witness.hpp"

namespace holdfast::simulation {

// What a machine remembers of the process that died on it: the simulated file behind a witness.
struct WitnessFile {
  std::map<ports::Witness::Place, ports::Held> under_way;
  ports::Witness::Place next_place = 0;
  bool cannot_tell = false;  // until a life has settled what was left
};

// Over a file that outlives it. After the death of a machine the file says nothing any more.
class SimWitness final : public ports::Witness {
 public:
  SimWitness(WitnessFile& file, bool can_tell) : file_(&file) {
    if (!can_tell) file.cannot_tell = true;
    std::vector<ports::Held> held;
    for (const auto& [place, claim] : file.under_way) {
      held.push_back(claim);
      old_.push_back(place);
    }
    if (!file.cannot_tell) last_life_ = std::move(held);
  }

  [[nodiscard]] Place begin(const ports::Held& claim) noexcept override {
    const Place place = file_->next_place++;
    if (writing_) file_->under_way.emplace(place, claim);
    return place;
  }
  void end(Place place) noexcept override {
    if (writing_) file_->under_way.erase(place);
  }
  [[nodiscard]] const std::optional<std::vector<ports::Held>>& last_life() const noexcept override {
    return last_life_;
  }
  void forget_last_life() noexcept override {
    if (!writing_) return;
    for (const Place place : old_)
      file_->under_way.erase(place);
    file_->cannot_tell = false;
  }

  // The process is dead: what its remains still do leaves no mark.
  void die() { writing_ = false; }

 private:
  WitnessFile* file_;
  std::optional<std::vector<ports::Held>> last_life_;
  std::vector<Place> old_;  // of the last life
  bool writing_ = true;
};

}  // namespace holdfast::simulation
