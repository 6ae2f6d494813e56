#include "brokers/rabbitmq/proven_routes.hpp"

#include <gtest/gtest.h>

namespace holdfast::brokers::rabbitmq::proven_routes_test {
namespace {

const ports::Address kQueue{.routing_key = "work"};

TEST(ProvenRoutes, an_address_is_proven_by_the_first_message_that_it_takes) {
  ProvenRoutes routes;
  EXPECT_FALSE(routes.is_proven(kQueue));
  routes.prove(kQueue);
  EXPECT_TRUE(routes.is_proven(kQueue));
  EXPECT_FALSE(routes.is_proven({.exchange = "events", .routing_key = "work"}));
  routes.forget_proven();
  EXPECT_FALSE(routes.is_proven(kQueue));
}

TEST(ProvenRoutes, an_address_that_failed_once_is_never_proven_again) {
  ProvenRoutes routes;
  routes.prove(kQueue);
  routes.distrust(kQueue);
  EXPECT_FALSE(routes.is_proven(kQueue));
  routes.forget_proven();
  routes.prove(kQueue);
  EXPECT_FALSE(routes.is_proven(kQueue));
}

TEST(ProvenRoutes, many_addresses_take_bounded_memory) {
  ProvenRoutes routes;
  const auto address = [](std::size_t number) {
    return ports::Address{.exchange = "events", .routing_key = std::to_string(number)};
  };
  for (std::size_t number = 0; number < 10 * ProvenRoutes::kMost; ++number)
    routes.prove(address(number));
  std::size_t proven = 0;
  for (std::size_t number = 0; number < 10 * ProvenRoutes::kMost; ++number)
    proven += routes.is_proven(address(number)) ? 1 : 0;
  EXPECT_GT(proven, 0U);
  EXPECT_LE(proven, ProvenRoutes::kMost);
}

}  // namespace
}  // namespace holdfast::brokers::rabbitmq::proven_routes_test
