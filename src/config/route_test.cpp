#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

#include "config/change.hpp"
#include "config/config.hpp"
#include "config/config_testing.hpp"

namespace holdfast::config::route_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTask = "[task.relay]\npull = true\n";

std::expected<Config, Problems> checked(const std::string& text) {
  FakeOutside outside = furnished_outside();
  return check(text, "h.toml", outside);
}

// Everything that is wrong with routes beside a task "relay", whose two lines are not counted.
std::string errors_of(const std::string& text) {
  const auto config = checked(text + "\n" + std::string(kTask));
  if (config) return "";
  std::string all;
  for (const Problem& problem : config.error())
    all += (all.empty() ? "" : "\n") + problem.text();
  return all;
}

constexpr const char* kRelay = R"([task.relay]
pull = true
[route."POST /relay/direct"]
task = "relay"
[route."POST /relay/direct".body.to]
type = "string"
required = true
pattern = '^0x[0-9a-f]{40}$'
min_length = 42
max_length = 42
[route."POST /relay/direct".body.again]
type = "boolean"
default = false
as = "retry_on_failure"
[route."POST /relay/direct".body.speed]
type = "string"
enum = ["fast", "slow"]
[route."POST /relay/direct".body.gas]
type = "number"
minimum = 0.5
maximum = 7
[route."POST /relay/direct".answer]
id = "{id}"
of = { type = "{type}", list = [1, true, 2.5] }
[route."GET /relay/{id}"]
task = "relay"
role = "submit"
status = 202
)";

TEST(Route, is_read_with_its_fields_in_the_order_of_the_file) {
  const auto config = checked(kRelay);
  ASSERT_TRUE(config) << to_error(config.error()).message;
  const Route& post = config->routes.at("POST /relay/direct");
  EXPECT_EQ(post.task, "relay");
  EXPECT_EQ(post.role, Role::submit);
  EXPECT_EQ(post.status, 201);
  EXPECT_EQ(post.summary, "Hand in a task of type relay");
  EXPECT_EQ(post.answer, R"({"id":"{id}","of":{"type":"{type}","list":[1,true,2.5]}})");
  ASSERT_EQ(post.body.size(), 4U);
  EXPECT_EQ(post.body[0], (wire::BodyField{.name = "to",
                                           .required = true,
                                           .pattern = "^0x[0-9a-f]{40}$",
                                           .min_length = 42,
                                           .max_length = 42}));
  EXPECT_EQ(post.body[1], (wire::BodyField{.name = "again",
                                           .type = wire::BodyType::boolean,
                                           .fallback = "false",
                                           .as = "retry_on_failure"}));
  EXPECT_EQ(post.body[2].one_of, (std::vector<std::string>{"\"fast\"", "\"slow\""}));
  EXPECT_EQ(post.body[3].minimum, 0.5);
  EXPECT_EQ(post.body[3].maximum, 7);
  const Route& get = config->routes.at("GET /relay/{id}");
  EXPECT_EQ(get.role, Role::submit);
  EXPECT_EQ(get.status, 202);
  EXPECT_EQ(get.answer, R"({"id":"{id}","state":"{state}"})");
}

TEST(Route, is_described_as_it_holds) {
  const auto config = checked(kRelay);
  ASSERT_TRUE(config);
  const std::string text = describe(*config);
  EXPECT_THAT(text, HasSubstr(R"([route."POST /relay/direct"])"));
  EXPECT_THAT(text, HasSubstr(R"(again = { type = "boolean", default = false, as = "retry_on)"));
  EXPECT_THAT(text, HasSubstr(R"(of = { type = "{type}", list = [1, true, 2.5] })"));
  const auto again = checked(text);
  ASSERT_TRUE(again) << to_error(again.error()).message << text;
  EXPECT_EQ(again->routes, config->routes);
}

TEST(Route, may_change_while_the_server_runs) {
  const auto old = checked(kRelay);
  auto now = *old;
  now.routes.at("POST /relay/direct").status = 202;
  now.routes.erase("GET /relay/{id}");
  const Change change = diff(*old, now);
  EXPECT_EQ(change.reloaded,
            (std::vector<std::string>{R"(route."GET /relay/{id}": removed)",
                                      R"(route."POST /relay/direct".status: 201 -> 202)"}));
  EXPECT_TRUE(change.needs_restart.empty());
}

struct Bad {
  const char* text;
  const char* message;
};

TEST(RouteErrors, a_name_is_a_method_and_a_path) {
  for (const Bad& row : std::array<Bad, 12>{{
           {"[route.'/relay']", "h.toml:1:1: route.\"/relay\": a route is named by its method"},
           {"[route.'PUT /relay']", "other methods there are none"},
           {"[route.'POST relay']", "h.toml:1:1: route.\"POST relay\": a path begins with /"},
           {"[route.'POST /relay/']", "no // and no / at its end"},
           {"[route.'POST /a b']", R"("a b" cannot be part of a path)"},
           {"[route.'POST /a?x=1']", "cannot be part of a path"},
           {"[route.'POST /a/..']", "cannot be part of a path"},
           {"[route.'GET /a/{name}']", "{name} means nothing here: only {id} does"},
           {"[route.'GET /{id}']", "would be taken for routes of the API"},
           {"[route.'GET /relay']", "it needs {id}, once"},
           {"[route.'GET /a/{id}/{id}']", "it needs {id}, once"},
           {"[route.'POST /a/{id}']", "leave {id} out"},
       }}) {
    EXPECT_THAT(errors_of(std::string(row.text) + "\ntask = 'relay'"), HasSubstr(row.message));
  }
}

TEST(RouteErrors, no_route_stands_in_the_way_of_the_API) {
  for (const char* path : {"/v1/tasks", "/v1", "/metrics", "/openapi.json", "/healthz", "/readyz",
                           "/v1/anything/at/all", "/metrics/mine"}) {
    EXPECT_THAT(errors_of("[route.'POST " + std::string(path) + "']\ntask = 'relay'"),
                HasSubstr("belongs to the API itself"))
        << path;
  }
}

TEST(RouteErrors, two_routes_for_one_request_are_one_too_many) {
  EXPECT_EQ(errors_of("[route.'GET /a/{id}']\ntask = 'relay'\n[route.'GET /{id}/b']\n"
                      "task = 'relay'\n[route.'GET /a/{id}/b']\ntask = 'relay'"),
            "h.toml:3:1: route.\"GET /{id}/b\": this would be taken for routes of the API: begin "
            "with a word");
  EXPECT_THAT(errors_of("[route.'GET /a/{id}/b']\ntask = 'relay'\n[route.'GET /a/c/{id}']\n"
                        "task = 'relay'"),
              HasSubstr("h.toml:1:1: route.\"GET /a/{id}/b\": a request may be meant for this or "
                        "for \"GET /a/c/{id}\""));
  EXPECT_EQ(errors_of("[route.'GET /a/{id}']\ntask = 'relay'\n[route.'POST /a/b']\ntask='relay'"),
            "");
}

TEST(RouteErrors, say_where_a_bad_pattern_or_key_is) {
  EXPECT_EQ(errors_of("[route.'POST /a']\ntask = 'relay'\n[route.'POST /a'.body.to]\n"
                      "type = 'string'\npattern = '^(0x'\n"),
            "h.toml:5:11: route.\"POST /a\".body.to.pattern: bad pattern at offset 1: missing ): "
            "(0x");
  EXPECT_EQ(errors_of("[route.'POST /a']\ntask = 'relay'\n[route.'POST /a'.body.to]\n"
                      "type = 'strnig'\npatern = 'x'\nminimum = 'x'\n"),
            "h.toml:4:8: route.\"POST /a\".body.to.type: unknown type \"strnig\"; did you mean "
            "\"string\"?\n"
            "h.toml:5:1: route.\"POST /a\".body.to: unknown key \"patern\"; did you mean "
            "\"pattern\"?\n"
            "h.toml:6:11: route.\"POST /a\".body.to.minimum: this must be a number, and is text");
  EXPECT_EQ(errors_of("[route.'POST /a']\ntask = 'relay'\nbody = { to = {}, from = 'x' }\n"),
            "h.toml:3:15: route.\"POST /a\".body.to: type is missing\n"
            "h.toml:3:26: route.\"POST /a\".body.from: a field is a table; write { type = "
            "\"string\" }");
}

TEST(RouteErrors, a_default_meets_its_own_rules) {
  EXPECT_EQ(errors_of("[route.'POST /a']\ntask = 'relay'\n"
                      "[route.'POST /a'.body.n]\ntype = 'integer'\nmaximum = 5\ndefault = 6\n"),
            "h.toml:6:11: route.\"POST /a\".body.n.default: it must be at most 5");
  EXPECT_THAT(errors_of("[route.'POST /a']\ntask = 'relay'\n"
                        "[route.'POST /a'.body.n]\ntype = 'string'\ndefault = 2026-11-16\n"),
              HasSubstr("JSON has no such value; write it as a text"));
}

TEST(RouteErrors, the_task_is_there) {
  EXPECT_EQ(errors_of("[route.'POST /a']\ntask = 'relai'\n"),
            "h.toml:2:8: route.\"POST /a\".task: there is no [task.relai]; did you mean "
            "\"relay\"?");
  EXPECT_EQ(errors_of("[route.'POST /a']\n"), "h.toml:1:1: route.\"POST /a\": task is missing");
}

TEST(RouteErrors, a_GET_has_no_body_and_places_of_an_answer_are_known) {
  EXPECT_EQ(errors_of("[route.'GET /a/{id}']\ntask = 'relay'\nunknown = 'keep'\n"
                      "body = { a = { type = 'string' } }\n"),
            "h.toml:3:11: route.\"GET /a/{id}\".unknown: this is about the fields of a body, and "
            "a GET has none\n"
            "h.toml:4:8: route.\"GET /a/{id}\".body: a GET has no body");
  EXPECT_THAT(errors_of("[route.'GET /a/{id}']\ntask = 'relay'\nanswer = { s = '{stat}' }\n"),
              HasSubstr("h.toml:3:16: route.\"GET /a/{id}\".answer.s: there is no \"stat\" of a "
                        "task; did you mean \"state\"?"));
  EXPECT_THAT(errors_of("[route.'POST /a']\ntask = 'relay'\nstatus = 204\n"),
              HasSubstr("204 is out of range"));
}

// examples/relayer as it is shipped: C1.3's reading of a spent nonce, and the preset's own; the
// traps stay (trap 9).
TEST(RelayerExample, C1_3_reads_a_spent_nonce_as_final_and_the_preset_as_ambiguous) {
  const auto config = read(HOLDFAST_SOURCE_DIR "/examples/relayer/holdfast.toml");
  ASSERT_TRUE(config) << config.error().message;
  const Task& task = config->tasks.at("relay.direct");
  const Classifier shipped = Classifier::make(task.all_rules()).value();
  const Classifier preset = Classifier::make(presets::ethereum()).value();
  for (const char* error : {"nonce too low", "HTTP 500: nonce too low: next nonce 5, tx nonce 3",
                            "nonce already used", "NONCE_EXPIRED"}) {
    EXPECT_EQ(shipped({error}).kind, VerdictKind::give_up) << error;
    EXPECT_EQ(preset({error}).kind, VerdictKind::ambiguous) << error;
  }
  const auto said = [&](const char* error, int status) {
    return shipped({.message = error, .http_status = status}).kind;
  };
  EXPECT_EQ(said("HTTP 500: already known", 500), VerdictKind::success);
  EXPECT_EQ(said("HTTP 500: replacement transaction underpriced", 500), VerdictKind::ambiguous);
  EXPECT_EQ(said("HTTP 500: transaction underpriced", 500), VerdictKind::retry);
  EXPECT_EQ(said("HTTP 504: timed out while waiting for transaction", 504), VerdictKind::ambiguous);
  EXPECT_EQ(said("HTTP 504: network timeout", 504), VerdictKind::retry);
  EXPECT_EQ(said("HTTP 400: network timeout is no field", 400), VerdictKind::give_up);
}

TEST(RelayerExample, is_tried_three_times_and_has_its_two_routes) {
  const auto config = read(HOLDFAST_SOURCE_DIR "/examples/relayer/holdfast.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tasks.at("relay.direct").retry.attempts, 3);
  EXPECT_EQ(config->queues.at("relay").max_receives, 3);
  EXPECT_EQ(config->queues.at("relay").dead_letter, "relay-dlq");
  EXPECT_EQ(config->queues.at("relay").on_dead, OnDead::redrive);
  EXPECT_EQ(config->queues.at("relay").redrive_rounds, 1);                    // C3.3
  EXPECT_EQ(config->queues.at("relay").dead_poll, std::chrono::seconds(10));  // C3.5
  EXPECT_EQ(config->routes.at("POST /relay/direct").status, 201);
  EXPECT_EQ(config->routes.at("GET /relay/{id}").task, "relay.direct");
}

}  // namespace
}  // namespace holdfast::config::route_test
