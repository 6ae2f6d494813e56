#include "conformance/carried_conformance.hpp"
#include "stores/memory/memory_store.hpp"

namespace holdfast::conformance::memory_conformance_test {
namespace {

StoreKind memory_kind() {
  return {.name = "Memory",
          .new_place =
              [] {
                return []() -> Result<ports::OpenStore> {
                  return ports::OpenStore{.writer = std::make_unique<stores::MemoryStore>(),
                                          .reader = nullptr,
                                          .sole_owner = true};
                };
              },
          .is_durable = false};
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, ::testing::Values(memory_kind()), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Stores, CarriedConformance, ::testing::Values(memory_kind()),
                         name_of_kind);

}  // namespace
}  // namespace holdfast::conformance::memory_conformance_test
