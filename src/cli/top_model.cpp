#include "cli/top_model.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/text_columns.hpp"

namespace holdfast::cli {
namespace {

using wire::GroupNow;
using wire::QueueNow;

constexpr int kRowsPerPage = 10;
constexpr std::size_t kMostDone = 300;

std::string key_of(const GroupNow& group) {
  return group.id + " " + std::string(to_string(group.state));
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return out;
}

bool has(std::string_view text, const std::string& lower_part) {
  return lower(text).find(lower_part) != std::string::npos;
}

double done_of(const QueueNow& queue) {
  return queue.rates ? queue.rates->succeeded : 0;
}

// What a queue has the more of, the sooner it comes; nothing: only their names count.
double weight_of(const QueueNow& queue, QueueSort by) {
  switch (by) {
    case QueueSort::name: return 0;
    case QueueSort::waiting: return static_cast<double>(queue.waiting());
    case QueueSort::running: return static_cast<double>(queue.count(TaskState::running));
    case QueueSort::done: return done_of(queue);
    case QueueSort::dead: return static_cast<double>(queue.count(TaskState::dead));
    case QueueSort::oldest: return std::chrono::duration<double>(queue.oldest_due_age).count();
  }
  return 0;
}

void move(View& view, const Snapshot& snapshot, std::ptrdiff_t by) {
  const auto place = [&](std::size_t at, std::size_t size) {
    return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
        static_cast<std::ptrdiff_t>(at) + by, 0, static_cast<std::ptrdiff_t>(size) - 1));
  };
  if (view.pane == Pane::queues) {
    const auto shown = shown_queues(view, snapshot);
    if (shown.empty()) return;
    view.queue = shown[place(selected_queue(view, shown), shown.size())]->name;
  } else {
    const auto shown = shown_groups(view, snapshot);
    if (shown.empty()) return;
    view.group = key_of(*shown[place(selected_group(view, shown), shown.size())]);
  }
}

void say(View& view, std::string text, bool is_bad = false) {
  view.notice = {.text = std::move(text), .is_bad = is_bad};
}

void type(View& view, const Key& key) {
  switch (key.kind) {
    case Key::Kind::enter: view.is_typing = false; return;
    case Key::Kind::escape:
      view.is_typing = false;
      view.filter.clear();
      return;
    case Key::Kind::backspace:
      while (!view.filter.empty() &&
             (static_cast<unsigned char>(view.filter.back()) & 0xC0) == 0x80)
        view.filter.pop_back();
      if (!view.filter.empty()) view.filter.pop_back();
      return;
    case Key::Kind::text:
      if (columns_of(view.filter) < 40) view.filter += key.text;
      return;
    default: return;
  }
}

Pressed answer(View& view, const Key& key) {
  View::Question& question = *view.question;
  if (key.text == "c" && question.has_canary) {
    question.canary = !question.canary;
    return {};
  }
  const bool agrees = key.text == "y" || key.text == "Y";
  const bool refuses = key.text == "n" || key.text == "N" || key.text == "q" ||
                       key.kind == Key::Kind::escape || key.kind == Key::Kind::enter;
  if (!agrees && !refuses) return {};
  Pressed pressed;
  if (agrees) {
    pressed.action =
        Action{.what = Action::What::replay, .group = question.group, .canary = question.canary};
    say(view, "Asking for it …");
  } else {
    say(view, "Nothing was replayed.");
  }
  view.question.reset();
  return pressed;
}

Pressed set_paused(View& view, const Snapshot& snapshot, bool paused) {
  const auto shown = shown_queues(view, snapshot);
  if (view.pane != Pane::queues || shown.empty()) {
    say(view, "p and r pause and resume a queue: Tab goes to them.", true);
    return {};
  }
  const QueueNow& queue = *shown[selected_queue(view, shown)];
  if (queue.paused == paused) {
    say(view, fmt::format("{} is {} already.", queue.name, paused ? "paused" : "not paused"));
    return {};
  }
  return {.action = Action{.what = paused ? Action::What::pause : Action::What::resume,
                           .queue = queue.name}};
}

void ask(View& view, const Snapshot& snapshot) {
  const auto shown = shown_groups(view, snapshot);
  if (view.pane != Pane::groups || shown.empty()) {
    return say(view, "R replays a group of dead letters: Tab goes to them.", true);
  }
  const bool has_canary = snapshot.operations.has_value();
  view.question = View::Question{
      .group = *shown[selected_group(view, shown)], .has_canary = has_canary, .canary = has_canary};
}

template <class Sort>
void next(Sort& sort, Sort last) {
  sort = sort == last ? Sort{} : static_cast<Sort>(static_cast<int>(sort) + 1);
}

Pressed press_letter(View& view, const Snapshot& snapshot, std::string_view letter) {
  if (letter == "q") return {.quits = true};
  if (letter == "j") move(view, snapshot, 1);
  if (letter == "k") move(view, snapshot, -1);
  if (letter == "g") move(view, snapshot, -1'000'000);
  if (letter == "G") move(view, snapshot, 1'000'000);
  if (letter == "?" || letter == "h") view.helps = true;
  if (letter == "/") view.is_typing = true;
  if (letter == " ") return {.looks = true};
  if (letter == "p") return set_paused(view, snapshot, true);
  if (letter == "r") return set_paused(view, snapshot, false);
  if (letter == "R") ask(view, snapshot);
  if (letter == "s" && view.pane == Pane::queues) next(view.queue_sort, QueueSort::oldest);
  if (letter == "s" && view.pane == Pane::groups) next(view.group_sort, GroupSort::count);
  return {};
}

}  // namespace

QueueNow Snapshot::totals() const {
  QueueNow all;
  for (const QueueNow& queue : stats.queues) {
    for (std::size_t i = 0; i < all.tasks.size(); ++i)
      all.tasks[i] += queue.tasks[i];
    all.oldest_due_age = std::max(all.oldest_due_age, queue.oldest_due_age);
    if (!queue.rates) continue;
    if (!all.rates) all.rates.emplace();
    *all.rates += *queue.rates;
  }
  return all;
}

void write(wire::JsonWriter& writer, const Snapshot& snapshot) {
  writer.begin_object().key("where").text(snapshot.where).key("time").time(snapshot.time);
  if (snapshot.is_server) {
    writer.key("version").text(snapshot.stats.version).key("uptime_seconds");
    writer.number(std::chrono::duration<double>(snapshot.stats.uptime).count());
  }
  const auto list = [&](std::string_view name, const auto& all) {
    writer.key(name).begin_array();
    for (const auto& one : all)
      write(writer, one);
    writer.end_array();
  };
  list("queues", snapshot.stats.queues);
  list("groups", snapshot.groups);
  if (snapshot.operations) list("operations", *snapshot.operations);
  if (snapshot.is_server) {
    writer.key("alerts").begin_array();
    for (const wire::AlertNow& alert : snapshot.stats.alerts) {
      writer.begin_object().key("alert").text(alert.alert);
      writer.key("text").text(alert.text).end_object();
    }
    writer.end_array();
    writer.key("brokers").begin_array();
    for (const wire::BrokerNow& broker : snapshot.stats.brokers) {
      writer.begin_object().key("name").text(broker.name);
      if (!broker.text.empty()) writer.key("text").text(broker.text);
      writer.end_object();
    }
    writer.end_array();
    list("expiring", snapshot.stats.expiring);
  }
  writer.end_object();
}

std::string_view to_string(QueueSort sort) noexcept {
  switch (sort) {
    case QueueSort::name: return "name";
    case QueueSort::waiting: return "waiting";
    case QueueSort::running: return "running";
    case QueueSort::done: return "done";
    case QueueSort::dead: return "dead";
    case QueueSort::oldest: return "oldest";
  }
  return "";
}

std::string_view to_string(GroupSort sort) noexcept {
  return sort == GroupSort::latest ? "latest" : "count";
}

std::vector<const QueueNow*> shown_queues(const View& view, const Snapshot& snapshot) {
  const std::string part = lower(view.filter);
  std::vector<const QueueNow*> shown;
  for (const QueueNow& queue : snapshot.stats.queues) {
    if (has(queue.name, part)) shown.push_back(&queue);
  }
  std::ranges::sort(shown, {}, [&](const QueueNow* queue) {
    return std::pair(-weight_of(*queue, view.queue_sort), std::string_view(queue->name));
  });
  return shown;
}

std::vector<const GroupNow*> shown_groups(const View& view, const Snapshot& snapshot) {
  const std::string part = lower(view.filter);
  std::vector<const GroupNow*> shown;
  for (const GroupNow& group : snapshot.groups) {
    if (has(group.example, part) || has(group.id, part)) shown.push_back(&group);
  }
  // Groups come latest first.
  if (view.group_sort == GroupSort::count) {
    std::ranges::sort(shown, std::greater(), [](const GroupNow* group) {
      return std::pair(group->count, std::string_view(group->id));
    });
  }
  return shown;
}

std::size_t selected_queue(const View& view, const std::vector<const QueueNow*>& shown) {
  const auto found =
      std::ranges::find(shown, view.queue, [](const QueueNow* queue) { return queue->name; });
  return found == shown.end() ? 0 : static_cast<std::size_t>(found - shown.begin());
}

std::size_t selected_group(const View& view, const std::vector<const GroupNow*>& shown) {
  const auto found =
      std::ranges::find(shown, view.group, [](const GroupNow* group) { return key_of(*group); });
  return found == shown.end() ? 0 : static_cast<std::size_t>(found - shown.begin());
}

Pressed press(View& view, const Snapshot& snapshot, const Key& key) {
  using Kind = Key::Kind;
  if (view.question) return answer(view, key);
  if (view.is_typing) {
    type(view, key);
    return {};
  }
  if (view.helps) {
    view.helps = false;
    return {.quits = key.text == "q"};
  }
  view.notice = {};
  switch (key.kind) {
    case Kind::up: move(view, snapshot, -1); return {};
    case Kind::down: move(view, snapshot, 1); return {};
    case Kind::page_up: move(view, snapshot, -kRowsPerPage); return {};
    case Kind::page_down: move(view, snapshot, kRowsPerPage); return {};
    case Kind::home: move(view, snapshot, -1'000'000); return {};
    case Kind::end: move(view, snapshot, 1'000'000); return {};
    case Kind::tab:
    case Kind::back_tab:
      view.pane = view.pane == Pane::queues ? Pane::groups : Pane::queues;
      return {};
    case Kind::escape: view.filter.clear(); return {};
    case Kind::text: return press_letter(view, snapshot, key.text);
    case Kind::enter:
    case Kind::backspace: return {};
  }
  return {};
}

void renew(View& view, const Snapshot& snapshot) {
  view.trouble.clear();
  if (!snapshot.is_server) return;
  view.done.push_back(done_of(snapshot.totals()));
  if (view.done.size() > kMostDone) view.done.pop_front();
}

}  // namespace holdfast::cli
