#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ports/witness.hpp"

namespace holdfast::simulation {

// What a machine remembers of the processes that died on it: the simulated file behind a witness.
struct WitnessFile {
  std::map<ports::Witness::Place, ports::Held> under_way;
  ports::Witness::Place next_place = 0;
  // Of earlier lives, until one says that it has seen to them; nothing: cannot tell.
  std::optional<std::vector<ports::Held>> left = std::vector<ports::Held>();
};

// Over a file that outlives it. After the death of a machine the file says nothing any more.
class SimWitness final : public ports::Witness {
 public:
  SimWitness(WitnessFile& file, bool can_tell) : file_(&file) {
    if (!can_tell) file.left.reset();
    for (const auto& [place, claim] : file.under_way) {
      if (file.left) file.left->push_back(claim);
    }
    file.under_way.clear();
    last_life_ = file.left;
  }

  [[nodiscard]] Place begin(const ports::Held& claim) noexcept override {
    const Place place = file_->next_place++;
    if (writing_) file_->under_way.emplace(place, claim);
    return place;
  }
  void end(Place place, const ports::Held&) noexcept override {
    if (writing_) file_->under_way.erase(place);
  }
  [[nodiscard]] const std::optional<std::vector<ports::Held>>& last_life() const noexcept override {
    return last_life_;
  }

  void forget_last_life() noexcept override {
    if (writing_) file_->left.emplace();
  }

  // The process is dead: what its remains still do leaves no mark.
  void die() { writing_ = false; }

 private:
  WitnessFile* file_;
  std::optional<std::vector<ports::Held>> last_life_;
  bool writing_ = true;
};

}  // namespace holdfast::simulation
