#include <functional>
#include <set>
#include <string>

#include <boost/json.hpp>
#include <boost/json/src.hpp>  // for all tests of this room
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/api.hpp"
#include "http/api_brokers.hpp"
#include "http/api_recoveries.hpp"
#include "http/api_seeing.hpp"
#include "http/api_session.hpp"
#include "http/api_support.hpp"
#include "http/api_triage.hpp"
#include "http/mapped_route.hpp"
#include "node/registry.hpp"

namespace holdfast::http::openapi_test {

namespace {

namespace json = boost::json;

class NoBrokers final : public BrokerDesk {
 public:
  void brokers(std::move_only_function<void(wire::BrokerList)> then) override { then({}); }
  void broker(std::string /*name*/,
              std::move_only_function<void(Result<wire::BrokerInfo>)> then) override {
    then(wire::BrokerInfo());
  }
};

class NoRecoveries final : public RecoveryDesk {
 public:
  void begin(wire::RecoveryRequest /*request*/, std::string /*who*/, Then then) override {
    then(wire::Recovery());
  }
  void find(std::string /*id*/, Then then) override { then(wire::Recovery()); }
  void page(std::size_t /*limit*/, std::string /*cursor*/,
            std::move_only_function<void(Result<wire::RecoveryPage>)> then) override {
    then(wire::RecoveryPage());
  }
  void sample(Place /*place*/, wire::SampleRequest /*request*/, std::string /*who*/,
              std::move_only_function<void(Result<wire::QueueSample>)> then) override {
    then(wire::QueueSample());
  }
  void cancel(std::string /*id*/, std::string /*who*/, Then then) override {
    then(wire::Recovery());
  }
};

class OpenApiTest : public ::testing::Test {
 protected:
  OpenApiTest() {
    triage_.add_to(routes_);
    api_.add_to(routes_);
    brokers_.add_to(routes_);
    recoveries_.add_to(routes_);
    add_session_routes(routes_, gate_, {});
    node_->on_loop([this] {
      seeing_.emplace(*node_, watch_, [] { return SeeingApi::Traffic(); });
      seeing_->add_to(routes_);
    });
  }
  ~OpenApiTest() override {
    node_->on_loop([this] { seeing_.reset(); });
  }

  std::shared_ptr<node::Node> node_ = node::open("memory:openapi", {}).value();
  Api api_{*node_, {}, system_clock(), {.is_ready = [] { return true; }}};
  TriageApi triage_{*node_, system_clock()};
  NoBrokers no_brokers_;
  BrokersApi brokers_{no_brokers_};
  NoRecoveries no_recoveries_;
  RecoveriesApi recoveries_{no_recoveries_};
  seeing::Watch watch_{system_clock(), {}};
  std::optional<SeeingApi> seeing_;
  Routes routes_;
  Gate gate_{routes_, Tokens()};
  const json::value document_ = json::parse(kOpenApi);
};

TEST_F(OpenApiTest, names_every_route_with_its_role_and_no_other) {
  std::set<std::string> described;
  for (const auto& [path, methods] : document_.at("paths").as_object()) {
    for (const auto& [method, operation] : methods.as_object()) {
      described.insert(std::string(method) + " " + std::string(path) + " " +
                       std::string(operation.at("x-holdfast-role").as_string()) + " " +
                       std::string(operation.at("summary").as_string()));
      const bool needs_token = operation.at("x-holdfast-role") != "anyone";
      EXPECT_EQ(operation.at("security").as_array().size(), needs_token ? 1U : 0U) << path;
    }
  }
  std::set<std::string> routed;
  for (const auto& shared : routes_.all()) {
    const Route& route = *shared;
    const std::string role = route.role ? std::string(to_string(*route.role)) : "anyone";
    routed.insert(lower(route.method) + " " + route.pattern + " " + role + " " + route.summary);
  }
  EXPECT_EQ(described, routed);
}

TEST_F(OpenApiTest, every_operation_has_a_name_of_its_own_its_parameters_and_answers) {
  std::set<std::string> names;
  for (const auto& [path, methods] : document_.at("paths").as_object()) {
    for (const auto& [method, operation] : methods.as_object()) {
      EXPECT_TRUE(names.insert(std::string(operation.at("operationId").as_string())).second)
          << path;
      EXPECT_GE(operation.at("responses").as_object().size(), 2U) << path;
      const std::string pattern(path);
      std::size_t in_path = 0;
      if (const auto* parameters = operation.as_object().if_contains("parameters")) {
        for (const json::value& parameter : parameters->as_array()) {
          if (parameter.at("in") != "path") continue;
          ++in_path;
          const std::string name(parameter.at("name").as_string());
          EXPECT_THAT(pattern, ::testing::HasSubstr("{" + name + "}"));
        }
      }
      EXPECT_EQ(in_path, static_cast<std::size_t>(std::ranges::count(pattern, '{'))) << path;
    }
  }
}

TEST_F(OpenApiTest, every_reference_leads_somewhere) {
  std::set<std::string> used;
  const std::function<void(const json::value&)> look = [&](const json::value& value) {
    if (const auto* object = value.if_object()) {
      for (const auto& [key, inner] : *object) {
        if (key == "$ref") {
          const std::string target(inner.as_string());
          std::error_code error;
          EXPECT_NE(document_.find_pointer(target.substr(1), error), nullptr) << target;
          used.insert(target);
        } else {
          look(inner);
        }
      }
    } else if (const auto* array = value.if_array()) {
      for (const json::value& inner : *array)
        look(inner);
    }
  };
  look(document_);
  for (const auto& [name, schema] : document_.at("components").at("schemas").as_object())
    EXPECT_TRUE(used.contains("#/components/schemas/" + std::string(name))) << name << " is unused";
}

// The document of a server whose configuration adds routes.
class MappedOpenApiTest : public OpenApiTest {
 protected:
  MappedOpenApiTest() {
    const auto add = [&](std::string method, std::string path) {
      shared_.push_back(std::make_shared<const MappedRoute>(MappedRoute{
          .method = std::move(method),
          .path = std::move(path),
          .task = "t",
          .status = 201,
          .summary = "\"quoted\"",
          .body =
              wire::BodyMap::make({{.name = "to", .required = true}}, wire::UnknownFields::refuse)
                  .value(),
          .answer = wire::AnswerShape::parse(R"({"id":"{id}"})").value()}));
    };
    add("POST", "/relay/direct");
    add("POST", "/relay-direct");
    add("GET", "/relay/{id}");
    whole_ = json::parse(with_routes(kOpenApi, shared_));
  }

  std::vector<std::shared_ptr<const MappedRoute>> shared_;
  json::value whole_;
};

TEST_F(MappedOpenApiTest, has_the_routes_of_the_configuration_beside_its_own) {
  EXPECT_EQ(whole_.at("paths").as_object().size(),
            document_.at("paths").as_object().size() + shared_.size());
  const json::value& post = whole_.at("paths").at("/relay/direct").at("post");
  EXPECT_EQ(post.at("summary"), "\"quoted\"");
  EXPECT_EQ(post.at("x-holdfast-role"), "submit");
  const json::value& schema =
      post.at("requestBody").at("content").at("application/json").at("schema");
  EXPECT_EQ(schema.at("required"), json::parse(R"(["to"])"));
  EXPECT_TRUE(post.at("responses").as_object().contains("201"));
  const json::value& get = whole_.at("paths").at("/relay/{id}").at("get");
  EXPECT_EQ(get.at("parameters").as_array().size(), 1U);
  EXPECT_TRUE(get.at("responses").as_object().contains("404"));
}

TEST_F(MappedOpenApiTest, names_each_operation_differently) {
  std::set<std::string> names;
  for (const auto& [path, methods] : whole_.at("paths").as_object()) {
    for (const auto& [method, operation] : methods.as_object()) {
      EXPECT_TRUE(names.insert(std::string(operation.at("operationId").as_string())).second)
          << path;
    }
  }
  EXPECT_TRUE(names.contains("post_relay_direct"));
  EXPECT_TRUE(names.contains("post_relay_direct_2"));
  EXPECT_TRUE(names.contains("get_relay_id"));
}

}  // namespace
}  // namespace holdfast::http::openapi_test
