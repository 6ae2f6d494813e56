#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "node/registry.hpp"
#include "server/recovery_desk.hpp"

namespace holdfast::server::recovery_desk_threads_test {
namespace {

using namespace std::chrono_literals;
using wire::Recovery;
using wire::RecoveryState;

// Recovers nothing, tells of it, and can be made to last.
struct Courses {
  std::mutex mutex;
  std::condition_variable changed;
  bool hold = false;
  bool fail = false;
  std::uint64_t recognised = 0;
  std::vector<std::string> urls = {};

  Result<recovery::Run::Outcome> run(const RecoverSettings& settings, const RecoverHooks& hooks) {
    std::unique_lock lock(mutex);
    urls.push_back(settings.broker.url);
    if (fail) return holdfast::fail(ErrorCode::not_found, "recover", "there is no such queue");
    recovery::Summary summary{.run = "r", .queue = "app.dlq"};
    summary.found = 3;
    summary.recovered.add("work", 2);
    summary.recognised = recognised;
    hooks.observer.warned({.text = "careful"});
    hooks.observer.moved(summary);
    const std::stop_callback wake(hooks.stop, [this] { changed.notify_all(); });
    changed.wait(lock, [&] { return !hold || hooks.stop.stop_requested(); });
    summary.ended = hooks.stop.stop_requested() ? recovery::Ended::asked : recovery::Ended::empty;
    summary.skipped.add("no type", 1);
    summary.left = 1;
    return recovery::Run::Outcome{.summary = summary, .plan = {}};
  }
  void release() {
    const std::lock_guard lock(mutex);
    hold = false;
    changed.notify_all();
  }
};

config::Config configuration() {
  config::Config config;
  const std::string url = "amqp://u:planted@127.0.0.1:1";
  config.brokers["main"] = {.url = {.text = config::Secret(url, ""), .shown = "amqp://***@h"}};
  return config;
}

// A store, and a server's desk on it for one life after the other.
class RecoveryDeskTest : public ::testing::Test {
 protected:
  RecoveryDeskTest() { begin_life("first"); }
  ~RecoveryDeskTest() override { end_life(); }

  void begin_life(const std::string& runner) {
    node_->on_loop([&] {
      brokers_ = std::make_unique<BrokerDesk>(node_->loop(), system_clock(), Logger());
      ASSERT_TRUE(brokers_->set(configuration()));
      desk_ = std::make_unique<RecoveryDesk>(RecoveryDesk::Parts{
          .loop = node_->loop(),
          .writer = node_->writer(),
          .reader = node_->reader(),
          .clock = node_->clock(),
          .random = system_random(),
          .audit = node_->audit(),
          .brokers = *brokers_,
          .runner = runner,
          .is_busy = [this](const BrokerPlace& place) { return place.queue == busy_; },
          .run = [this](const RecoverSettings& settings,
                        const RecoverHooks& hooks) { return courses_.run(settings, hooks); }});
      desk_->start();
    });
  }
  void end_life() {
    std::vector<std::jthread> ending;
    node_->on_loop([&] { ending = desk_->end(); });
    ending.clear();
    ask<bool>([&](auto then) { desk_->flush([then = std::move(then)]() mutable { then(true); }); });
    node_->on_loop([this] {
      desk_.reset();
      brokers_.reset();
    });
  }
  // As by a kill: nothing is told any more.
  void lose_life() {
    node_->on_loop([this] {
      lost_ = desk_->end();
      desk_.reset();
      brokers_.reset();
    });
    lost_.clear();
  }

  template <class T>
  T ask(std::function<void(std::function<void(T)>)> start) {
    std::promise<T> promise;
    node_->loop().post([&] { start([&](T answer) { promise.set_value(std::move(answer)); }); });
    return promise.get_future().get();
  }
  Result<Recovery> begin(wire::RecoveryRequest request) {
    return ask<Result<Recovery>>(
        [&](auto then) { desk_->begin(std::move(request), "ann", std::move(then)); });
  }
  Result<Recovery> find(const std::string& id) {
    return ask<Result<Recovery>>([&](auto then) { desk_->find(id, std::move(then)); });
  }
  Result<Recovery> cancel(const std::string& id) {
    return ask<Result<Recovery>>([&](auto then) { desk_->cancel(id, "bob", std::move(then)); });
  }
  Result<wire::QueueSample> sample() {
    return ask<Result<wire::QueueSample>>([&](auto then) {
      desk_->sample({.broker = "main", .queue = "app.dlq"}, {}, "ann", std::move(then));
    });
  }
  Recovery ended(const std::string& id) {
    while (true) {
      auto found = find(id);
      if (!found || found->state != RecoveryState::running) return found.value();
      std::this_thread::yield();
    }
  }
  std::vector<AuditEntry> audited() {
    return ask<Result<AuditPage>>([&](auto then) { node_->audit().page(100, "", std::move(then)); })
        .value()
        .entries;
  }
  std::vector<std::string> audit() {
    std::vector<std::string> lines;
    for (const AuditEntry& entry : audited())
      lines.push_back(entry.who + " " + entry.action + " " + std::to_string(entry.count));
    return lines;
  }

  static std::string store_url() {
    static int count = 0;
    return "memory:recovery-desk-" + std::to_string(++count);
  }
  static wire::RecoveryRequest request(const std::string& queue = "app.dlq") {
    return {.broker = "main", .queue = queue, .to = "work", .reason = "why not"};
  }

  std::shared_ptr<node::Node> node_ = node::open(store_url(), {}).value();
  Courses courses_;
  std::string busy_ = {};
  std::unique_ptr<BrokerDesk> brokers_;
  std::unique_ptr<RecoveryDesk> desk_;
  std::vector<std::jthread> lost_;
};

using Lines = std::vector<std::string>;

TEST_F(RecoveryDeskTest, keeps_what_came_of_a_recovery_and_who_began_it) {
  const auto begun = begin(request());
  ASSERT_TRUE(begun) << begun.error().text();
  EXPECT_EQ(begun->state, RecoveryState::running);
  const Recovery done = ended(begun->id);
  EXPECT_EQ(done.state, RecoveryState::done);
  EXPECT_FALSE(done.complete);
  EXPECT_EQ(done.by, "ann");
  EXPECT_EQ(done.progress.found, 3U);
  EXPECT_EQ(done.targets, (std::vector<wire::RecoveryCount>{{"work", 2}}));
  EXPECT_EQ(done.kept, (std::vector<wire::RecoveryCount>{{"no type", 1}}));
  EXPECT_EQ(done.warnings, Lines{"careful"});
  EXPECT_EQ(courses_.urls, Lines{"amqp://u:planted@127.0.0.1:1/%2f/app.dlq"});
  EXPECT_EQ(audit(), (Lines{"ann recover 2", "ann recover.start 0"}));
  const auto page =
      ask<Result<wire::RecoveryPage>>([&](auto then) { desk_->page(10, "", std::move(then)); });
  ASSERT_EQ(page.value().recoveries.size(), 1U);
  EXPECT_EQ(page->recoveries.front(), done);
}

TEST_F(RecoveryDeskTest, refuses_what_cannot_be_done) {
  busy_ = "busy.dlq";
  const auto refused = [&](wire::RecoveryRequest what) {
    const auto begun = begin(std::move(what));
    return begun ? std::string("begun") : std::string(to_string(begun.error().code));
  };
  EXPECT_EQ(refused(request("app.work")), "not found");
  EXPECT_EQ(refused(request("busy.dlq")), "conflict");
  wire::RecoveryRequest odd = request();
  odd.broker = "none";
  EXPECT_EQ(refused(odd), "not found");
  odd = request();
  odd.to = odd.queue;
  EXPECT_EQ(refused(odd), "invalid argument");
  odd = request();
  odd.filter = {"tipe=x"};
  EXPECT_EQ(refused(odd), "invalid argument");
  EXPECT_EQ(audit(), Lines{});
  EXPECT_EQ(find("none").error().code, ErrorCode::not_found);
  EXPECT_EQ(cancel("none").error().code, ErrorCode::not_found);
}

TEST_F(RecoveryDeskTest, a_queue_has_one_at_a_time_and_a_person_can_end_it) {
  courses_.hold = true;
  const std::string id = begin(request()).value().id;
  EXPECT_EQ(begin(request()).error().code, ErrorCode::conflict);
  std::string running;
  node_->on_loop([&] { running = desk_->running_on("main", "app.dlq"); });
  EXPECT_EQ(running, id);
  while (find(id)->progress.recovered == 0)
    std::this_thread::yield();
  ASSERT_TRUE(cancel(id));
  const Recovery canceled = ended(id);
  EXPECT_EQ(canceled.state, RecoveryState::canceled);
  EXPECT_EQ(canceled.why, "canceled by bob");
  EXPECT_EQ(cancel(id).error().code, ErrorCode::conflict);
  EXPECT_EQ(audit(), (Lines{"ann recover 2", "bob recover.cancel 2", "ann recover.start 0"}));
  courses_.release();
  EXPECT_EQ(ended(begin(request()).value().id).state, RecoveryState::done);
}

TEST_F(RecoveryDeskTest, only_so_many_run_at_once) {
  courses_.hold = true;
  for (std::size_t i = 0; i < RecoveryDesk::kMostAtOnce; ++i)
    ASSERT_TRUE(begin(request(std::to_string(i) + ".dlq")));
  EXPECT_EQ(begin(request("more.dlq")).error().code, ErrorCode::overloaded);
}

TEST_F(RecoveryDeskTest, a_failure_says_why) {
  courses_.fail = true;
  const Recovery failed = ended(begin(request()).value().id);
  EXPECT_EQ(failed.state, RecoveryState::failed);
  EXPECT_EQ(failed.error, "there is no such queue");
  const AuditEntry end = audited().front();
  EXPECT_EQ(end.action, "recover");
  EXPECT_EQ(end.reason, "why not; recover: there is no such queue");
}

TEST_F(RecoveryDeskTest, the_audit_says_what_came_of_it_as_the_summary_does) {
  courses_.recognised = 1;
  ASSERT_EQ(ended(begin(request()).value().id).state, RecoveryState::done);
  const AuditEntry end = audited().front();
  EXPECT_EQ(end.count, 2U);
  EXPECT_EQ(end.refused, 1U);
  EXPECT_EQ(end.reason,
            "why not; run r: every message was handled; 2 recovered, 0 failed, 1 skipped, 1 left");
}

TEST_F(RecoveryDeskTest, a_look_that_was_refused_is_not_audited_as_one) {
  courses_.fail = true;
  EXPECT_EQ(sample().error().code, ErrorCode::not_found);
  EXPECT_EQ(audit(), Lines{});
  courses_.fail = false;
  EXPECT_TRUE(sample());
  EXPECT_EQ(audit(), Lines{"ann recover.look 0"});
}

TEST_F(RecoveryDeskTest, one_that_its_server_ends_is_interrupted) {
  courses_.hold = true;
  const std::string id = begin(request()).value().id;
  end_life();
  begin_life("second");
  const Recovery interrupted = ended(id);
  EXPECT_EQ(interrupted.state, RecoveryState::interrupted);
  EXPECT_EQ(interrupted.why, "its server was stopped");
  EXPECT_EQ(interrupted.progress.recovered, 2U);
  EXPECT_EQ(audit().front(), "ann recover.interrupted 2");
}

TEST_F(RecoveryDeskTest, one_whose_server_was_killed_is_found_and_called_interrupted) {
  courses_.hold = true;
  const std::string id = begin(request()).value().id;
  lose_life();
  begin_life("second");
  const Recovery interrupted = ended(id);
  EXPECT_EQ(interrupted.state, RecoveryState::interrupted);
  EXPECT_NE(interrupted.why.find("may be there twice"), std::string::npos);
  while (audit().size() < 2)
    std::this_thread::yield();
  EXPECT_EQ(audit().front(), "ann recover.interrupted 0");
}

}  // namespace
}  // namespace holdfast::server::recovery_desk_threads_test
