#include "cli/recover_output.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "recovery/routes.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using recovery::Counts;
using recovery::Plan;
using recovery::Summary;

constexpr std::uint64_t kLineEvery = 1000;  // messages, and no more than a line a second
constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kMostTableRows = 40;  // for people; JSON has them all

std::uint64_t done_of(const Summary& summary) {
  return summary.recovered.total() + summary.discarded + summary.kept() + summary.passed +
         summary.recognised + summary.planned;
}

double seconds_of(Duration span) {
  return std::chrono::duration<double>(span).count();
}

std::string messages(std::uint64_t count) {
  return grouped(count) + (count == 1 ? " message" : " messages");
}

// From the start until the last message was settled: what follows is waiting for more.
double rate_of(const Summary& summary) {
  const double seconds = seconds_of(summary.worked);
  return seconds > 0 ? static_cast<double>(summary.recovered.total()) / seconds : 0;
}

std::string rounded(Duration span) {
  const Duration unit = span < 1s ? Duration(1ms) : span < 10s ? Duration(100ms) : Duration(1s);
  return format_duration(span / unit * unit);
}

std::string cut_visible(std::string_view text, std::size_t columns) {
  return cut(visible(text), columns);
}

void append_row(std::string& out, std::string_view label, std::uint64_t count,
                std::string_view note = {}) {
  out += fmt::format("{:>12}  {}", grouped(count), label);
  if (!note.empty()) out.append(" ").append(note);
  out += '\n';
}

void append_counts(std::string& out, const Counts& counts) {
  std::size_t shown = 0;
  std::uint64_t rest = counts.others();
  for (const auto& [name, count] : counts.by_name()) {
    if (shown++ >= kMostTableRows) {
      rest += count;
      continue;
    }
    out += fmt::format("{:>16}  {}\n", grouped(count), cut_visible(name, kColumns - 18));
  }
  if (rest > 0) out += fmt::format("{:>16}  others\n", grouped(rest));
}

void write_counts(wire::JsonWriter& writer, std::string_view by, const Counts& counts) {
  writer.begin_object().key("total").number(counts.total()).key(by).begin_object();
  for (const auto& [name, count] : counts.by_name())
    writer.key(name).number(count);
  writer.end_object();
  if (counts.others() > 0) writer.key("others").number(counts.others());
  writer.end_object();
}

std::string_view word_of(recovery::Decision::What what) {
  using enum recovery::Decision::What;
  switch (what) {
    case recover: return "recover";
    case discard: return "discard";
    case skip: return "keep";
    case pass: return "not_chosen";
    case kept_again: break;
  }
  return "keep";
}

std::string target_of(const Plan::Row& row) {
  using enum recovery::Decision::What;
  if (row.what == pass) return "not chosen";
  if (row.what == discard) return "discarded";
  if (row.what != recovery::Decision::What::recover) return "kept: " + row.why;
  std::string text = "-> " + recovery::to_text(row.to);
  if (row.target == Plan::Row::Found::missing)
    text += row.to.exchange.empty() ? " (no such queue!)" : " (no such exchange!)";
  return text;
}

void write_plan(wire::JsonWriter& writer, const Plan& plan) {
  writer.key("plan").begin_array();
  for (const Plan::Row& row : plan.rows()) {
    writer.begin_object().key("count").number(row.count).key("type").text(row.type);
    writer.key("action").text(word_of(row.what));
    if (row.what == recovery::Decision::What::recover) {
      writer.key("exchange").text(row.to.exchange).key("routing_key").text(row.to.routing_key);
      if (row.target != Plan::Row::Found::unchecked) {
        writer.key("target_is_there").boolean(row.target == Plan::Row::Found::there);
      }
    }
    if (!row.why.empty()) writer.key("why").text(row.why);
    writer.key("reason").text(row.reason).key("group").text(row.group.text());
    writer.key("example").text(row.example).end_object();
  }
  writer.end_array();
  if (plan.others() > 0) writer.key("plan_others").number(plan.others());
}

void append_end(std::string& out, const Summary& summary) {
  if (summary.arrived > 0) append_row(out, "arrived since the start", summary.arrived);
  if (summary.vanished > 0) {
    append_row(out, "are gone, not by this run: taken by others, expired, or at a limit",
               summary.vanished);
  }
  if (summary.consumers > 0) {
    append_row(out, "other consumers at the start: what they hold is not counted",
               summary.consumers);
  }
  const std::string still =
      (summary.restores ? "not restored from " : "still in ") + cut_visible(summary.queue, 50);
  if (summary.left) {
    append_row(out, still, *summary.left);
  } else if (!summary.error) {
    out += fmt::format("{:>12}  {}: the broker cannot tell\n", "unknown", still);
  }
  if (summary.canary && !summary.canary->stopped_by.empty())
    append_wrapped(out, "Canary: " + visible(summary.canary->stopped_by) + ".", 0);
  std::string ended(recovery::sentence_of(summary.ended));
  if (summary.error) ended += ": " + summary.error->message;
  append_wrapped(out, "Ended: " + ended + ".", 0);
}

}  // namespace

void RecoverProgress::found(std::uint64_t count) {
  found_ = count;
  wipe();
  const std::string_view then = count == 0        ? ""
                                : asked_.dry      ? " Looking at them..."
                                : asked_.discards ? " Discarding..."
                                                  : " Starting recovery...";
  io_.err << fmt::format("Found {} {} in {}.{}\n", count, count == 1 ? "message" : "messages",
                         asked_.restores ? "the backup" : "DLQ", then)
          << std::flush;
}

void RecoverProgress::warned(const recovery::Warning& warning) {
  wipe();
  std::string line = "Warning: ";
  append_visible(line, warning.text);
  io_.err << line << '\n' << std::flush;
}

void RecoverProgress::told(const std::string& text) {
  wipe();
  std::string line;
  append_visible(line, text);
  io_.err << line << '\n' << std::flush;
}

void RecoverProgress::moved(const Summary& so_far) {
  if (io_.err_is_terminal) {
    show_bar(so_far);
  } else {
    say_so_far(so_far);
  }
}

void RecoverProgress::show_bar(const Summary& so_far) {
  const std::uint64_t done = done_of(so_far);
  if (so_far.took - then_ >= 1s) {
    const double now =
        static_cast<double>(done - std::min(done, done_then_)) / seconds_of(so_far.took - then_);
    rate_ = rate_ == 0 ? now : 0.6 * rate_ + 0.4 * now;
    then_ = so_far.took;
    done_then_ = done;
  }
  wipe();
  io_.err << bar_line({.done = done, .found = found_, .rate = rate_, .kept = so_far.kept()})
          << std::flush;
  shown_ = true;
}

void RecoverProgress::say_so_far(const Summary& so_far) {
  const std::uint64_t done =
      asked_.dry ? done_of(so_far) : so_far.recovered.total() + so_far.discarded;
  const std::uint64_t thousands = done / kLineEvery * kLineEvery;
  if (thousands <= told_ || so_far.took - told_at_ < 1s) return;
  told_ = thousands;
  told_at_ = so_far.took;
  io_.err << fmt::format("{} {} messages so far...\n",
                         asked_.dry        ? "Looked at"
                         : asked_.discards ? "Discarded"
                                           : "Recovered",
                         thousands)
          << std::flush;
}

void RecoverProgress::wipe() {
  if (std::exchange(shown_, false)) io_.err << "\r\x1b[K" << std::flush;
}

std::string bar_line(const RecoverBar& bar) {
  const double part =
      bar.found == 0
          ? 1
          : std::min(1.0, static_cast<double>(bar.done) / static_cast<double>(bar.found));
  const auto full = static_cast<std::size_t>(std::lround(part * kBarWidth));
  std::string line = "[" + std::string(full, '#') + std::string(kBarWidth - full, '-') + "]";
  line += fmt::format(" {}/{}", grouped(bar.done), grouped(bar.found));
  if (bar.rate >= 1) {
    line += fmt::format("  {}/s", grouped(static_cast<std::uint64_t>(std::lround(bar.rate))));
    const auto left = static_cast<double>(bar.found - std::min(bar.found, bar.done)) / bar.rate;
    const auto seconds = static_cast<std::int64_t>(std::ceil(std::min(left, 1e6)));
    line += "  " + format_duration(std::chrono::seconds(seconds)) + " left";
  }
  if (bar.kept > 0) line += fmt::format("  {} kept", grouped(bar.kept));
  return cut(line, kColumns - 1);
}

std::string recover_summary(const Summary& summary, const std::string& place) {
  std::string out = summary.discards ? "DLQ DISCARD SUMMARY\n" : "DLQ RECOVERY SUMMARY\n";
  out += cut_visible(place, kColumns) + '\n';
  if (!summary.to_place.empty()) out += cut_visible("to " + summary.to_place, kColumns) + '\n';
  out += fmt::format("took {}", rounded(summary.took));
  if (summary.recovered.total() > 0) {
    out += fmt::format(
        "; recovered {} in {}, {}/s", messages(summary.recovered.total()), rounded(summary.worked),
        grouped(static_cast<std::uint64_t>(std::max(1.0, std::round(rate_of(summary))))));
  }
  out += "\n\n";
  if (summary.discards) {
    append_row(out, "discarded", summary.discarded);
  } else {
    append_row(out, "recovered", summary.recovered.total());
    append_counts(out, summary.recovered);
    append_row(out, "failed", summary.failed.total(), "(kept, to be tried again)");
    append_counts(out, summary.failed);
  }
  append_row(out, "skipped", summary.skipped.total(), "(kept for review)");
  append_counts(out, summary.skipped);
  if (summary.passed > 0) append_row(out, "not chosen", summary.passed, "(left where they are)");
  if (summary.parked > 0) append_row(out, "of those kept are in the review queue", summary.parked);
  if (summary.renewed > 0) {
    append_row(out, "of the kept were published anew, at the end of the queue", summary.renewed);
  }
  if (summary.recognised > 0) {
    append_row(out,
               summary.restores ? "were restored before, as the journal says"
                                : "had their copy already, and were only removed",
               summary.recognised);
  }
  if (summary.duplicates > 0) {
    append_row(out, "may be there twice: no answer came for their first copy", summary.duplicates);
  }
  if (summary.redelivered > 0) {
    append_row(out, "of the recovered had been delivered before: if an earlier run",
               summary.redelivered);
    out += std::string(14, ' ') + "was killed or stalled, some of them are there twice\n";
  }
  if (summary.transient > 0) {
    append_row(out, "recovered are not persistent, as they were before", summary.transient);
  }
  append_end(out, summary);
  return out;
}

std::string recover_plan(const recovery::Run::Outcome& outcome, const std::string& place) {
  const Summary& summary = outcome.summary;
  std::string out = summary.discards ? "DLQ DISCARD, DRY RUN: nothing was discarded\n"
                                     : "DLQ RECOVERY, DRY RUN: nothing was brought back\n";
  out += cut_visible(place, kColumns) + "\n";
  if (!summary.to_place.empty()) out += cut_visible("to " + summary.to_place, kColumns) + '\n';
  out += '\n';
  std::size_t shown = 0;
  std::uint64_t rest = outcome.plan.others();
  for (const Plan::Row& row : outcome.plan.rows()) {
    if (shown++ >= kMostTableRows) {
      rest += row.count;
      continue;
    }
    const std::string type = row.type.empty() ? "(unknown type)" : cut_visible(row.type, 24);
    const std::string head = fmt::format("{:>12}  {:<24} ", grouped(row.count), type);
    out += head + cut_visible(target_of(row), kColumns - 39) + '\n';
    out += std::string(14, ' ') +
           cut_visible(fmt::format("died of {}; for example {}", row.reason, row.example),
                       kColumns - 14) +
           '\n';
  }
  if (rest > 0) out += fmt::format("{:>12}  others\n", grouped(rest));
  out += '\n';
  append_row(out, summary.discards ? "would be discarded" : "would be recovered", summary.planned);
  if (summary.would_fail > 0) {
    append_row(out, "would fail: there is no such target", summary.would_fail);
  }
  append_row(out, "would be kept", summary.skipped.total());
  if (summary.unreadable.total() > 0) {
    append_row(out, "of those cannot be read:", summary.unreadable.total());
    append_counts(out, summary.unreadable);
  }
  if (summary.passed > 0) append_row(out, "are not chosen", summary.passed);
  if (summary.is_part()) {
    const std::string of = summary.found ? " of " + grouped(*summary.found) : std::string();
    append_row(out, "messages" + of + " were looked at, until --limit was reached", summary.seen());
  }
  if (summary.renewed > 0) {
    append_row(out, "were published anew, at the end of the queue: see --renew-at",
               summary.renewed);
  }
  append_end(out, summary);
  if (!summary.did_anything() || summary.restores) return out;
  std::string after = "The messages are where they were, in their order.";
  if (summary.counts_returns) {
    after =
        "The messages are in the queue, but may have changed places: a quorum queue may put what "
        "was looked at behind all others.";
  }
  if (summary.renewed > 0) {
    after +=
        " Those that were returned often were published anew, at the end of the queue, so that "
        "looking at them does not end them.";
  }
  after += " The broker has marked them as redelivered";
  after += summary.counts_returns ? ", and has counted one return more for each." : ".";
  append_wrapped(out, after, 0);
  return out;
}

std::string recover_json(const recovery::Run::Outcome& outcome, const std::string& place) {
  const Summary& summary = outcome.summary;
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("run").text(summary.run).key("from").text(place);
  if (!summary.to_place.empty()) writer.key("to_broker").text(summary.to_place);
  writer.key("queue").text(summary.queue).key("dry_run").boolean(summary.dry);
  writer.key("ended").word(to_string(summary.ended));
  if (summary.error) writer.key("error").text(summary.error->text());
  if (summary.found) writer.key("found").number(*summary.found);
  writer.key("recovered");
  write_counts(writer, "by_target", summary.recovered);
  writer.key("failed");
  write_counts(writer, "by_target", summary.failed);
  writer.key("skipped");
  write_counts(writer, "by_reason", summary.skipped);
  writer.key("discarded").number(summary.discarded);
  writer.key("not_chosen").number(summary.passed).key("parked").number(summary.parked);
  writer.key("renewed").number(summary.renewed).key("recognised").number(summary.recognised);
  writer.key("possible_duplicates").number(summary.duplicates);
  writer.key("delivered_before").number(summary.redelivered);
  writer.key("transient").number(summary.transient);
  writer.key("interruptions").number(summary.interruptions);
  if (summary.left) writer.key("still_in_queue").number(*summary.left);
  writer.key("arrived").number(summary.arrived).key("vanished").number(summary.vanished);
  writer.key("other_consumers").number(summary.consumers);
  if (summary.canary) {
    writer.key("canary").begin_object().key("messages").number(summary.canary->messages);
    writer.key("watched_s").number(seconds_of(summary.canary->watched)).key("came_back");
    write_counts(writer, "by_reason", summary.canary->came_back);
    if (!summary.canary->stopped_by.empty())
      writer.key("stopped_by").text(summary.canary->stopped_by);
    writer.end_object();
  }
  writer.key("took_s").number(seconds_of(summary.took));
  writer.key("worked_s").number(seconds_of(summary.worked));
  writer.key("per_s").number(std::round(rate_of(summary)));
  if (summary.dry) {
    writer.key("complete").boolean(summary.all_done() && !summary.is_part());
    writer.key("seen").number(summary.seen());
    writer.key("would_keep").number(summary.skipped.total());
    writer.key(summary.discards ? "would_discard" : "would_recover")
        .number(summary.planned)
        .key("would_fail")
        .number(summary.would_fail);
    write_plan(writer, outcome.plan);
  }
  writer.end_object();
  return out + '\n';
}

}  // namespace holdfast::cli
