#include "http/event_streams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/engine_world.hpp"

namespace holdfast::http::event_streams_test {
namespace {

using engine::testing::ManualLoop;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr std::size_t kMost = std::size_t{64} << 10U;

struct EventStreamsTest : ::testing::Test {
  holdfast::testing::FakeClock clock;
  ManualLoop loop{clock};
  seeing::EventLog log{5, "life"};
  EventStreams streams{loop, log};
  int told = 0;

  std::shared_ptr<BodySource> open(EventFilter filter = {},
                                   std::optional<std::string_view> last_id = {}) {
    auto source = streams.open(std::move(filter), last_id);
    source->on_more([this] { ++told; });
    return source;
  }
  void submit(const std::string& type = "t", const std::string& queue = "q") {
    ports::NewTask task;
    task.type = type;
    task.queue = queue;
    log.submitted(TaskId(), task);
  }
  static std::string take(BodySource& source) {
    std::string out;
    EXPECT_TRUE(source.take(out, kMost));
    return out;
  }
};

TEST_F(EventStreamsTest, who_has_logged_out_is_told_nothing_more) {
  bool is_in = true;
  const auto source = streams.open({}, {}, [&] { return is_in; });
  submit("seen");
  EXPECT_THAT(take(*source), HasSubstr("seen"));
  is_in = false;
  submit("not seen");
  std::string out;
  EXPECT_FALSE(source->take(out, kMost));
  EXPECT_EQ(out, "");
}

TEST_F(EventStreamsTest, tells_what_happens_from_now_on) {
  submit("before");
  const auto source = open();
  EXPECT_EQ(take(*source), "retry: 2000\nid: life.1\n: connected\n\n");
  submit("mail.send");
  submit();
  EXPECT_EQ(told, 0) << "not while the engine is at work";
  loop.settle();
  EXPECT_EQ(told, 1) << "once for all that happened";
  const std::string events = take(*source);
  EXPECT_THAT(events, StartsWith("id: life.2\nevent: task\ndata: {\"id\":\""));
  EXPECT_THAT(events, HasSubstr(R"("type":"mail.send","queue":"q","to":"pending",)"
                                R"("event":"submit","time":")"));
  EXPECT_THAT(events, HasSubstr("}\n\nid: life.3\nevent: task\ndata: {"));
  EXPECT_THAT(events, EndsWith("}\n\n"));
  EXPECT_EQ(take(*source), "");
}

TEST_F(EventStreamsTest, goes_on_where_a_reader_has_left) {
  for (int i = 1; i <= 7; ++i)
    submit("t" + std::to_string(i));
  const std::string events = take(*open({}, "life.5"));
  EXPECT_THAT(events, StartsWith("retry: 2000\nid: life.5\n"));
  EXPECT_THAT(events, Not(HasSubstr("t5")));
  EXPECT_THAT(events, HasSubstr("t6"));
  EXPECT_THAT(events, HasSubstr("t7"));
  EXPECT_THAT(take(*open({}, "life.2")), HasSubstr("t3")) << "the oldest that is kept";
  EXPECT_THAT(take(*open({}, "life.7")), Not(HasSubstr("event:")));
}

TEST_F(EventStreamsTest, says_so_when_something_was_missed) {
  for (int i = 1; i <= 7; ++i)
    submit();
  for (const char* id : {"life.1", "life.8", "another.7", "nonsense", ""}) {
    const std::string events = take(*open({}, id));
    EXPECT_THAT(events, StartsWith("retry: 2000\nid: life.7\nevent: reset\ndata: {")) << id;
    EXPECT_THAT(events, Not(HasSubstr("event: task"))) << id;
  }
}

TEST_F(EventStreamsTest, cuts_off_a_reader_that_is_overtaken) {
  const auto slow = open();
  take(*slow);
  for (int i = 1; i <= 5; ++i)
    submit();
  std::string out;
  EXPECT_TRUE(slow->take(out, 10)) << "one at least, if it is longer than may be";
  EXPECT_THAT(out, HasSubstr("id: life.1\n"));
  for (int i = 1; i <= 5; ++i)
    submit();
  out.clear();
  EXPECT_FALSE(slow->take(out, kMost));
  EXPECT_EQ(out, "");
}

TEST_F(EventStreamsTest, tells_only_what_is_wanted) {
  const auto of_queue = open({.queue = "a"});
  const auto of_type = open({.type = "t"});
  const auto of_state = open({.state = TaskState::dead});
  for (const auto& source : {of_queue, of_type, of_state})
    take(*source);
  submit("t", "a");
  submit("u", "b");
  log.paused("a", true, {});
  log.alert(R"({"alert":"retry_rate"})", {});
  const std::string queue = take(*of_queue);
  EXPECT_THAT(queue, HasSubstr("id: life.1\n"));
  EXPECT_THAT(queue, Not(HasSubstr("id: life.2\n")));
  EXPECT_THAT(queue, HasSubstr("id: life.3\nevent: queue\ndata: {\"queue\":\"a\",\"paused\":true"));
  EXPECT_THAT(queue, HasSubstr("id: life.4\nevent: alert\ndata: {\"alert\":\"retry_rate\"}\n\n"));
  EXPECT_THAT(take(*of_type), Not(HasSubstr("id: life.2\n")));
  EXPECT_THAT(take(*of_state), StartsWith("id: life.3\n"));
}

TEST_F(EventStreamsTest, operations_are_for_those_who_want_everything) {
  const auto all = open();
  const auto of_queue = open({.queue = "a"});
  const auto of_type = open({.type = "t"});
  const auto of_state = open({.state = TaskState::dead});
  for (const auto& source : {all, of_queue, of_type, of_state})
    take(*source);
  log.operation(R"({"id":"o","state":"running"})", {});
  EXPECT_EQ(take(*all),
            "id: life.1\nevent: operation\ndata: {\"id\":\"o\",\"state\":\"running\"}\n\n");
  for (const auto& source : {of_queue, of_type, of_state})
    EXPECT_EQ(take(*source), "");
}

TEST_F(EventStreamsTest, says_now_and_then_that_it_is_still_here) {
  const auto source = open();
  take(*source);
  loop.pass(15s);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(take(*source), ": still here\n\n");
  loop.pass(15s);
  EXPECT_EQ(take(*source), ": still here\n\n");
}

TEST_F(EventStreamsTest, forgets_who_is_gone) {
  auto source = open();
  EXPECT_EQ(streams.readers(), 1U);
  submit();
  source.reset();
  EXPECT_EQ(streams.readers(), 0U);
  loop.settle();
  loop.pass(1min);
  EXPECT_EQ(told, 0);
}

TEST_F(EventStreamsTest, an_error_of_many_lines_is_one_line_of_data) {
  const auto source = open();
  take(*source);
  submit("evil\n\ndata: forged");
  EXPECT_THAT(take(*source), Not(HasSubstr("\ndata: forged")));
}

}  // namespace
}  // namespace holdfast::http::event_streams_test
