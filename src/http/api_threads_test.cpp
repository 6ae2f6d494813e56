#include <fstream>
#include <future>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/api.hpp"
#include "http/api_seeing.hpp"
#include "http/api_session.hpp"
#include "http/api_triage.hpp"
#include "http/page.hpp"
#include "node/registry.hpp"
#include "wire/audit_json.hpp"
#include "wire/claims.hpp"
#include "wire/dead_json.hpp"
#include "wire/operation_json.hpp"
#include "wire/problem.hpp"
#include "wire/submission_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::http::api_threads_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::string memory_url() {
  static int count = 0;
  return "memory:api-" + std::to_string(++count);
}

// The API over a store in memory, called as the server calls it.
class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    triage_.add_to(routes_);
    api_.add_to(routes_);
    add_session_routes(routes_, gate_, {});
    add_page_routes(routes_, {});
    node_->on_loop([this] {
      seeing_.emplace(*node_, watch_, [] { return SeeingApi::Traffic{.connections = 7}; });
      seeing_->add_to(routes_);
    });
    node::Node::Work work;
    work.observer = &watch_;
    work.types.emplace_back("t", engine::TypeOptions{.policy = {.wait = retry::fixed(1h)}});
    work.types.emplace_back("fragile", engine::TypeOptions{.policy = {.crashes = 1}});
    work.types.emplace_back("of mail", engine::TypeOptions{.queue = "mails"});
    EXPECT_TRUE(node_->start_work(std::move(work)));
  }
  ~ApiTest() override {
    static_cast<void>(node_->stop_work());
    node_->on_loop([this] { seeing_.reset(); });
  }

  // The answer, when it comes.
  std::future<Response> ask(const std::string& method, const std::string& target,
                            std::string body = {}, Fields headers = {},
                            std::shared_ptr<Gone> gone = std::make_shared<Gone>()) {
    auto promise = std::make_shared<std::promise<Response>>();
    auto answer = promise->get_future();
    headers.emplace_back("host", "localhost");
    if (!body.empty()) headers.emplace_back("content-type", "application/json; charset=utf-8");
    node_->on_loop([&] {
      auto admitted = gate_.admit({.method = method, .target = target, .headers = headers});
      if (!admitted) return promise->set_value(std::move(admitted).error());
      admitted->request.body = std::move(body);
      admitted->request.gone = gone;
      admitted->route->handle(std::move(admitted->request),
                              [promise](Response response) { promise->set_value(response); });
    });
    return answer;
  }
  Response get(const std::string& target) { return ask("GET", target).get(); }
  Response post(const std::string& target, std::string body = {}, Fields headers = {}) {
    return ask("POST", target, std::move(body), std::move(headers)).get();
  }
  std::string submit(std::string body = R"({"type":"t"})") {
    const Response answer = post("/v1/tasks", std::move(body));
    EXPECT_EQ(answer.status, 201) << answer.body;
    return wire::read_accepted(answer.body).value().id.text();
  }
  std::vector<wire::Claimed> claim(const std::string& more = "") {
    return wire::read_claims(post("/v1/claims", R"({"worker":"w")" + more + "}").body).value();
  }
  std::string dead(const std::string& kind = "error");
  TaskInfo find(const std::string& id) {
    return wire::read_task(get("/v1/tasks/" + id).body).value();
  }

  seeing::Watch watch_{system_clock(), {.life = "life", .store = "memory:"}};
  std::shared_ptr<node::Node> node_ = node::open(memory_url(), {}).value();
  bool ready_ = true;
  seeing::Readiness readiness_;
  Api api_{*node_,
           {.max_payload = 100, .max_array = 5},
           system_clock(),
           {.is_ready = [this] { return ready_; }, .readiness = [this] { return readiness_; }}};
  TriageApi triage_{*node_, system_clock()};
  std::optional<SeeingApi> seeing_;
  Routes routes_;
  Gate gate_{routes_, Tokens()};
};

TEST_F(ApiTest, a_task_that_is_handed_in_can_be_found) {
  const std::string id = submit(
      R"({"type":"t","queue":"q","payload":{"a": 1.10},"priority":7,"key":"k","attempts":2})");
  const Response answer = get("/v1/tasks/" + id);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("payload":{"a": 1.10})"));
  const TaskInfo info = wire::read_task(answer.body).value();
  EXPECT_EQ(info.type, "t");
  EXPECT_EQ(info.queue, "q");
  EXPECT_EQ(info.priority, 7);
  EXPECT_EQ(info.key, "k");
  EXPECT_EQ(info.state, TaskState::pending);
}

TEST_F(ApiTest, a_key_stands_for_one_task) {
  const Fields key = {{"idempotency-key", "k"}};
  const Response first = post("/v1/tasks", R"({"type":"t","payload":1})", key);
  EXPECT_EQ(first.status, 201);
  const Response again = post("/v1/tasks", R"({"type":"t","payload":1})", key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(wire::read_accepted(again.body)->id, wire::read_accepted(first.body)->id);
  EXPECT_TRUE(wire::read_accepted(again.body)->existed);
  EXPECT_EQ(post("/v1/tasks", R"({"type":"t","payload":2})", key).status, 409);
  EXPECT_EQ(post("/v1/tasks", R"({"type":"t","key":"other"})", key).status, 400);
  EXPECT_EQ(post("/v1/tasks", R"([{"type":"t"}])", key).status, 400);
}

TEST_F(ApiTest, each_entry_of_an_array_has_its_own_answer) {
  const Response all = post("/v1/tasks", R"([{"type":"t"},{"type":"t"}])");
  EXPECT_EQ(all.status, 201);
  EXPECT_EQ(wire::read_answers(all.body)->size(), 2U);
  const std::string large(200, 'x');
  const Response some = post("/v1/tasks", R"([{"type":"t","key":"a"},{"typ":"t"},{"type":"t",)"
                                          R"("payload_text":")" +
                                              large + R"("},{"type":"u","key":"a"},{"type":"t"}])");
  EXPECT_EQ(some.status, 207);
  const auto answers = wire::read_answers(some.body).value();
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_TRUE(answers[0]);
  EXPECT_EQ(answers[1].error().status, 400);
  EXPECT_THAT(answers[1].error().detail, HasSubstr("did you mean \"type\""));
  EXPECT_EQ(answers[2].error().status, 413);
  EXPECT_EQ(answers[3].error().status, 409);
  EXPECT_TRUE(answers[4]);
}

TEST_F(ApiTest, a_task_that_names_no_queue_goes_to_that_of_its_type) {
  EXPECT_EQ(find(submit(R"({"type":"of mail"})")).queue, "mails");
  EXPECT_EQ(find(submit(R"({"type":"of mail","queue":"default"})")).queue, "default");
  EXPECT_EQ(find(submit(R"({"type":"of nobody"})")).queue, "default");
  EXPECT_EQ(find(submit(R"({"type":"of mail","queue":null})")).queue, "mails");
}

TEST_F(ApiTest, a_trace_is_kept_and_handed_on) {
  const std::string id = submit(R"({"type":"t","trace":")" + kTrace + "\"}");
  EXPECT_EQ(find(id).trace, kTrace);
  EXPECT_EQ(claim().at(0).trace, kTrace);
}

TEST_F(ApiTest, the_header_of_a_request_is_the_trace_of_tasks_without_one) {
  const std::string other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  const Response answer =
      post("/v1/tasks", R"([{"type":"t"},{"type":"t","trace":")" + kTrace + "\"}]",
           {{"traceparent", other}});
  ASSERT_EQ(answer.status, 201) << answer.body;
  const auto answers = wire::read_answers(answer.body).value();
  EXPECT_EQ(find(answers[0]->id.text()).trace, other);
  EXPECT_EQ(find(answers[1]->id.text()).trace, kTrace);
}

TEST_F(ApiTest, a_malformed_trace_is_ignored_in_a_header_and_refused_in_a_field) {
  const Response answer = post("/v1/tasks", R"({"type":"t"})", {{"traceparent", "00-12"}});
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(find(wire::read_accepted(answer.body)->id.text()).trace, "");
  const Response refused = post("/v1/tasks", R"({"type":"t","trace":"00-12"})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("trace: "));
}

TEST_F(ApiTest, a_full_queue_is_to_be_asked_later) {
  ASSERT_TRUE(node_->configure({.queue = "q", .backlog = 1}));
  const std::string id = submit(R"({"type":"t","queue":"q","key":"k"})");
  const Response refused = post("/v1/tasks", R"({"type":"t","queue":"q"})");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers, (Fields{{"Retry-After", "5"}}));
  EXPECT_EQ(wire::read_problem(refused.body)->type, "urn:holdfast:overloaded");
  EXPECT_THAT(refused.body, HasSubstr("its backlog allows (1)"));
  EXPECT_EQ(post("/v1/tasks", R"({"type":"t","queue":"q","key":"k"})").status, 200);
  const Response some = post("/v1/tasks", R"([{"type":"t"},{"type":"t","queue":"q"}])");
  EXPECT_EQ(some.status, 207);
  EXPECT_TRUE(wire::read_answers(some.body)->at(0));
  EXPECT_EQ(wire::read_answers(some.body)->at(1).error().status, 429);
  EXPECT_EQ(wire::read_queues(get("/v1/queues").body)->at(1).backlog, 1);
  EXPECT_EQ(claim(R"(,"queue":"q")").at(0).id.text(), id);
  submit(R"({"type":"t","queue":"q"})");
}

TEST_F(ApiTest, says_what_is_wrong_and_where) {
  const auto refused = [&](std::string body) {
    const Response answer = post("/v1/tasks", std::move(body));
    EXPECT_EQ(answer.type, "application/problem+json");
    return std::to_string(answer.status) + " " + wire::read_problem(answer.body).value().detail;
  };
  EXPECT_THAT(refused(R"({"type":"t","delay":"30 secs"})"), HasSubstr("delay"));
  EXPECT_THAT(refused(R"({"type":"t")"), HasSubstr("line 1"));
  EXPECT_THAT(refused(R"({"type":""})"), HasSubstr("type"));
  EXPECT_THAT(refused(R"({"type":"t","payload_text":")" + std::string(101, 'x') + "\"}"),
              HasSubstr("413 payload: 101 bytes, of at most 100"));
  EXPECT_THAT(refused("[" + std::string(5, ' ') + R"({"type":"t"},{},{},{},{},{}])"),
              HasSubstr("400 "));
  const Response no_type = ask("POST", "/v1/tasks", "", {{"content-type", "text/plain"}}).get();
  EXPECT_EQ(no_type.status, 415);
}

TEST_F(ApiTest, pages_through_tasks) {
  for (int i = 0; i < 5; ++i)
    submit();
  std::size_t seen = 0;
  std::string cursor;
  do {
    const Response answer = get("/v1/tasks?state=pending&limit=2&cursor=" + cursor);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const TaskPage page = wire::read_page(answer.body).value();
    seen += page.tasks.size();
    cursor = page.next;
  } while (!cursor.empty());
  EXPECT_EQ(seen, 5U);
  EXPECT_THAT(get("/v1/tasks?stat=dead").body, HasSubstr("did you mean \\\"state\\\"?"));
  EXPECT_EQ(get("/v1/tasks?state=gone").status, 400);
  EXPECT_EQ(get("/v1/tasks?limit=0").status, 400);
  EXPECT_EQ(get("/v1/tasks?limit=1001").status, 400);
  EXPECT_EQ(get("/v1/tasks?cursor=nonsense").status, 400);
  EXPECT_EQ(get("/v1/dead?state=pending").status, 400);
  EXPECT_EQ(get("/v1/dead").status, 200);
}

TEST_F(ApiTest, what_is_not_there_is_not_found) {
  EXPECT_EQ(get("/v1/tasks/nonsense").status, 404);
  EXPECT_EQ(get("/v1/tasks/00000000-0000-7000-8000-000000000001").status, 404);
  EXPECT_EQ(post("/v1/tasks/00000000-0000-7000-8000-000000000001/cancel").status, 404);
}

TEST_F(ApiTest, N11_work_is_claimed_and_completed) {
  const std::string id = submit(R"({"type":"t","payload":{"n":1}})");
  const auto claims = claim();
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims[0].id.text(), id);
  EXPECT_EQ(claims[0].payload, R"({"n":1})");
  EXPECT_EQ(claims[0].attempt, 1);
  const std::string path = "/v1/claims/" + id;
  const std::string token = std::to_string(claims[0].token.value);
  EXPECT_EQ(post(path + "/extend", R"({"token":)" + token + R"(,"lease":"60s"})").status, 200);
  EXPECT_EQ(post(path + "/complete", R"({"token":99})").status, 409);
  const Response done = post(path + "/complete", R"({"token":)" + token + R"(,"result":[42]})");
  EXPECT_EQ(done.status, 200);
  EXPECT_THAT(done.body, HasSubstr(R"("state":"succeeded")"));
  EXPECT_EQ(find(id).result, "[42]");
  EXPECT_EQ(post(path + "/extend", R"({"token":)" + token + "}").status, 409);
}

TEST_F(ApiTest, work_that_failed_is_tried_again_later) {
  const std::string id = submit();
  const auto claims = claim();
  ASSERT_EQ(claims.size(), 1U);
  const Response failed =
      post("/v1/claims/" + id + "/fail",
           R"({"token":)" + std::to_string(claims[0].token.value) + R"(,"message":"no disk"})");
  EXPECT_EQ(failed.status, 200) << failed.body;
  EXPECT_THAT(failed.body, HasSubstr(R"("state":"retrying")"));
  const TaskInfo info = find(id);
  EXPECT_EQ(info.attempts, 1);
  EXPECT_EQ(info.last_failure->message, "no disk");
}

TEST_F(ApiTest, a_claim_waits_for_a_task) {
  auto waiting = ask("POST", "/v1/claims", R"({"wait":"60s"})");
  EXPECT_EQ(waiting.wait_for(20ms), std::future_status::timeout);
  const std::string id = submit();
  EXPECT_EQ(wire::read_claims(waiting.get().body)->at(0).id.text(), id);
  EXPECT_TRUE(claim().empty());
}

TEST_F(ApiTest, a_claimer_that_is_gone_gets_nothing) {
  const auto gone = std::make_shared<Gone>();
  auto waiting = ask("POST", "/v1/claims", R"({"wait":"60s"})", {}, gone);
  node_->on_loop([&] { gone->tell(); });
  EXPECT_EQ(waiting.wait_for(20s), std::future_status::ready);
  const std::string id = submit();
  EXPECT_EQ(find(id).state, TaskState::pending);
}

TEST_F(ApiTest, those_who_wait_are_answered_when_work_stops) {
  auto waiting = ask("POST", "/v1/claims", R"({"wait":"60s"})");
  ASSERT_TRUE(node_->stop_work());
  EXPECT_TRUE(wire::read_claims(waiting.get().body)->empty());
}

TEST_F(ApiTest, a_person_may_cancel_and_bring_back) {
  const std::string id = submit();
  EXPECT_EQ(post("/v1/tasks/" + id + "/retry").status, 409);
  const Response canceled = post("/v1/tasks/" + id + "/cancel");
  EXPECT_EQ(canceled.status, 200);
  EXPECT_THAT(canceled.body, HasSubstr(R"("state":"canceled")"));
  EXPECT_EQ(post("/v1/tasks/" + id + "/cancel").status, 409);
}

TEST_F(ApiTest, queues_are_counted_paused_and_resumed) {
  submit(R"({"type":"t","queue":"a b"})");
  EXPECT_EQ(post("/v1/queues/a%20b/pause").status, 200);
  auto queues = wire::read_queues(get("/v1/queues").body).value();
  ASSERT_EQ(queues.size(), 1U);
  EXPECT_EQ(queues[0].name, "a b");
  EXPECT_TRUE(queues[0].paused);
  EXPECT_EQ(queues[0].count(TaskState::pending), 1U);
  EXPECT_TRUE(claim(R"(,"queue":"a b")").empty());
  EXPECT_EQ(post("/v1/queues/a%20b/resume").status, 200);
  EXPECT_EQ(claim(R"(,"queue":"a b")").size(), 1U);
  EXPECT_EQ(get("/v1/dead/groups").body, R"({"groups":[]})");
}

TEST_F(ApiTest, says_how_it_is) {
  EXPECT_EQ(get("/healthz").body, "ok\n");
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_EQ(get("/readyz").body, R"({"status":"ready","problems":[]})");
  ready_ = false;
  EXPECT_EQ(get("/readyz").status, 503);
}

TEST_F(ApiTest, without_its_broker_it_is_degraded_and_says_so) {
  readiness_.problems = {{.place = "amqp://mq/%2f", .text = "RabbitMQ at mq:5672 is away"}};
  Response answer = get("/readyz");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"({"status":"degraded","problems":[{"broker":"amqp://mq/)"));
  readiness_.accepts = false;
  answer = get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("RabbitMQ at mq:5672 is away"));
  // Whoever has no token, or one that may not look, is told no addresses.
  node_->on_loop([this] {
    gate_.set_tokens(Tokens({{.name = "shop", .role = Role::submit, .hash = sha256("s")},
                             {.name = "eyes", .role = Role::read, .hash = sha256("r")}}));
  });
  const auto ask_as = [this](const char* token) {
    return ask("GET", "/readyz", {}, {{"authorization", std::string("Bearer ") + token}}).get();
  };
  EXPECT_THAT(get("/readyz").body, ::testing::Not(HasSubstr("mq")));
  EXPECT_EQ(get("/readyz").status, 503);
  readiness_.accepts = true;
  EXPECT_EQ(get("/readyz").body, R"({"status":"degraded"})");
  EXPECT_EQ(ask_as("s").body, R"({"status":"degraded"})");
  EXPECT_THAT(ask_as("r").body, HasSubstr("RabbitMQ at mq:5672 is away"));
}

TEST_F(ApiTest, what_happens_is_counted_and_told) {
  const Response stream = get("/v1/events?queue=default");
  ASSERT_TRUE(stream.source);
  EXPECT_EQ(stream.type, "text/event-stream");
  const std::string id = submit();
  ASSERT_EQ(claim().size(), 1U);
  post("/v1/claims/" + id + "/complete", R"({"token":1})");
  std::string events;
  node_->on_loop([&] { EXPECT_TRUE(stream.source->take(events, 100'000)); });
  for (const char* part :
       {R"("event":"submit")", R"("from":"pending","to":"running","event":"claim","attempt":1)",
        R"("from":"running","to":"succeeded","event":"success")"}) {
    EXPECT_THAT(events, HasSubstr(part));
  }
  const Response metrics = get("/metrics");
  EXPECT_EQ(metrics.type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* part : {"holdfast_tasks_succeeded_total{queue=\"default\",type=\"t\"} 1\n",
                           "holdfast_queue_tasks{queue=\"default\",state=\"succeeded\"} 1\n",
                           "holdfast_http_connections 7\n", "holdfast_event_readers 1\n"}) {
    EXPECT_THAT(metrics.body, HasSubstr(part));
  }
  EXPECT_THAT(metrics.body, ::testing::Not(HasSubstr("holdfast_store_batch_size_count 0\n")));
  const Response stats = get("/v1/stats");
  EXPECT_THAT(stats.body, HasSubstr(R"({"name":"default","paused":false,"tasks":{"pending":0,)"));
  EXPECT_EQ(get("/v1/events?state=gone").status, 400);
  EXPECT_EQ(get("/v1/events?colour=red").status, 400);
  EXPECT_THAT(get("/v1/series").body, HasSubstr(R"({"step_seconds":10,"from":")"));
  EXPECT_THAT(get("/v1/series?span=24h").body, HasSubstr(R"({"step_seconds":300,"from":")"));
  EXPECT_EQ(get("/v1/series?span=2h").status, 400);
  EXPECT_EQ(get("/v1/series?spam=1h").status, 400);
}

TEST_F(ApiTest, workers_are_seen_with_what_they_run) {
  EXPECT_EQ(get("/v1/workers").body, R"({"workers":[],"complete":true})");
  const std::string id = submit();
  ASSERT_EQ(claim().size(), 1U);
  const Response answer = get("/v1/workers");
  EXPECT_THAT(answer.body,
              HasSubstr(R"({"workers":[{"name":"away:w","elsewhere":true,"running":1,"tasks":[)"
                        R"({"id":")" +
                        id + R"(","type":"t","queue":"default","since":")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("attempt":1}]}],"complete":true})"));
}

TEST_F(ApiTest, of_very_many_running_tasks_a_thousand_are_looked_at) {
  for (int i = 0; i < 201; ++i) {
    std::string body = "[";
    for (int j = 0; j < 5; ++j)
      body += std::string(j == 0 ? "" : ",") + R"({"type":"t"})";
    ASSERT_EQ(post("/v1/tasks", body + "]").status, 201);
  }
  for (int got = 0; got < 1005;) {
    const auto claims = claim(R"(,"max":100)");
    ASSERT_FALSE(claims.empty());
    got += static_cast<int>(claims.size());
  }
  const Response answer = get("/v1/workers");
  EXPECT_THAT(answer.body, HasSubstr(R"("running":1000,)"));
  EXPECT_THAT(answer.body, ::testing::EndsWith(R"("complete":false})"));
}

TEST_F(ApiTest, the_page_names_every_route_and_no_other) {
  std::ifstream file(HOLDFAST_SOURCE_DIR "/docs/api.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(page.empty());
  std::size_t rows = 0;
  for (std::size_t at = page.find("\n| `"); at != std::string::npos;
       at = page.find("\n| `", at + 1))
    for (const std::string method : {"GET ", "POST ", "DELETE "})
      rows += page.compare(at + 4, method.size(), method) == 0;
  EXPECT_EQ(rows, routes_.all().size());
  for (const auto& shared : routes_.all()) {
    const Route& route = *shared;
    const std::string role = route.role ? std::string(to_string(*route.role)) : "anyone";
    EXPECT_THAT(page, HasSubstr("| `" + route.method + " " + route.pattern + "` | " + role + " | " +
                                route.summary + " |\n"));
  }
}

// A dead letter; one of kind "crash" needs a person.
std::string ApiTest::dead(const std::string& kind) {
  const std::string id =
      submit(kind == "crash" ? R"({"type":"fragile"})" : R"({"type":"t","attempts":1})");
  const auto claims = claim();
  const Response answer =
      post("/v1/claims/" + id + "/fail", R"({"token":)" + std::to_string(claims.at(0).token.value) +
                                             R"(,"message":"no","kind":")" + kind + "\"}");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(find(id).state, TaskState::dead);
  return id;
}

TEST_F(ApiTest, many_dead_letters_come_back_by_id_or_by_filter_T5) {
  const std::string first = dead();
  const std::string second = dead();
  const std::string waiting = submit();
  const auto by_id = wire::read_dead_answer(
      post("/v1/dead/replay", R"({"ids":[")" + first + R"(",")" + waiting + R"("]})").body);
  ASSERT_TRUE(by_id);
  EXPECT_EQ(by_id->done, 1U);
  ASSERT_EQ(by_id->refused.size(), 1U);
  EXPECT_EQ(by_id->refused[0].id.text(), waiting);
  EXPECT_EQ(by_id->refused[0].problem.status, 409);
  EXPECT_EQ(find(first).state, TaskState::pending);
  EXPECT_EQ(find(second).state, TaskState::dead);

  const std::string group = find(second).group;
  const auto none =
      wire::read_dead_answer(post("/v1/dead/discard", R"({"filter":{"queue":"elsewhere"}})").body);
  EXPECT_EQ(none->done, 0U);
  const auto matching = wire::read_dead_answer(
      post("/v1/dead/discard", R"({"filter":{"group":")" + group + R"("},"limit":5})").body);
  EXPECT_EQ(matching->done, 1U);
  EXPECT_EQ(find(second).state, TaskState::canceled);
}

TEST_F(ApiTest, N2_an_operation_is_planned_then_started_and_the_audit_knows) {
  const std::string first = dead();
  const std::string second = dead();
  const Response begun = post("/v1/operations", R"({"query":"state:dead error:no"})");
  ASSERT_EQ(begun.status, 201) << begun.body;
  const std::string place = "/v1/operations/" + wire::read_operation(begun.body)->id;
  const auto wait_for = [&](OperationState wanted) {
    Operation seen = wire::read_operation(get(place).body).value();
    for (int looks = 0; looks < 1000 && seen.state != wanted; ++looks) {
      system_clock().sleep_for(5ms);
      seen = wire::read_operation(get(place).body).value();
    }
    EXPECT_EQ(seen.state, wanted);
    return seen;
  };
  EXPECT_EQ(wait_for(OperationState::planned).plan.possible, 2U);
  EXPECT_EQ(find(first).state, TaskState::dead);
  EXPECT_EQ(post(place + "/pause").status, 409);
  EXPECT_EQ(post(place + "/start", R"({"stop_at":7})").status, 400);
  EXPECT_EQ(post(place + "/start").status, 200);
  EXPECT_EQ(wait_for(OperationState::done).progress.done, 2U);
  EXPECT_EQ(find(second).state, TaskState::pending);
  EXPECT_THAT(find(first).history.back().owner, HasSubstr("local, operation "));
  EXPECT_EQ(wire::read_operations(get("/v1/operations").body)->operations.size(), 1U);
  const auto entries = wire::read_audit(get("/v1/audit").body)->entries;
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].action, "replay");
  EXPECT_EQ(entries[0].who, "local");
  EXPECT_EQ(entries[0].count, 2U);
  EXPECT_EQ(get("/v1/operations/none").status, 404);
  EXPECT_EQ(post("/v1/operations", R"({"query":"stat:dead"})").status, 400);
  EXPECT_EQ(post("/v1/operations", R"({})").status, 400);
}

TEST_F(ApiTest, T5_a_dead_letter_is_edited_or_discarded_and_names_what_became_of_it) {
  const std::string wrong = dead();
  EXPECT_EQ(post("/v1/tasks/" + wrong + "/edit", "{}").status, 400);
  const Response edited =
      post("/v1/tasks/" + wrong + "/edit", R"({"payload":{"a":2},"queue":"q"})");
  ASSERT_EQ(edited.status, 201) << edited.body;
  const TaskId copy = wire::read_edit_answer(edited.body)->id;
  EXPECT_EQ(find(wrong).state, TaskState::canceled);
  EXPECT_EQ(find(wrong).edited_as, copy);
  EXPECT_EQ(find(copy.text()).edited_from->text(), wrong);
  EXPECT_EQ(find(copy.text()).payload, R"({"a":2})");
  EXPECT_EQ(find(copy.text()).queue, "q");
  EXPECT_EQ(post("/v1/tasks/" + wrong + "/edit", R"({"payload":1})").status, 409);

  const std::string unwanted = dead();
  EXPECT_EQ(post("/v1/tasks/" + unwanted + "/discard", R"({"reason":"spam"})").status, 200);
  EXPECT_EQ(find(unwanted).history.back().owner, "local: spam");
}

TEST_F(ApiTest, N1_groups_and_counts_and_queries_say_the_same) {
  const std::string id = dead();
  const std::string group = find(id).group;
  EXPECT_THAT(get("/v1/dead/groups/" + group).body, HasSubstr(R"("last_hour":1,"last_day":1)"));
  EXPECT_EQ(get("/v1/dead/groups/0000000000000000").status, 404);
  EXPECT_EQ(wire::read_count(get("/v1/tasks/count?q=group:" + group).body)->count, 1U);
  EXPECT_EQ(wire::read_count(get("/v1/tasks/count?q=error:no+type:t").body)->count, 1U);
  EXPECT_EQ(wire::read_page(get("/v1/dead?q=error:no").body)->tasks.size(), 1U);
  EXPECT_EQ(wire::read_page(get("/v1/tasks?q=error:other").body)->tasks.size(), 0U);
  const Response wrong = get("/v1/tasks?q=stat:dead");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("did you mean"));
}

TEST_F(ApiTest, a_filter_goes_over_all_that_match_page_by_page) {
  for (int i = 0; i < 5; ++i)
    static_cast<void>(dead());
  std::uint64_t done = 0;
  std::string cursor;
  for (int calls = 0; calls < 10; ++calls) {
    const auto page = wire::read_dead_answer(
        post("/v1/dead/replay", R"({"filter":{},"limit":2,"cursor":")" + cursor + "\"}").body);
    ASSERT_TRUE(page) << page.error().text();
    EXPECT_LE(page->done, 2U);
    done += page->done;
    cursor = page->next;
    if (cursor.empty()) break;
  }
  EXPECT_EQ(done, 5U);
}

TEST_F(ApiTest, what_needs_a_person_comes_back_by_id_and_insisting_only_N7) {
  const std::string id = dead("crash");
  const auto all = wire::read_dead_answer(post("/v1/dead/replay", R"({"filter":{}})").body);
  EXPECT_EQ(all->done, 0U);
  ASSERT_EQ(all->refused.size(), 1U);
  EXPECT_EQ(find(id).state, TaskState::dead);
  EXPECT_EQ(post("/v1/dead/replay", R"({"filter":{},"insist":true})").status, 400);
  EXPECT_EQ(post("/v1/dead/discard", R"({"ids":[")" + id + R"("],"insist":true})").status, 400);
  const auto one = wire::read_dead_answer(
      post("/v1/dead/replay", R"({"ids":[")" + id + R"("],"insist":true})").body);
  EXPECT_EQ(one->done, 1U);
  EXPECT_EQ(find(id).state, TaskState::pending);
}

}  // namespace
}  // namespace holdfast::http::api_threads_test
