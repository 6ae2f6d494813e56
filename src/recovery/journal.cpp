#include "recovery/journal.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "wire/json_cursor.hpp"
#include "wire/json_syntax.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::recovery {
namespace {

constexpr std::size_t kMostOpenRuns = 100;
constexpr std::size_t kMostDoubt = 200'000;  // 3 MB

void write_counts(wire::JsonWriter& writer, const Counts& counts) {
  writer.begin_object();
  for (const auto& [name, count] : counts.by_name())
    writer.key(name).number(count);
  writer.end_object();
}

struct Line {
  std::string event;
  std::string run;
  std::string queue;
  std::string key;
  std::size_t window = 0;
  std::string entry;
  bool clean = false;
  bool emptied = false;
};

std::string text_in(const wire::JsonValue& value) {
  if (value.kind != wire::JsonKind::string) return {};
  return wire::unescaped(value.text.substr(1, value.text.size() - 2));
}

std::optional<Line> parse_line(std::string_view text) {
  if (wire::syntax_fault(text, 8)) return std::nullopt;
  wire::JsonCursor cursor(text);
  if (cursor.kind() != wire::JsonKind::object) return std::nullopt;
  Line line;
  cursor.enter();
  while (const auto key = cursor.next_key()) {
    const wire::JsonValue value = cursor.take();
    if (*key == "event") line.event = text_in(value);
    if (*key == "run") line.run = text_in(value);
    if (*key == "queue") line.queue = text_in(value);
    if (*key == "key") line.key = text_in(value);
    if (*key == "emptied") line.emptied = value.text == "true";
    if (*key == "clean") line.clean = value.text == "true";
    if (*key == "window") {
      std::from_chars(value.text.data(), value.text.data() + value.text.size(), line.window);
    }
    if (*key == "entry") line.entry = text_in(value);
  }
  return line;
}

wire::JsonWriter begin_line(std::string& out, WallTime time, std::string_view run,
                            std::string_view event) {
  wire::JsonWriter writer(out);
  writer.begin_object().key("time").time(time).key("run").text(run).key("event").text(event);
  return writer;
}

void add_last(std::deque<Identity>& last, const Identity& identity, std::size_t most) {
  last.push_back(identity);
  if (last.size() > most) last.pop_front();
}

}  // namespace

void append_begin(std::string& out, WallTime time, std::string_view run, std::string_view place,
                  std::size_t window) {
  auto writer = begin_line(out, time, run, "begin");
  writer.key("queue").text(place).key("window").number(window).end_object();
  out += '\n';
}

void append_note(std::string& out, WallTime time, std::string_view run, const Note& note) {
  auto writer = begin_line(out, time, run, note.event);
  if (!note.entry.empty()) writer.key("entry").plain(note.entry);
  if (note.id && *note.id) writer.key("id").text(**note.id);
  if (note.key) writer.key("key").plain(to_text(*note.key));
  if (!note.type.empty()) writer.key("type").text(note.type);
  if (note.to) {
    writer.key("exchange").text(note.to->exchange);
    writer.key("routing_key").text(note.to->routing_key);
  }
  if (!note.reason.empty()) writer.key("reason").text(note.reason);
  writer.end_object();
  out += '\n';
}

void append_end(std::string& out, WallTime time, const Summary& summary, bool clean) {
  auto writer = begin_line(out, time, summary.run, "end");
  writer.key("ended").word(to_string(summary.ended)).key("clean").boolean(clean);
  writer.key("emptied").boolean(clean && summary.left == 0U);
  writer.key("recovered");
  write_counts(writer, summary.recovered);
  writer.key("failed");
  write_counts(writer, summary.failed);
  writer.key("skipped").number(summary.skipped.total());
  writer.key("duplicates").number(summary.duplicates).end_object();
  out += '\n';
}

bool is_journal_line(std::string_view text) {
  const auto line = parse_line(text);
  return line && !line->run.empty() && !line->event.empty();
}

void EarlierRuns::read(std::string_view text) {
  const auto line = parse_line(text);
  if (!line || line->run.empty()) return;
  const auto run = std::ranges::find(open_, line->run, &Open::run);
  if (line->event == "begin") {
    if (open_.size() >= kMostOpenRuns) open_.erase(open_.begin());
    open_.push_back({.run = line->run,
                     .queue = line->queue,
                     .most = std::min(copies_in_doubt(line->window), kMostDoubt)});
    return;
  }
  if (run == open_.end()) return;
  if (line->event == "end" && line->clean) {
    const std::string place = run->queue;
    if (!line->emptied) {
      open_.erase(run);
    } else {
      std::erase_if(open_, [&](const Open& open) { return open.queue == place; });
    }
    return;
  }
  const auto identity = parse_identity(line->key);
  if (!identity) return;
  if (line->event == "sending") return add_last(run->sent, *identity, run->most);
  // Answered, in about the order they were sent.
  if (const auto sent = std::ranges::find(run->sent, *identity); sent != run->sent.end())
    run->sent.erase(sent);
  if (line->event == "recovered" || line->event == "parked" || line->event == "renewed")
    add_last(run->last, *identity, run->most);
}

EarlierCopies EarlierRuns::unsettled(std::string_view place) const {
  EarlierCopies all;
  for (const Open& run : open_) {
    if (run.queue != place) continue;
    all.in_doubt.insert(all.in_doubt.end(), run.sent.begin(), run.sent.end());
    // What was brought back twice by one run is not one message.
    std::vector<Identity> sorted(run.last.begin(), run.last.end());
    std::ranges::sort(sorted);
    for (auto at = sorted.begin(); at != sorted.end();) {
      const auto after =
          std::ranges::find_if(at, sorted.end(), [&](const Identity& one) { return one != *at; });
      if (after - at == 1) all.confirmed.push_back(*at);
      at = after;
    }
  }
  return all;
}

RestoredEntries::RestoredEntries(std::string place, std::vector<Identity> sums)
    : place_(std::move(place)) {
  lines_.reserve(sums.size());
  for (const Identity& sum : sums)
    lines_.push_back({.sum = sum});
  by_sum_.resize(sums.size());
  std::iota(by_sum_.begin(), by_sum_.end(), 0);
  std::ranges::sort(by_sum_, {}, [&](std::uint64_t at) { return std::pair(sums[at], at); });
  for (std::size_t at = 1; at < by_sum_.size(); ++at) {
    const Known& before = lines_[by_sum_[at - 1]];
    Known& known = lines_[by_sum_[at]];
    if (known.sum == before.sum) known.turn = before.turn + 1;
  }
}

RestoredEntries::Known* RestoredEntries::find_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  const auto sum = parse_identity(name.substr(0, slash));
  if (!sum) return nullptr;
  std::uint32_t turn = 1;
  if (slash != std::string_view::npos)
    std::from_chars(name.data() + slash + 1, name.data() + name.size(), turn);
  const auto at = std::ranges::lower_bound(
      by_sum_, std::pair(*sum, turn), {},
      [&](std::uint64_t line) { return std::pair(lines_[line].sum, lines_[line].turn); });
  if (at == by_sum_.end()) return nullptr;
  Known& known = lines_[*at];
  return known.sum == *sum && known.turn == turn ? &known : nullptr;
}

void RestoredEntries::read(std::string_view text) {
  const auto line = parse_line(text);
  if (!line) return;
  if (line->event == "begin" && line->queue == place_) {
    runs_.insert(line->run);
    return;
  }
  if (line->entry.empty() || !runs_.contains(line->run)) return;
  Known* const known = find_name(line->entry);
  if (!known) return;
  Copy& copy = known->copy;
  if (copy == Copy::confirmed) return;
  if (line->event == "sending") copy = Copy::unknown;
  if (line->event == "kept") copy = Copy::none;  // it was answered: no queue takes it
  if (line->event == "recovered" || line->event == "parked") copy = Copy::confirmed;
}

RestoredEntries::Copy RestoredEntries::find(std::uint64_t line) const noexcept {
  return line > 0 && line <= lines_.size() ? lines_[line - 1].copy : Copy::none;
}

std::string RestoredEntries::name_of(std::uint64_t line) const {
  if (line == 0 || line > lines_.size()) return {};
  const Known& known = lines_[line - 1];
  std::string name = to_text(known.sum);
  if (known.turn > 1) name += '/' + std::to_string(known.turn);
  return name;
}

}  // namespace holdfast::recovery
