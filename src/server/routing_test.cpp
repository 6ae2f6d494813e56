#include "server/routing.hpp"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/api.hpp"
#include "http/api_seeing.hpp"
#include "http/api_session.hpp"
#include "http/page.hpp"
#include "node/registry.hpp"

namespace holdfast::server::routing_test {
namespace {

using ::testing::HasSubstr;

// What the API has must not be anybody's, so a route that is added there is missed here if its
// first word is not reserved.
TEST(Routing, no_route_of_the_API_can_be_taken_by_the_configuration) {
  const auto node = node::open("memory:routing", {}).value();
  http::Api api(*node, {}, system_clock(), {.is_ready = [] { return true; }});
  seeing::Watch watch(system_clock(), {});
  http::Routes routes;
  api.add_to(routes);
  http::Gate gate(routes, {});
  http::add_session_routes(routes, gate, {});
  http::add_page_routes(routes, {});
  std::optional<http::SeeingApi> seen;
  node->on_loop([&] {
    seen.emplace(*node, watch, [] { return http::SeeingApi::Traffic(); });
    seen->add_to(routes);
  });
  EXPECT_GT(routes.all().size(), 20U);
  for (const auto& route : routes.all()) {
    for (const char* method : {"GET ", "POST "}) {
      std::string path = route->pattern;
      if (const std::size_t name = path.find("{name}"); name != std::string::npos)
        path.replace(name, 6, "x");
      const std::string text =
          "[task.t]\npull = true\n[route.'" + (method + path) + "']\ntask = 't'\n";
      const auto config = config::parse(text, "h.toml");
      ASSERT_FALSE(config) << method << path;
      EXPECT_THAT(config.error().message, HasSubstr("belongs to the API itself"));
    }
  }
  node->on_loop([&] { seen.reset(); });
}

TEST(Routing, a_configuration_becomes_routes) {
  const auto config = config::parse(R"([task.t]
pull = true
[route."POST /relay"]
task = "t"
role = "operate"
body = { to = { type = "string", required = true } }
[route."GET /relay/{id}"]
task = "t"
)",
                                    "h.toml");
  ASSERT_TRUE(config) << config.error().message;
  const auto routes = routes_of(*config).value();
  ASSERT_EQ(routes.size(), 2U);
  EXPECT_EQ(routes[0].method, "GET");
  EXPECT_EQ(routes[0].path, "/relay/{id}");
  EXPECT_EQ(routes[0].role, http::Role::read);
  EXPECT_EQ(routes[0].status, 200);
  EXPECT_EQ(routes[1].method, "POST");
  EXPECT_EQ(routes[1].path, "/relay");
  EXPECT_EQ(routes[1].task, "t");
  EXPECT_EQ(routes[1].role, http::Role::operate);
  EXPECT_EQ(routes[1].status, 201);
  EXPECT_EQ(routes[1].body.read("{}", 8).error().at(0).where, "to");
}

}  // namespace
}  // namespace holdfast::server::routing_test
