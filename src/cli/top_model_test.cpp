#include "cli/top_model.hpp"

#include <gtest/gtest.h>

#include "cli/top_testing.hpp"

namespace holdfast::cli::top_model_test {
namespace {

using Kind = Key::Kind;
using testing::letter;
using testing::some;

struct Looking {
  Snapshot snapshot = some();
  View view;

  Pressed press(const Key& key) { return cli::press(view, snapshot, key); }
  Pressed press(std::string_view letters) {
    Pressed last;
    for (const char c : letters)
      last = press(letter(std::string(1, c)));
    return last;
  }
  [[nodiscard]] std::string queue() const {
    const auto shown = shown_queues(view, snapshot);
    return shown.empty() ? "" : shown[selected_queue(view, shown)]->name;
  }
  [[nodiscard]] std::string group() const {
    const auto shown = shown_groups(view, snapshot);
    return shown.empty() ? "" : shown[selected_group(view, shown)]->id;
  }
};

TEST(TopModel, moves_up_and_down_and_no_further) {
  Looking at;
  EXPECT_EQ(at.queue(), "mail");
  at.press("j");
  EXPECT_EQ(at.queue(), "reports");
  at.press({Kind::down});
  at.press({Kind::down});
  EXPECT_EQ(at.queue(), "video");
  at.press("k");
  EXPECT_EQ(at.queue(), "reports");
  at.press({Kind::home});
  at.press({Kind::up});
  EXPECT_EQ(at.queue(), "mail");
  at.press("G");
  EXPECT_EQ(at.queue(), "video");
  at.press({Kind::page_up});
  EXPECT_EQ(at.queue(), "mail");
}

TEST(TopModel, stays_with_what_is_selected_when_others_come_and_go) {
  Looking at;
  at.press("j");
  at.snapshot.stats.queues.insert(at.snapshot.stats.queues.begin(), testing::queue("aaa", 1));
  EXPECT_EQ(at.queue(), "reports");
  std::erase_if(at.snapshot.stats.queues,
                [](const auto& queue) { return queue.name == "reports"; });
  EXPECT_EQ(at.queue(), "aaa");
  at.snapshot.stats.queues.clear();
  at.press("jkG");
  EXPECT_EQ(at.queue(), "");
}

TEST(TopModel, pauses_and_resumes_the_selected_queue) {
  Looking at;
  EXPECT_EQ(at.press("p").action, (Action{.what = Action::What::pause, .queue = "mail"}));
  EXPECT_FALSE(at.press("r").action) << "it is not paused";
  EXPECT_EQ(at.view.notice.text, "mail is not paused already.");
  at.press("j");
  EXPECT_FALSE(at.press("p").action);
  EXPECT_EQ(at.press("r").action, (Action{.what = Action::What::resume, .queue = "reports"}));
  at.press({Kind::tab});
  EXPECT_FALSE(at.press("p").action);
  EXPECT_TRUE(at.view.notice.is_bad);
}

TEST(TopModel, asks_before_it_replays_a_group) {
  Looking at;
  at.press("R");
  EXPECT_FALSE(at.view.question) << "no group is selected";
  at.press({Kind::tab});
  EXPECT_EQ(at.group(), "92ab5f0c11d3e844");
  EXPECT_FALSE(at.press("R").action);
  ASSERT_TRUE(at.view.question);
  EXPECT_EQ(at.view.question->group.count, 119'762U);
  EXPECT_FALSE(at.press("xj").action);
  EXPECT_TRUE(at.view.question) << "that is no answer";
  const auto pressed = at.press("y");
  EXPECT_EQ(pressed.action,
            (Action{.what = Action::What::replay, .group = at.snapshot.groups[0], .canary = true}));
  EXPECT_FALSE(at.view.question);
}

TEST(TopModel, replays_nothing_unless_somebody_agrees) {
  for (const Key& key :
       {letter("n"), letter("N"), letter("q"), Key{Kind::escape}, Key{Kind::enter}}) {
    Looking at;
    at.press({Kind::tab});
    at.press("R");
    const auto pressed = at.press(key);
    EXPECT_FALSE(pressed.action);
    EXPECT_FALSE(pressed.quits);
    EXPECT_FALSE(at.view.question);
  }
}

TEST(TopModel, has_a_canary_where_the_server_has_one) {
  Looking at;
  at.press({Kind::tab});
  at.press("Rc");
  EXPECT_FALSE(at.view.question->canary);
  EXPECT_FALSE(at.press("y").action->canary);
  at.snapshot.operations.reset();
  at.press("R");
  EXPECT_FALSE(at.view.question->has_canary);
  at.press("c");
  EXPECT_FALSE(at.press("y").action->canary);
}

TEST(TopModel, replays_as_many_as_somebody_agreed_to) {
  Looking at;
  at.press({Kind::tab});
  at.press("R");
  at.snapshot.groups[0].count = 1'000'000;
  EXPECT_EQ(at.press("y").action->group.count, 119'762U);
}

TEST(TopModel, filters_by_what_is_typed) {
  Looking at;
  at.press("/RE");
  EXPECT_TRUE(at.view.is_typing);
  EXPECT_EQ(at.queue(), "reports");
  EXPECT_EQ(shown_queues(at.view, at.snapshot).size(), 1U);
  EXPECT_EQ(shown_groups(at.view, at.snapshot).size(), 1U) << "refused";
  EXPECT_FALSE(at.press("q").quits) << "a letter like any other";
  at.press({Kind::backspace});
  at.press({Kind::text, "é"});
  at.press({Kind::backspace});
  at.press({Kind::enter});
  EXPECT_EQ(at.view.filter, "RE");
  EXPECT_EQ(at.press("r").action->queue, "reports");
  at.press({Kind::escape});
  EXPECT_EQ(shown_queues(at.view, at.snapshot).size(), 3U);
}

TEST(TopModel, sorts) {
  Looking at;
  at.press("s");
  EXPECT_EQ(at.view.queue_sort, QueueSort::waiting);
  EXPECT_EQ(shown_queues(at.view, at.snapshot)[0]->name, "mail");
  at.view.queue_sort = QueueSort::dead;
  EXPECT_EQ(shown_queues(at.view, at.snapshot)[0]->name, "reports");
  EXPECT_EQ(shown_queues(at.view, at.snapshot)[1]->name, "mail");
  at.press("ss");
  EXPECT_EQ(at.view.queue_sort, QueueSort::name);
  at.press({Kind::tab});
  at.press("s");
  EXPECT_EQ(at.view.group_sort, GroupSort::count);
  at.press("s");
  EXPECT_EQ(at.view.group_sort, GroupSort::latest);
}

TEST(TopModel, helps_and_quits) {
  Looking at;
  at.press("?");
  EXPECT_TRUE(at.view.helps);
  EXPECT_FALSE(at.press("p").action) << "any key goes back";
  EXPECT_FALSE(at.view.helps);
  EXPECT_TRUE(at.press(" ").looks);
  EXPECT_TRUE(at.press("q").quits);
}

TEST(TopModel, remembers_how_much_was_done) {
  Looking at;
  at.view.trouble = "connection refused";
  for (int i = 0; i < 1000; ++i)
    renew(at.view, at.snapshot);
  EXPECT_EQ(at.view.trouble, "");
  EXPECT_EQ(at.view.done.size(), 300U);
  EXPECT_DOUBLE_EQ(at.view.done.back(), 20.25);
}

TEST(TopModel, is_written_as_json) {
  std::string out;
  wire::JsonWriter writer(out);
  write(writer, some());
  EXPECT_TRUE(out.starts_with(R"({"where":"http://127.0.0.1:8080","time":"2026-11-17T03:00:00)"));
  EXPECT_TRUE(out.contains(R"("queues":[{"name":"mail","paused":false,"tasks":{"pending":1234,)"));
  EXPECT_TRUE(out.contains(R"("groups":[{"id":"92ab5f0c11d3e844","state":"dead","count":119762,)"));
  EXPECT_TRUE(out.contains(R"("operations":[{"id":"01J1",)"));
}

}  // namespace
}  // namespace holdfast::cli::top_model_test
