#pragma once

#include <memory>
#include <vector>

#include "ports/store.hpp"

namespace holdfast::torture {

// A planted bug: answers submissions and changes as done, and carries them out with the next batch.
// It is what a store would do that acknowledges before the commit; every test here must find it.
// Closed in peace, it carries out what it owes.
class HastyStore final : public ports::Store {
 public:
  explicit HastyStore(std::unique_ptr<ports::Store> store) : store_(std::move(store)) {}
  ~HastyStore() override { pay(); }

  void carry_out(std::span<ports::Request> batch) override;

 private:
  void pay();

  std::unique_ptr<ports::Store> store_;
  std::vector<ports::Request> owed_;
};

}  // namespace holdfast::torture
