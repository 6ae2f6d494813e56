// What a user of the installed library may write: retry, classify, test without waiting, run tasks.
#include <cstdio>
#include <expected>
#include <string>

#include <holdfast/classify.hpp>
#include <holdfast/client.hpp>
#include <holdfast/policies.hpp>
#include <holdfast/retry.hpp>
#include <holdfast/testing.hpp>
#include <holdfast/worker.hpp>

using namespace std::chrono_literals;

namespace {

int check(bool holds, const char* what) {
  std::printf("%-4s %s\n", holds ? "ok" : "BAD", what);
  return holds ? 0 : 1;
}

int check_tasks(const std::string& url) {
  holdfast::Worker worker(url, {.log = {}});
  worker.on("greet",
            [](holdfast::Job& job) -> std::expected<std::string, std::string> {
              if (job.attempt() == 1) return std::unexpected("connection reset by peer");
              return "hello " + job.payload();
            },
            {.wait = holdfast::retry::no_wait()});
  int bad = check(worker.start().has_value(), "a worker starts");

  holdfast::Client client(url);
  const auto id = client.submit({.type = "greet", .payload = "ann"});
  if (!id) return check(false, id.error().text().c_str());
  const auto task = client.wait(*id, 1min);
  bad += check(task && task->result == "hello ann" && task->attempts == 1,
               "a task is run, and tried again");
  return bad;
}

}  // namespace

int main() {
  holdfast::testing::FakeClock clock;
  holdfast::testing::FakeRandom random;
  const auto classifier = holdfast::Classifier::make(holdfast::combine(
      {{{.name = "mine", .pattern = "sold out", .verdict = holdfast::VerdictKind::give_up}},
       holdfast::presets::all()}));
  if (!classifier) return 1;

  const auto policy = holdfast::retry::Policy(clock, random)
                          .named("order")
                          .stop(holdfast::retry::attempts(5) | holdfast::retry::elapsed(1min))
                          .wait(holdfast::retry::exponential({.first = 1s, .cap = 16s}))
                          .classify_with(*classifier);

  holdfast::testing::Flaky<std::expected<int, std::string>> order;
  order.fails(std::string("connection reset by peer"), 2).returns(7);
  int bad = check(policy.call(order) == 7, "recovers after two failures");
  bad += check(clock.now().time_since_epoch() == 3s, "after waits of 1 s and 2 s");

  holdfast::testing::Flaky<std::expected<int, std::string>> hopeless;
  hopeless.fails(std::string("the concert is sold out"));
  bad += check(!policy.call(hopeless) && hopeless.calls() == 1,
               "gives up at once by a rule of its own");

  const auto real = holdfast::policies::publish();
  bad += check(real.call([] { return 1; }) == 1, "works on the system's clock");
  bad += check_tasks("memory:example");
  bad += check_tasks("sqlite:example.db");
  return bad ? 1 : 0;
}
