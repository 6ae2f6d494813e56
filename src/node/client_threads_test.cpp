#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/client.hpp>

#include "node/node_testing.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::client_threads_test {
namespace {

using namespace std::chrono_literals;
using node::testing::memory_url;

TEST(Client, finds_what_it_has_handed_in) {
  Client client(memory_url());
  const auto id = client.submit({.type = "mail.send",
                                 .queue = "mail",
                                 .payload = "ann",
                                 .priority = 3,
                                 .key = "welcome:ann",
                                 .trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
                                          "-01",
                                 .retry_on_failure = true});
  ASSERT_TRUE(id) << id.error().text();
  const auto info = client.find(*id);
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_EQ(info->id, *id);
  EXPECT_EQ(info->type, "mail.send");
  EXPECT_EQ(info->queue, "mail");
  EXPECT_EQ(info->payload, "ann");
  EXPECT_EQ(info->key, "welcome:ann");
  EXPECT_EQ(info->priority, 3);
  EXPECT_EQ(info->trace, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  EXPECT_TRUE(info->retry_on_failure);
  EXPECT_EQ(info->state, TaskState::pending);
}

TEST(Client, the_same_key_is_the_same_task_or_a_conflict) {
  Client client(memory_url());
  const Submission once{.type = "t", .payload = "a", .key = "k"};
  const auto first = client.submit(once);
  EXPECT_EQ(client.submit(once).value(), first.value());
  const auto other = client.submit({.type = "t", .payload = "b", .key = "k"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
}

TEST(Client, answers_for_each_of_many_by_itself) {
  Client client(memory_url());
  std::vector<Submission> many(1000, Submission{.type = "t"});
  many[7].type = "";
  const auto answers = client.submit(many);
  ASSERT_TRUE(answers) << answers.error().text();
  ASSERT_EQ(answers->size(), 1000U);
  EXPECT_EQ((*answers)[7].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(std::ranges::count_if(*answers, [](const auto& one) { return one.has_value(); }), 999);
  EXPECT_EQ(client.counts()->front().count(TaskState::pending), 999U);
}

TEST(Client, says_what_it_does_not_find) {
  Client client(memory_url());
  const auto found = client.find(TaskId());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_EQ(client.cancel(TaskId()).error().code, ErrorCode::not_found);
}

TEST(Client, cancels_only_once) {
  Client client(memory_url());
  const TaskId id = client.submit({.type = "t"}).value();
  EXPECT_TRUE(client.cancel(id));
  EXPECT_EQ(client.find(id)->state, TaskState::canceled);
  EXPECT_EQ(client.cancel(id).error().code, ErrorCode::conflict);
  EXPECT_EQ(client.replay(id).error().code, ErrorCode::conflict);
  EXPECT_EQ(client.discard(id).error().code, ErrorCode::conflict);
}

TEST(Client, waits_no_longer_than_it_is_told) {
  Client client(memory_url());
  const TaskId id = client.submit({.type = "t"}).value();
  const auto waited = client.wait(id, 3ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::timeout);
  EXPECT_EQ(waited.error().message, "task " + id.text() + " is still pending");
}

TEST(Client, sets_up_queues) {
  Client client(memory_url());
  EXPECT_TRUE(client.pause("q"));
  EXPECT_TRUE(client.limit("q", 3));
  EXPECT_TRUE(client.counts()->front().paused);
  EXPECT_EQ(client.counts()->front().concurrency, 3);
  EXPECT_TRUE(client.resume("q"));
  EXPECT_FALSE(client.counts()->front().paused);
  EXPECT_EQ(client.limit("q", -1).error().code, ErrorCode::invalid_argument);
}

TEST(Client, lists_page_by_page) {
  Client client(memory_url());
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(client.submit({.type = "t"}));
  std::size_t seen = 0;
  TaskFilter filter{.state = TaskState::pending, .limit = 2};
  do {
    const auto page = client.list(filter);
    ASSERT_TRUE(page) << page.error().text();
    seen += page->tasks.size();
    filter.cursor = page->next;
  } while (!filter.cursor.empty());
  EXPECT_EQ(seen, 5U);
}

TEST(Client, an_error_of_opening_comes_from_the_first_call_and_from_the_next) {
  Client client("amqp://nowhere");
  EXPECT_EQ(client.open().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(client.submit({.type = "t"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(client.counts().error().code, ErrorCode::invalid_argument);
}

TEST(Client, all_of_a_process_share_one_store) {
  const std::string url = memory_url();
  Client first(url);
  const TaskId id = first.submit({.type = "t"}).value();
  Client second(url);
  EXPECT_TRUE(second.find(id));
  first = Client(memory_url());
  EXPECT_TRUE(second.find(id)) << "it is open as long as one of them is";
  second = first;
  EXPECT_FALSE(Client(url).find(id)) << "what is in memory goes with the last";
}

TEST(Client, can_be_used_by_many_threads_at_once) {
  const std::string url = memory_url();
  Client shared(url);
  ASSERT_TRUE(shared.open());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Client own(url);
      for (int n = 0; n < 50; ++n) {
        EXPECT_TRUE(shared.submit({.type = "t"}));
        EXPECT_TRUE(own.submit({.type = "t"}));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(shared.counts()->front().count(TaskState::pending), 400U);
}

TEST(Client, a_store_can_be_opened_while_its_last_user_closes_it) {
  const testing::TemporaryFolder folder;
  const std::string url = "sqlite:" + (folder / "tasks.db");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) {
        const auto id = Client(url).submit({.type = "t"});
        EXPECT_TRUE(id) << id.error().text();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(Client(url).counts()->front().count(TaskState::pending), 15U);
}

}  // namespace
}  // namespace holdfast::client_threads_test
