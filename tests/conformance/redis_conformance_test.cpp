#include <cstdlib>
#include <memory>
#include <string>

#include "conformance/carried_conformance.hpp"
#include "stores/redis/open.hpp"
#include "support/redis_server.hpp"

namespace holdfast::conformance::redis_conformance_test {
namespace {

// With HOLDFAST_REDIS_CLUSTER it is one node of a cluster, which refuses what touches two slots.
// That takes two seconds to start, so all cases share one then: see CMakeLists.txt.
testing::RedisServer& server() {
  static testing::RedisServer one({.settings = {"--appendonly", "yes"},
                                   .cluster = std::getenv("HOLDFAST_REDIS_CLUSTER") != nullptr});
  return one;
}

// Each place is a space of its own.
StoreKind redis_kind() {
  return {.name = "Redis", .new_place = [] {
            static int places = 0;
            const std::string url = server().url() + "/?space=place" + std::to_string(++places);
            return [url]() -> Result<ports::OpenStore> {
              auto address = stores::redis::parse_address(url);
              if (!address) return std::unexpected(address.error());
              return stores::redis::open({.address = *std::move(address), .time_is_told = true});
            };
          }};
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, ::testing::Values(redis_kind()), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Stores, CarriedConformance, ::testing::Values(redis_kind()), name_of_kind);

}  // namespace
}  // namespace holdfast::conformance::redis_conformance_test
