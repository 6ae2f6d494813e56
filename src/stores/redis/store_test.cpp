// What is the store's own on Redis, beside what every store does (tests/conformance).
#include "stores/redis/store.hpp"

#include <atomic>

#include <gmock/gmock.h>

#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/store_testing.hpp"
#include "support/cutting_proxy.hpp"

namespace holdfast::stores::redis::store_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Side = testing::CuttingProxy::Side;

class RedisStoreTest : public ::testing::Test {
 protected:
  testing::RedisServer server_;
};

// What a short life of three tasks says at each step: the same, whatever was cut on the way.
std::string life(ports::Store& store) {
  std::string told;
  ports::NewTask keyed = new_task(3);
  keyed.key = "once";
  for (const auto& answer : tell(store, ports::Submit{{new_task(1), new_task(2), keyed}}))
    told += answer && !answer->existed ? "new " : "not ";
  std::vector<ports::Request> batch;
  batch.emplace_back(ports::Asked<ports::Claim>{
      {.queue = "mail", .max = 2, .owner = "me", .lease = 30s, .now = kStart}});
  batch.emplace_back(ports::Asked<ports::Claim>{
      {.queue = "mail", .max = 2, .owner = "me", .lease = 30s, .now = kStart}});
  store.carry_out(batch);
  ports::Change change;
  for (auto& request : batch) {
    const auto& answer = std::get<ports::Asked<ports::Claim>>(request).answer;
    if (!answer) return told + answer.error().text();
    for (ports::TaskRecord task : answer->tasks) {
      told += task.payload + " " + std::to_string(task.task.token.value) + ", ";
      if (change.changes.empty()) {
        const auto done = tell(store, ports::Change{{again(task, kStart)}});
        told += done.at(0) == ports::Change::Done::again ? "again, " : "not again, ";
        ++task.task.token.value;
      }
      change.changes.push_back(change.changes.empty() ? death(task, kStart)
                                                      : success(task, kStart));
    }
  }
  for (const auto done : tell(store, std::move(change)))
    told += done == ports::Change::Done::applied ? "applied " : "not ";
  const auto purged =
      tell(store, ports::Purge{.state = core::State::succeeded, .ended_before = kStart + 1s});
  told += std::to_string(purged) + " purged";
  return told;
}

constexpr const char* kLife =
    "new new new to: 1 1, again, to: 2 1, to: 3 1, applied applied applied 2 purged";

TEST_F(RedisStoreTest, lives_a_short_life) {
  const auto opened = open_at(server_.url());
  EXPECT_EQ(life(*opened.writer), kLife);
}

// T8, T10: wherever a connection is cut, each verb is carried out once, and answered as if nothing
// had been cut: while a call is on its way, when it has arrived, in the middle of the answer.
TEST_F(RedisStoreTest, a_cut_at_any_step_of_a_call_changes_nothing_that_is_told) {
  testing::CuttingProxy proxy(server_.port());
  const std::string place = "redis://127.0.0.1:" + std::to_string(proxy.port());
  int spaces = 0;
  int cuts = 0;
  for (const Side side : {Side::to_broker, Side::from_broker}) {
    // A life is some two thousand bytes there, and fewer back.
    for (std::size_t bytes = 0; bytes < 2500; bytes += side == Side::to_broker ? 61 : 17) {
      const std::string url = place + "/?space=cut" + std::to_string(++spaces);
      const auto opened = open_at(url);
      (void)tell(*opened.writer, ports::Count());  // the connection is there
      proxy.cut_after_more_bytes(side, bytes);
      ASSERT_EQ(life(*opened.writer), kLife) << "cut after " << bytes;
      if (!proxy.was_cut()) break;
      ++cuts;
      const auto report = tell(*opened.writer, ports::Audit());
      EXPECT_TRUE(report.clean()) << report.findings.front().what;
      EXPECT_EQ(report.accepted, 3U);
    }
  }
  EXPECT_GT(cuts, 50);
}

// N6: or an attempt would begin that others have brought back while the answer was on its way.
TEST_F(RedisStoreTest, an_answer_that_is_given_again_gives_no_claim_that_was_lost_meanwhile) {
  const auto opened = open_at(server_.url());
  (void)tell(*opened.writer, ports::Submit{{new_task(1), new_task(2)}});
  const auto claimed =
      tell(*opened.writer,
           ports::Claim{.queue = "mail", .max = 2, .owner = "me", .lease = 30s, .now = kStart});
  ASSERT_THAT(claimed.tasks, SizeIs(2));
  // By what was worked out beforehand, and by the way of all others.
  const ports::Change::One known = again(claimed.tasks[0], kStart);
  const ports::Change::One other = again(claimed.tasks[1], kStart);
  const std::string key = "{hf}t" + std::string(id_bytes(known.id));
  const Claimed claim{.token = known.token,
                      .head = server_.ask({"GET", key}).text.substr(0, kHeadBytes),
                      .owner = std::make_shared<const std::string>("me"),
                      .since = kStart};
  WordList words;
  append_course(words, course_of(known, claim), 1, "");
  append_settlement(words, known, claim);
  std::vector<std::string> settle{"EVALSHA", scripts().settle.sha(), "1", "{hf}", "caller.0", "7"};
  for (std::size_t i = 0; i < words.size(); ++i)
    settle.emplace_back(words[i]);
  std::vector<std::string> change{"EVALSHA", scripts().change.sha(), "1", "{hf}", "caller.1", "7"};
  append_change(change.emplace_back(), other);
  for (const auto& call : {settle, change}) {
    EXPECT_EQ(server_.ask(call).text, "c");
    EXPECT_EQ(server_.ask(call).text, "c") << "as long as it holds";
  }
  for (const TaskId& id : {known.id, other.id}) {
    const auto running = tell(*opened.writer, ports::Find{id}).value();
    EXPECT_EQ(running.task.token.value, 2U);
    EXPECT_EQ(tell(*opened.writer, ports::Change{{death(running, kStart + 1s)}}).at(0),
              ports::Change::Done::applied);
  }
  for (const auto& call : {settle, change})
    EXPECT_EQ(server_.ask(call).text, "m");
}

TEST_F(RedisStoreTest, what_another_process_was_told_is_not_told_to_this_one) {
  const auto one = open_at(server_.url());
  const auto other = open_at(server_.url());
  (void)tell(*one.writer, ports::Submit{{new_task(1)}});
  const auto again = tell(*other.writer, ports::Submit{{new_task(1)}});
  EXPECT_TRUE(again.at(0)->existed) << "not the answer that the first call of the other got";
}

TEST_F(RedisStoreTest, time_is_the_servers_whatever_a_worker_believes) {
  const auto opened = open_at(server_.url(), false);
  const WallTime now = opened.clock->wall_now();
  ports::NewTask later = new_task(1, now);
  later.due = now + 1h;
  (void)tell(*opened.writer, ports::Submit{{later, new_task(2, now)}});
  const auto answer =
      tell(*opened.writer,
           ports::Claim{.queue = "mail", .max = 5, .owner = "fast", .lease = 30s, .now = now + 2h});
  ASSERT_THAT(answer.tasks, SizeIs(1));
  EXPECT_EQ(answer.tasks[0].id, id_of(2));
  EXPECT_LT(answer.tasks[0].lease_end, now + 10min);
  EXPECT_THAT(tell(*opened.writer, ports::Overdue{.now = now + 2h}), IsEmpty());
}

// N8
TEST_F(RedisStoreTest, claims_of_a_process_that_has_gone_are_overdue_before_their_leases_end) {
  const auto watching = open_at(server_.url(), false, 50ms);
  auto going = std::make_unique<ports::OpenStore>(open_at(server_.url(), false, 50ms));
  const WallTime now = watching.clock->wall_now();
  const auto overdue = [&] { return tell(*watching.writer, ports::Overdue{.now = now}); };
  const auto claim = [&](ports::Store& store, const char* owner) {
    return tell(store, ports::Claim{.queue = "mail", .owner = owner, .lease = 1h, .now = now});
  };
  (void)tell(*going->writer, ports::Submit{{new_task(1, now), new_task(2, now), new_task(3, now)}});
  ASSERT_THAT(claim(*going->writer, "a:1:x").tasks, SizeIs(1));
  ASSERT_THAT(claim(*going->writer, "away:b").tasks, SizeIs(1));
  ASSERT_THAT(claim(*watching.writer, "c:1:x").tasks, SizeIs(1));
  // Long enough that a look could tell.
  for (int look = 0; look < 30; ++look) {
    EXPECT_THAT(overdue(), IsEmpty()) << "both listen";
    system_clock().sleep_for(10ms);
  }
  going.reset();
  std::vector<ports::TaskRecord> found;
  for (int look = 0; look < 3000 && found.empty(); ++look) {
    found = overdue();
    system_clock().sleep_for(10ms);
  }
  ASSERT_THAT(found, SizeIs(1)) << "not what ends with its lease alone, and not our own";
  EXPECT_EQ(found[0].owner, "a:1:x");
}

// N8, N6: an owner that was away and came back is away anew when it goes again, though nobody who
// could tell has looked meanwhile.
TEST_F(RedisStoreTest, whoever_looks_sees_who_is_back) {
  const auto working = open_at(server_.url(), false);
  const auto just_come = open_at(server_.url(), false);
  const WallTime now = working.clock->wall_now();
  (void)tell(*working.writer, ports::Submit{{new_task(1, now)}});
  (void)tell(*working.writer,
             ports::Claim{.queue = "mail", .owner = "a:1:x", .lease = 1h, .now = now});
  while (server_.ask({"PUBSUB", "CHANNELS"}).parts.size() < 2)
    system_clock().sleep_for(5ms);
  (void)server_.ask({"HSET", "{hf}b", "1", "1"});
  EXPECT_THAT(tell(*just_come.writer, ports::Overdue{.now = now}), IsEmpty());
  EXPECT_EQ(server_.ask({"HGETALL", "{hf}b"}).parts.size(), 0U);
}

// Lua hands over some thousand arguments at once, and not more.
TEST_F(RedisStoreTest, looks_after_any_number_of_owners) {
  const auto opened = open_at(server_.url(), false);
  (void)server_.ask({"EVAL",
                     "for n = 1, 9000 do redis.call('HSET', '{hf}l', n, 1); "
                     "redis.call('HSET', '{hf}O', n, string.format('%016d', n) .. 'a:1:x') end",
                     "0"});
  EXPECT_TRUE(ports::ask(*opened.writer, ports::Overdue{}));
}

// N8, N6: when all connections are cut at once, the first who is back sees nobody listen.
TEST_F(RedisStoreTest, whoever_is_cut_off_while_it_looks_cannot_tell_who_is_gone) {
  testing::CuttingProxy proxy(server_.port());
  const auto watching = open_at("redis://127.0.0.1:" + std::to_string(proxy.port()), false, 100ms);
  auto going = std::make_unique<ports::OpenStore>(open_at(server_.url(), false));
  const WallTime now = watching.clock->wall_now();
  const auto overdue = [&] { return tell(*watching.writer, ports::Overdue{.now = now}); };
  (void)tell(*going->writer, ports::Submit{{new_task(1, now)}});
  (void)tell(*going->writer,
             ports::Claim{.queue = "mail", .owner = "a:1:x", .lease = 1h, .now = now});
  (void)overdue();
  going.reset();
  const auto is_noted = [&] { return !server_.ask({"HGETALL", "{hf}b"}).parts.empty(); };
  while (!is_noted()) {
    system_clock().sleep_for(10ms);
    (void)overdue();
  }
  system_clock().sleep_for(150ms);
  proxy.cut();
  EXPECT_THAT(overdue(), IsEmpty());
  std::vector<ports::TaskRecord> found;
  for (int look = 0; look < 3000 && found.empty(); ++look) {
    found = overdue();
    system_clock().sleep_for(10ms);
  }
  EXPECT_THAT(found, SizeIs(1));
}

TEST_F(RedisStoreTest, whoever_claims_in_vain_is_told_when_something_comes) {
  const auto waiting = open_at(server_.url(), false);
  const auto other = open_at(server_.url(), false);
  const WallTime now = other.clock->wall_now();
  std::atomic<int> told = 0;
  waiting.news->listen([&](const ports::News::One& one) {
    if (one.queue == "mail") ++told;
  });
  const auto claim = [&] {
    return tell(*waiting.writer,
                ports::Claim{.queue = "mail", .owner = "me", .lease = 1h, .now = now});
  };
  const auto until_told = [&](int wanted) {
    for (int look = 0; look < 3000 && told < wanted; ++look)
      system_clock().sleep_for(10ms);
    return told.load();
  };
  // Nobody who does not listen yet is told.
  while (server_.ask({"PUBSUB", "CHANNELS"}).parts.size() < 2)
    system_clock().sleep_for(5ms);

  EXPECT_THAT(claim().tasks, IsEmpty());
  (void)tell(*other.writer, ports::Submit{{new_task(1, now), new_task(2, now)}});
  EXPECT_EQ(until_told(1), 1);
  ASSERT_THAT(claim().tasks, SizeIs(1)) << "all that it asked for, so it does not wait";
  (void)tell(*other.writer, ports::Submit{{new_task(3, now)}});
  (void)claim();
  (void)claim();
  EXPECT_THAT(claim().tasks, IsEmpty());
  EXPECT_EQ(told, 1);
  (void)tell(*other.writer, ports::Configure{.queue = "mail", .paused = true});
  EXPECT_EQ(until_told(2), 2) << "a setting may be what it waits for";
  waiting.news->listen({});
}

// One task, one who is told: a herd would ask for nothing.
TEST_F(RedisStoreTest, as_many_are_told_as_there_are_tasks) {
  std::vector<ports::OpenStore> waiting;
  std::atomic<int> told = 0;
  for (int at = 0; at < 5; ++at) {
    waiting.push_back(open_at(server_.url(), false));
    waiting.back().news->listen([&](const ports::News::One& one) { told += one.any ? 0 : 1; });
  }
  while (server_.ask({"PUBSUB", "CHANNELS"}).parts.size() < 5)
    system_clock().sleep_for(5ms);
  const WallTime now = waiting[0].clock->wall_now();
  for (auto& store : waiting) {
    (void)tell(*store.writer, ports::Claim{.queue = "mail", .owner = "o", .lease = 1h, .now = now});
  }
  (void)tell(*waiting[0].writer, ports::Submit{{new_task(1, now), new_task(2, now)}});
  for (int look = 0; look < 3000 && told < 2; ++look)
    system_clock().sleep_for(10ms);
  system_clock().sleep_for(50ms);
  EXPECT_EQ(told, 2);
  for (auto& store : waiting)
    store.news->listen({});
}

TEST_F(RedisStoreTest, two_spaces_are_two_stores) {
  const auto one = open_at(server_.url());
  const auto other = open_at(server_.url() + "/?space=other");
  (void)tell(*one.writer, ports::Submit{{new_task(1)}});
  EXPECT_THAT(tell(*other.reader, ports::Count()), IsEmpty());
  EXPECT_FALSE(tell(*other.reader, ports::Find{id_of(1)}));
}

TEST_F(RedisStoreTest, something_else_in_our_space_is_named_and_left_alone) {
  (void)server_.ask({"LPUSH", "{hf}m", "not ours"});
  const auto opened = open_at(server_.url());
  const auto answer = ports::ask(*opened.writer, ports::Submit{{new_task(1)}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::corrupt);
  EXPECT_EQ(server_.ask({"LRANGE", "{hf}m", "0", "-1"}).parts.at(0).text, "not ours");
}

// A queue that is full to the last byte of memory takes nothing new, and drains all the same.
TEST_F(RedisStoreTest, without_memory_nothing_is_accepted_and_everything_is_brought_to_its_end) {
  const auto opened = open_at(server_.url());
  (void)tell(*opened.writer, ports::Submit{{new_task(1)}});
  (void)server_.ask({"CONFIG", "SET", "maxmemory", "1"});
  const auto refused = ports::ask(*opened.writer, ports::Submit{{new_task(2)}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  const auto claimed =
      tell(*opened.writer, ports::Claim{.queue = "mail", .owner = "me", .now = kStart});
  ASSERT_THAT(claimed.tasks, SizeIs(1));
  EXPECT_THAT(tell(*opened.writer, ports::Change{{success(claimed.tasks[0], kStart)}}),
              ElementsAre(ports::Change::Done::applied));
  EXPECT_EQ(tell(*opened.writer,
                 ports::Purge{.state = core::State::succeeded, .ended_before = kStart + 1s}),
            1U);
}

// At most 700 bytes of memory for a task that waits with 200 bytes of payload.
TEST_F(RedisStoreTest, a_task_that_waits_takes_little_memory) {
  constexpr int kTasks = 20'000;
  const auto opened = open_at(server_.url());
  (void)tell(*opened.writer, ports::Submit{{new_task(65'535)}});
  const long before = std::stol(server_.info("used_memory"));
  for (int first = 0; first < kTasks; first += 1000) {
    ports::Submit submit;
    for (int at = first; at < first + 1000; ++at) {
      submit.tasks.push_back(new_task(at));
      submit.tasks.back().payload = std::string(200, 'x');
    }
    (void)tell(*opened.writer, std::move(submit));
  }
  const long each = (std::stol(server_.info("used_memory")) - before) / kTasks;
  EXPECT_LE(each, 700);
  RecordProperty("bytes_each", static_cast<int>(each));
}

// T7: what has ended is removed without a trace when its time has come.
TEST_F(RedisStoreTest, what_is_purged_leaves_nothing_behind) {
  const auto opened = open_at(server_.url());
  ports::Submit submit;
  for (int at = 0; at < 300; ++at) {
    submit.tasks.push_back(new_task(at));
    submit.tasks.back().key = "key " + std::to_string(at);
  }
  (void)tell(*opened.writer, std::move(submit));
  const auto running =
      tell(*opened.writer, ports::Claim{.queue = "mail", .max = 300, .owner = "me", .now = kStart});
  ports::Change change;
  for (const auto& task : running.tasks)
    change.changes.push_back(change.changes.size() < 100 ? death(task, kStart)
                                                         : success(task, kStart));
  (void)tell(*opened.writer, std::move(change));
  for (const auto state : {core::State::dead, core::State::succeeded}) {
    (void)tell(*opened.writer, ports::Purge{.state = state, .ended_before = kStart + 1s});
  }
  // Numbers given, the owner, who waits, and what this process was told last.
  std::vector<std::string> left;
  for (const auto& key : server_.ask({"KEYS", "*"}).parts) {
    if (!key.text.starts_with("{hf}y")) left.push_back(key.text);
  }
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("{hf}m", "{hf}o", "{hf}O", "{hf}l"));
}

}  // namespace
}  // namespace holdfast::stores::redis::store_test
