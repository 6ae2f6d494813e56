// The keys of top_lines.hpp.
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "cli/top_lines.hpp"

namespace holdfast::cli {
namespace {

using KeyAndWhat = std::pair<std::string_view, std::string_view>;

Line keys_line(std::span<const KeyAndWhat> keys, std::size_t columns) {
  LineBuilder line(columns);
  const auto width_of = [](const KeyAndWhat& one) {
    return columns_of(one.first) + columns_of(one.second) + 3;
  };
  // The last two, help and the way out, are there before all others.
  const std::span last = keys.last(2);
  const std::size_t needed = width_of(last[0]) + width_of(last[1]);
  for (const KeyAndWhat& one : keys) {
    const bool is_last = &one >= last.data();
    if (line.room() < width_of(one) + (is_last ? 0 : needed)) continue;
    line.add(" ").add(one.first, Look::key).add(" ").add(one.second, Look::faint).add(" ");
  }
  return line.line();
}

Frame question_lines(const View::Question& question, std::size_t columns) {
  const wire::GroupNow& group = question.group;
  const std::string what =
      fmt::format(" Replay {} {} {} of group {}? ", grouped(group.count), to_string(group.state),
                  group.count == 1 ? "task" : "tasks", visible(group.id));
  LineBuilder first(columns);
  first.add(what, Look::waiting).add(visible(group.example), Look::faint);
  LineBuilder second(columns);
  second.add(" y", Look::key).add(" replay them  ", Look::faint);
  second.add("n", Look::key).add(" do not  ", Look::faint);
  if (!question.has_canary) {
    second.add("all of them at once", Look::faint);
  } else {
    second.add("c", Look::key).add(" canary: ", Look::faint);
    second.add(question.canary ? "on" : "off", question.canary ? Look::good : Look::bad);
    second.add(question.canary ? " (1 first, then 10, then the rest)" : " (all of them at once)",
               Look::faint);
  }
  return {first.line(), second.line()};
}

Line typing_line(const std::string& filter, std::size_t columns) {
  LineBuilder line(columns);
  line.add(" / ", Look::key).add(visible(filter)).add("▏", Look::accent);
  return line.add("  Enter keeps it, Esc shows all", Look::faint).line();
}

Line filter_line(const std::string& filter, std::size_t columns) {
  LineBuilder line(columns);
  line.add(" only with ", Look::faint).add(visible(filter), Look::accent);
  return line.add(" in it; Esc shows all", Look::faint).line();
}

constexpr auto kQueueKeys = std::to_array<KeyAndWhat>({{"↑↓", "move"},
                                                       {"Tab", "dead letters"},
                                                       {"p", "pause"},
                                                       {"r", "resume"},
                                                       {"s", "sort"},
                                                       {"/", "filter"},
                                                       {"?", "help"},
                                                       {"q", "quit"}});
constexpr auto kGroupKeys = std::to_array<KeyAndWhat>({{"↑↓", "move"},
                                                       {"Tab", "queues"},
                                                       {"R", "replay"},
                                                       {"s", "sort"},
                                                       {"/", "filter"},
                                                       {"?", "help"},
                                                       {"q", "quit"}});
constexpr auto kHelp = std::to_array<KeyAndWhat>({
    {"↑ ↓  j k", "select the one above or below; PgUp, PgDn, Home, End: further"},
    {"Tab", "go from the queues to the groups of dead letters, and back"},
    {"p  r", "pause a queue: nothing more of it is begun; resume it"},
    {"R", "replay a group: says how many, and asks first"},
    {"y n c", "there: do it, do not, bring one back first to see how it fares"},
    {"s", "sort by something else"},
    {"/", "show only those with this in their name, error or group"},
    {"Esc", "show all again"},
    {"Space", "look at once"},
    {"Ctrl-Z", "back to the shell; fg comes here again"},
    {"q  Ctrl-C", "quit"},
});

}  // namespace

Frame key_lines(const View& view, std::size_t columns) {
  if (view.question) return question_lines(*view.question, columns);
  if (view.is_typing) return {typing_line(view.filter, columns)};
  Frame lines;
  if (!view.notice.text.empty()) {
    LineBuilder line(columns);
    line.add(" " + visible(view.notice.text), view.notice.is_bad ? Look::bad : Look::good);
    lines.push_back(line.line());
  } else if (!view.filter.empty()) {
    lines.push_back(filter_line(view.filter, columns));
  }
  const bool of_queues = view.pane == Pane::queues;
  lines.push_back(of_queues ? keys_line(kQueueKeys, columns) : keys_line(kGroupKeys, columns));
  return lines;
}

Frame help_lines(std::size_t columns) {
  Frame lines;
  lines.push_back(section_line("KEYS", "any key goes back", true, columns));
  for (const auto& [key, what] : kHelp) {
    lines.push_back(
        LineBuilder(columns).add("  ").left(key, 12, Look::key).add(what, Look::plain).line());
  }
  lines.push_back({});
  for (const std::string_view text :
       {"Bars: how many wait, and how many are in a group, beside the largest.",
        "OLDEST: how long the task that waits longest has been due.",
        "Rates are those of the last minute. What one may do is what the token may."}) {
    lines.push_back(LineBuilder(columns).add("  ").add(text, Look::faint).line());
  }
  return lines;
}

}  // namespace holdfast::cli
