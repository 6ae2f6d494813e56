#pragma once

#include <memory>
#include <vector>

#include "ports/store.hpp"

namespace holdfast::torture {

// A planted bug: answers submissions and changes as done, and carries them out some batches later.
// It is what a store would do that acknowledges before the commit; every test here must find it.
// Closed in peace, it carries out what it owes.
class HastyStore final : public ports::Store {
 public:
  explicit HastyStore(std::unique_ptr<ports::Store> store, int batches_late = 1)
      : store_(std::move(store)), batches_late_(batches_late) {}
  ~HastyStore() override { pay(); }

  void carry_out(std::span<ports::Request> batch) override;

 private:
  void pay();

  std::unique_ptr<ports::Store> store_;
  const int batches_late_;
  int batches_ = 0;  // since the last payment
  std::vector<ports::Request> owed_;
};

}  // namespace holdfast::torture
