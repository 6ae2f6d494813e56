#include "cli/top_frame.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_columns.hpp"
#include "cli/top_testing.hpp"

namespace holdfast::cli::top_frame_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::some;

std::string text_of(const View& view, const Snapshot& snapshot, FrameSize size) {
  return plain_text(draw(view, snapshot, size));
}

std::string line_with(const std::string& text, std::string_view part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.contains(part)) return line;
  return "";
}

std::size_t column_of(const std::string& line, std::string_view part) {
  return columns_of(std::string_view(line).substr(0, line.find(part)));
}

// Where it ends: columns of numbers do so together.
std::size_t end_of(const std::string& line, std::string_view part) {
  return column_of(line, part) + columns_of(part);
}

void expect_fits(const Frame& frame, FrameSize size) {
  EXPECT_EQ(frame.size(), size.rows);
  for (const Line& line : frame) {
    std::string text;
    for (const Piece& piece : line.pieces)
      text += piece.text;
    EXPECT_LE(columns_of(text), size.columns) << text;
    EXPECT_EQ(text.find_first_of("\n\r\x1b"), std::string::npos) << text;
  }
}

TEST(TopFrame, fits_every_screen) {
  Snapshot snapshot = some();
  for (int i = 0; i < 40; ++i) {
    snapshot.stats.queues.push_back(
        testing::queue("queue-" + std::string(static_cast<std::size_t>(i), 'x'), 1ULL << i, 3));
    snapshot.groups.push_back(testing::group("00000000000000" + std::to_string(10 + i), 5,
                                             "世界\x1b[2J\n" + std::string(200, 'e')));
  }
  snapshot.stats.alerts = {
      {"retry_rate", std::string(300, 'a')}, {"b", "b"}, {"c", "c"}, {"d", "d"}};
  View asking;
  asking.question = View::Question{.group = snapshot.groups[0], .has_canary = true, .canary = true};
  View typing;
  typing.is_typing = true;
  typing.filter = "世界";
  View helping;
  helping.helps = true;
  View noticing;
  noticing.notice = {std::string(300, 'n'), true};
  noticing.trouble = std::string(300, 't');
  noticing.pane = Pane::groups;
  for (const View& view : {View(), asking, typing, helping, noticing}) {
    for (const std::size_t columns : {20, 79, 80, 103, 104, 250}) {
      for (const std::size_t rows : {1, 5, 24, 100}) {
        const FrameSize size{columns, rows};
        expect_fits(draw(view, snapshot, size), size);
      }
    }
  }
}

TEST(TopFrame, shows_queues_groups_and_operations_in_80_columns) {
  const std::string text = text_of({}, some(), {80, 24});
  EXPECT_THAT(text, HasSubstr("http://127.0.0.1:8080"));
  EXPECT_THAT(text, HasSubstr("up 1d  v0.1.0  03:00:00 UTC"));
  EXPECT_THAT(line_with(text, "waiting "), HasSubstr("waiting 1,246   running 5"));
  EXPECT_THAT(line_with(text, "dead 119,764"), Not(HasSubstr("…")));
  EXPECT_THAT(line_with(text, "per second"), HasSubstr("done 20.2"));
  const std::string heads = line_with(text, "RUNNING");
  const std::string mail = line_with(text, " mail ");
  EXPECT_THAT(mail, HasSubstr("▸ mail"));
  EXPECT_EQ(end_of(mail, "1,234"), end_of(heads, "WAITING"));
  EXPECT_EQ(end_of(mail, "16.2"), end_of(heads, "DONE/S"));
  EXPECT_EQ(end_of(mail, "1m05"), end_of(heads, "OLDEST"));
  EXPECT_EQ(columns_of(mail), 80U);
  EXPECT_THAT(line_with(text, "reports"), HasSubstr("paused"));
  EXPECT_EQ(end_of(line_with(text, "reports"), "119,762"), end_of(heads, "  DEAD"));
  EXPECT_THAT(line_with(text, "connection refused"), HasSubstr("119,762 ██████ dead"));
  EXPECT_THAT(line_with(text, "connection refused"), HasSubstr("3m00"));
  EXPECT_THAT(line_with(text, "no such customer"), HasSubstr("failed"));
  EXPECT_THAT(line_with(text, "running  ▕"),
              HasSubstr("62%     1,240/2,000  ✓ 1,200  ✗ 40  group:"));
  EXPECT_THAT(text, Not(HasSubstr("queue:old"))) << "it has ended";
  EXPECT_THAT(text, HasSubstr("Tab dead letters"));
  EXPECT_THAT(text, HasSubstr("q quit"));
}

TEST(TopFrame, shows_more_where_there_is_more_room) {
  Snapshot snapshot = some();
  snapshot.groups[0].trend.assign(24, 0);
  snapshot.groups[0].trend[22] = 7;
  snapshot.groups[0].trend[23] = 3;
  const std::string text = text_of({}, snapshot, {120, 40});
  const std::string heads = line_with(text, "RUNNING");
  EXPECT_THAT(heads, HasSubstr("RETRYING"));
  EXPECT_THAT(heads, HasSubstr("FAILED"));
  EXPECT_EQ(end_of(line_with(text, " mail "), "1,234"), end_of(heads, "WAITING"));
  const std::string group = line_with(text, "connection refused");
  EXPECT_THAT(group, HasSubstr("92ab5f0c11d3e844"));
  EXPECT_THAT(group, HasSubstr("▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█▄"));
  EXPECT_EQ(column_of(line_with(text, "no such customer"), "no such"),
            column_of(group, "dial tcp"));
}

TEST(TopFrame, leaves_out_what_has_no_room) {
  const std::string text = text_of({}, some(), {60, 24});
  EXPECT_THAT(line_with(text, "RUNNING"), Not(HasSubstr("DONE/S")));
  EXPECT_EQ(end_of(line_with(text, "reports"), "119,762"),
            end_of(line_with(text, "RUNNING"), "DEAD"));
  EXPECT_THAT(text, HasSubstr("? help  q quit"));
  EXPECT_THAT(text, HasSubstr("p pause"));
}

TEST(TopFrame, keeps_the_selected_one_in_sight) {
  Snapshot snapshot = some();
  snapshot.stats.queues.clear();
  for (int i = 100; i < 200; ++i)
    snapshot.stats.queues.push_back(testing::queue("queue-" + std::to_string(i), 1));
  View view;
  for (const char* name : {"queue-100", "queue-150", "queue-199"}) {
    view.queue = name;
    EXPECT_THAT(text_of(view, snapshot, {80, 24}), HasSubstr("▸ " + std::string(name)));
  }
}

TEST(TopFrame, says_which_broker_cannot_be_used) {
  Snapshot snapshot = some();
  snapshot.stats.brokers = {{"SQS", ""}, {"RabbitMQ at mq", "RabbitMQ at mq is not reachable"}};
  const std::string text = text_of({}, snapshot, {80, 24});
  EXPECT_THAT(text, HasSubstr("▲ RabbitMQ at mq is not reachable"));
  EXPECT_THAT(text, Not(HasSubstr("SQS")));
}

TEST(TopFrame, says_what_somebody_should_know) {
  Snapshot snapshot = some();
  snapshot.stats.alerts = {{"retry_rate", "35% of attempts are retried"}};
  snapshot.stats.breakers = {{"smtp", "open"}, {"api", "closed"}};
  snapshot.stats.expiring = {{TaskState::dead, 17, testing::kNow + 2h}};
  std::string text = text_of({}, snapshot, {80, 24});
  EXPECT_THAT(text, HasSubstr("▲ 35% of attempts are retried"));
  EXPECT_THAT(text, HasSubstr("the breaker of smtp is open"));
  EXPECT_THAT(text, Not(HasSubstr("api")));
  EXPECT_THAT(text, HasSubstr("17 dead tasks will be removed, from in 2h00 on"));
  View view;
  view.trouble = "stats: connection refused";
  text = text_of(view, snapshot, {80, 24});
  EXPECT_THAT(text, HasSubstr("✗ stats: connection refused"));
  EXPECT_THAT(text, HasSubstr("and 2 more"));
}

TEST(TopFrame, asks_how_many_are_to_be_replayed) {
  View view;
  view.pane = Pane::groups;
  const Snapshot snapshot = some();
  view.question = View::Question{.group = snapshot.groups[0], .has_canary = true, .canary = true};
  std::string text = text_of(view, snapshot, {80, 24});
  EXPECT_THAT(text, HasSubstr("Replay 119,762 dead tasks of group 92ab5f0c11d3e844?"));
  EXPECT_THAT(text, HasSubstr("canary: on (1 first, then 10, then the rest)"));
  view.question->has_canary = view.question->canary = false;
  text = text_of(view, snapshot, {80, 24});
  EXPECT_THAT(text, HasSubstr("all of them at once"));
  EXPECT_THAT(text, Not(HasSubstr("canary")));
}

TEST(TopFrame, of_a_store_shows_what_is_known) {
  Snapshot snapshot = some();
  snapshot.is_server = false;
  snapshot.operations.reset();
  for (auto& queue : snapshot.stats.queues)
    queue.rates.reset();
  const std::string text = text_of({}, snapshot, {80, 0});
  EXPECT_THAT(text, HasSubstr("No server was asked"));
  EXPECT_THAT(text, Not(HasSubstr("OPERATIONS")));
  EXPECT_THAT(text, Not(HasSubstr("quit"))) << "there are no keys";
  EXPECT_THAT(text, Not(HasSubstr("▸")));
  EXPECT_THAT(line_with(text, " mail "), HasSubstr("–"));
}

TEST(TopFrame, of_nothing_says_so) {
  const std::string text = text_of({}, {}, {80, 0});
  EXPECT_THAT(text, HasSubstr("No queue has a task."));
  EXPECT_THAT(text, HasSubstr("None. Nothing is dead or failed."));
}

TEST(TopFrame, leaves_nothing_that_a_terminal_would_obey) {
  Snapshot snapshot = some();
  snapshot.groups[0].example = "\x1b[2Jplanted\x1b]0;title\x07";
  snapshot.stats.queues[0].name = "a\x1b[31mb";
  snapshot.where = "http://\x1b[5m";
  for (const Line& line : draw({}, snapshot, {200, 24}))
    for (const Piece& piece : line.pieces)
      EXPECT_EQ(piece.text.find_first_of("\x1b\x07"), std::string::npos) << piece.text;
}

TEST(Painter, writes_only_what_has_changed_and_all_of_it_at_once) {
  Painter painter(true);
  const FrameSize size{80, 24};
  Snapshot snapshot = some();
  const std::string first = painter.paint(draw({}, snapshot, size), size);
  EXPECT_TRUE(first.starts_with("\x1b[?2026h"));
  EXPECT_TRUE(first.ends_with("\x1b[?2026l"));
  EXPECT_EQ(painter.paint(draw({}, snapshot, size), size), "");
  snapshot.stats.queues[2].tasks[1] = 7;
  const std::string second = painter.paint(draw({}, snapshot, size), size);
  EXPECT_LT(second.size(), first.size() / 3);
  EXPECT_THAT(second, Not(HasSubstr("\x1b[2J")));
  EXPECT_THAT(second, HasSubstr("video"));
  EXPECT_THAT(second, Not(HasSubstr("reports")));
  painter.forget();
  EXPECT_THAT(painter.paint(draw({}, snapshot, size), size), HasSubstr("reports"));
}

TEST(Painter, has_no_colours_where_none_are_wanted) {
  const FrameSize size{80, 24};
  const std::string out = Painter(false).paint(draw({}, some(), size), size);
  for (const char* colour : {"[31m", "[32m", "[33m", "[36m", "[90m", "[1;36m"})
    EXPECT_THAT(out, Not(HasSubstr(colour)));
  EXPECT_THAT(out, HasSubstr("\x1b[7m")) << "what is selected can be seen";
}

TEST(TopMarks, are_as_long_as_they_may_be) {
  EXPECT_EQ(short_number(999, 5), "999");
  EXPECT_EQ(short_number(12'345, 6), "12,345");
  EXPECT_EQ(short_number(12'345, 5), "12.3k");
  EXPECT_EQ(short_number(999'999, 5), "1.00M");
  EXPECT_EQ(short_number(18'446'744'073'709'551'615U, 6), "18.45E");
  EXPECT_EQ(short_rate(0), "0");
  EXPECT_EQ(short_rate(0.001), "0.00");
  EXPECT_EQ(short_rate(0.25), "0.25");
  EXPECT_EQ(short_rate(16.25), "16.2");
  EXPECT_EQ(short_rate(1234.4), "1,234");
  EXPECT_EQ(short_age(250ms), "250ms");
  EXPECT_EQ(short_age(65s), "1m05");
  EXPECT_EQ(short_age(3h + 5min), "3h05");
  EXPECT_EQ(short_age(50h), "2d");
  EXPECT_EQ(bar(0, 8), "");
  EXPECT_EQ(bar(0.0001, 8), "▏");
  EXPECT_EQ(bar(0.5, 3), "█▌");
  EXPECT_EQ(bar(2, 2), "██");
  EXPECT_EQ(sparkline({0, 0, 1, 4, 8}, 4), "▁▂▅█");
  EXPECT_EQ(sparkline({}, 4), "");
  EXPECT_EQ(sparkline({0, 0}, 4), "▁▁");
}

}  // namespace
}  // namespace holdfast::cli::top_frame_test
