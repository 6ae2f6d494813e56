#pragma once

#include "ports/store.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/names.hpp"
#include "stores/sqlite/queries.hpp"

namespace holdfast::stores::sqlite {

// A connection that only reads, beside the one that writes, on a thread of its own. Each verb sees
// all that was committed when it began.
class Reader final : public ports::Store {
 public:
  explicit Reader(Database database);

  // Verbs that change something are refused.
  void carry_out(std::span<ports::Request> batch) override;

 private:
  Database database_;
  Names names_;
  Queries queries_;
};

}  // namespace holdfast::stores::sqlite
