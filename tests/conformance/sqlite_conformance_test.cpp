#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <stdlib.h>

#include "conformance/carried_conformance.hpp"
#include "stores/sqlite/open.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::conformance::sqlite_conformance_test {
namespace {

StoreKind sqlite_kind() {
  return {.name = "Sqlite", .new_place = [] {
            return [folder = std::make_shared<testing::TemporaryFolder>()] {
              return stores::sqlite::open({.path = (folder->path() / "holdfast.db").string()});
            };
          }};
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, ::testing::Values(sqlite_kind()), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Stores, CarriedConformance, ::testing::Values(sqlite_kind()),
                         name_of_kind);

}  // namespace
}  // namespace holdfast::conformance::sqlite_conformance_test
