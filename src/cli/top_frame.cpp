#include "cli/top_frame.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "cli/top_lines.hpp"
#include "core/time_text.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using wire::QueueNow;

constexpr std::size_t kMostNews = 3;

std::string clock_text(WallTime time) {
  std::string text;
  append_time_of_day(text, time);
  return text.substr(0, 8) + " UTC";
}

Line title(const View& view, const Snapshot& snapshot, std::size_t columns) {
  std::string right = clock_text(snapshot.time);
  if (snapshot.is_server) {
    right = fmt::format("up {}  v{}  {}", short_age(snapshot.stats.uptime),
                        visible(snapshot.stats.version), right);
  }
  LineBuilder line(columns);
  line.add(" holdfast top ", Look::heading);
  const std::size_t room = line.room() - std::min(line.room(), columns_of(right) + 3);
  line.add(" ").add(cut(visible(snapshot.where), room),
                    view.trouble.empty() ? Look::accent : Look::bad);
  return line.flush_right(columns_of(right) + 1).add(right, Look::faint).line();
}

Line counts(const QueueNow& all, std::size_t columns) {
  LineBuilder line(columns);
  const auto one = [&](std::string_view name, std::uint64_t count, Look look) {
    line.add(fmt::format(" {} ", name), Look::faint);
    line.add(short_number(count, 11), count > 0 ? look : Look::faint).add("  ");
  };
  one("waiting", all.waiting(), Look::strong);
  one("running", all.count(TaskState::running), Look::good);
  one("retrying", all.count(TaskState::retrying), Look::waiting);
  one("failed", all.count(TaskState::failed), Look::bad);
  one("dead", all.count(TaskState::dead), Look::bad);
  return line.line();
}

Line rates(const View& view, const Snapshot& snapshot, const QueueNow& all, std::size_t columns) {
  LineBuilder line(columns);
  if (!snapshot.is_server) {
    return line
        .add(" No server was asked: what is kept is counted, and nothing else is known.",
             Look::faint)
        .line();
  }
  const auto one = [&](std::string_view name, double rate, Look look) {
    line.add(fmt::format(" {} ", name), Look::faint);
    line.add(short_rate(rate), rate > 0 ? look : Look::faint).add(" ");
  };
  const wire::RatesNow now = all.rates.value_or(wire::RatesNow());
  line.add(" per second: ", Look::faint);
  one("done", now.succeeded, Look::good);
  one("retried", now.retried, Look::waiting);
  one("failed", now.failed, Look::bad);
  one("dead", now.dead, Look::bad);
  const std::vector<double> done(view.done.begin(), view.done.end());
  if (line.room() < 6 || done.size() < 2) return line.line();
  const std::string past = sparkline(done, std::min<std::size_t>(line.room() - 2, 40));
  return line.flush_right(columns_of(past) + 1).add(past, Look::good).line();
}

// What somebody should know, the most important first.
Frame news(const View& view, const Snapshot& snapshot, std::size_t columns) {
  Frame lines;
  const auto add = [&](std::string_view mark, std::string_view text, Look look) {
    lines.push_back(LineBuilder(columns).add(mark, look).add(visible(text), look).line());
  };
  if (!view.trouble.empty()) add(" ✗ ", view.trouble, Look::bad);
  for (const wire::AlertNow& alert : snapshot.stats.alerts)
    add(" ▲ ", alert.text.empty() ? alert.alert : alert.text, Look::bad);
  for (const wire::BrokerNow& broker : snapshot.stats.brokers) {
    if (!broker.text.empty()) add(" ▲ ", broker.text, Look::bad);
  }
  for (const wire::BreakerNow& breaker : snapshot.stats.breakers) {
    if (breaker.state == "closed") continue;
    add(" ◆ ", fmt::format("the breaker of {} is {}", breaker.dependency, breaker.state),
        Look::waiting);
  }
  for (const wire::ExpiringNow& expiring : snapshot.stats.expiring) {
    const Duration left = std::max<Duration>(expiring.from - snapshot.time, 0s);
    add(" ◷ ",
        fmt::format("{} {} tasks will be removed, from {} on", grouped(expiring.count),
                    to_string(expiring.state),
                    left > 0s ? "in " + short_age(left) : std::string("now")),
        Look::waiting);
  }
  if (lines.size() > kMostNews) {
    const std::size_t more = lines.size() - kMostNews + 1;
    lines.resize(kMostNews - 1);
    lines.push_back(
        LineBuilder(columns).add(fmt::format("   and {} more", more), Look::bad).line());
  }
  return lines;
}

// So many rows for each of two lists that share what there is.
std::pair<std::size_t, std::size_t> shared(std::size_t rows, std::size_t first,
                                           std::size_t second) {
  if (first + second <= rows) return {first, second};
  const std::size_t half = rows / 2;
  if (first <= half) return {first, rows - first};
  if (second <= rows - half) return {rows - second, second};
  return {half, rows - half};
}

void append(Frame& frame, Frame more) {
  std::ranges::move(more, std::back_inserter(frame));
}

}  // namespace

Frame draw(const View& view, const Snapshot& snapshot, FrameSize size) {
  const bool keys = size.rows > 0;
  const std::size_t columns = std::max<std::size_t>(size.columns, 20);
  const QueueNow all = snapshot.totals();
  Frame frame;
  frame.push_back(title(view, snapshot, columns));
  frame.push_back(counts(all, columns));
  frame.push_back(rates(view, snapshot, all, columns));
  append(frame, news(view, snapshot, columns));
  Frame end = keys ? key_lines(view, columns) : Frame();
  const std::size_t queues = std::max<std::size_t>(shown_queues(view, snapshot).size(), 1);
  const std::size_t groups = std::max<std::size_t>(shown_groups(view, snapshot).size(), 1);
  if (view.helps && keys) {
    append(frame, help_lines(columns));
  } else {
    Frame operations = operation_lines(snapshot, columns);
    const std::size_t taken = frame.size() + operations.size() + end.size() + 4;
    const std::size_t left = !keys ? queues + groups : size.rows > taken ? size.rows - taken : 2;
    const auto [of_queues, of_groups] = shared(left, queues, groups);
    append(frame, queue_lines(view, snapshot, columns, of_queues, keys));
    append(frame, group_lines(view, snapshot, columns, of_groups, keys));
    append(frame, std::move(operations));
  }
  if (!keys) return frame;
  const std::size_t body = size.rows > end.size() ? size.rows - end.size() : 0;
  frame.resize(body);
  append(frame, std::move(end));
  frame.resize(size.rows);
  return frame;
}

}  // namespace holdfast::cli
