#include "cli/recover_totals.hpp"

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::cli {
namespace {

void append_total(std::string& out, std::uint64_t count, std::string_view label) {
  out += fmt::format("{:>12}  {}\n", grouped(count), label);
}

void append_if_any(std::string& out, std::uint64_t count, std::string_view label) {
  if (count > 0) append_total(out, count, label);
}

void append_not_done(std::string& out, std::string_view what,
                     const std::vector<RecoverTotals::NotDone>& queues) {
  for (const auto& [place, why] : queues)
    append_wrapped(out, visible(fmt::format("{}: {}: {}", what, place, why)), 0);
}

void write_not_done(wire::JsonWriter& writer, std::string_view name,
                    const std::vector<RecoverTotals::NotDone>& queues) {
  writer.key(name).begin_array();
  for (const auto& [place, why] : queues)
    writer.begin_object().key("from").text(place).key("why").text(why).end_object();
  writer.end_array();
}

}  // namespace

void RecoverTotals::add(const recovery::Summary& summary) {
  ++queues;
  found += summary.found.value_or(0);
  recovered += summary.recovered.total();
  discarded += summary.discarded;
  discards = discards || summary.discards;
  failed += summary.failed.total();
  skipped += summary.skipped.total();
  passed += summary.passed;
  parked += summary.parked;
  recognised += summary.recognised;
  duplicates += summary.duplicates;
  vanished += summary.vanished;
  left += summary.left.value_or(0);
  planned += summary.planned;
  would_fail += summary.would_fail;
  seen += summary.seen();
  has_seen_all = has_seen_all && summary.all_done() && !summary.is_part();
}

std::string totals_text(const RecoverTotals& totals) {
  std::string out = fmt::format("TOTAL OF {} {}\n\n", grouped(totals.queues),
                                totals.queues == 1 ? "QUEUE" : "QUEUES");
  if (totals.dry) {
    append_total(out, totals.planned,
                 totals.discards ? "would be discarded" : "would be recovered");
    append_if_any(out, totals.would_fail, "would fail: there is no such target");
    append_total(out, totals.skipped, "would be kept");
    append_if_any(out, totals.passed, "are not chosen");
    if (totals.seen < totals.found)
      append_total(out, totals.seen, "messages of " + grouped(totals.found) + " were looked at");
  } else {
    if (totals.discards) {
      append_total(out, totals.discarded, "discarded");
    } else {
      append_total(out, totals.recovered, "recovered");
      append_total(out, totals.failed, "failed (kept, to be tried again)");
    }
    append_total(out, totals.skipped, "skipped (kept for review)");
    append_if_any(out, totals.passed, "not chosen (left where they are)");
    append_if_any(out, totals.parked, "of those kept are in the review queue");
    append_if_any(out, totals.recognised, "had their copy already, and were only removed");
    append_if_any(out, totals.duplicates, "may be there twice: no answer came for the first copy");
    append_if_any(out, totals.vanished, "are gone, not by this run");
  }
  append_total(out, totals.left, "still in the queues");
  append_not_done(out, "Failed", totals.failed_queues);
  append_not_done(out, "Not begun", totals.not_begun);
  return out;
}

std::string totals_json(const RecoverTotals& totals, const std::vector<std::string>& queues) {
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("queues").begin_array();
  for (const std::string& queue : queues)
    writer.raw(queue);
  writer.end_array().key("total").begin_object();
  writer.key("queues").number(totals.queues).key("dry_run").boolean(totals.dry);
  writer.key("found").number(totals.found).key("recovered").number(totals.recovered);
  writer.key("failed").number(totals.failed).key("skipped").number(totals.skipped);
  writer.key("discarded").number(totals.discarded);
  writer.key("not_chosen").number(totals.passed).key("parked").number(totals.parked);
  writer.key("recognised").number(totals.recognised);
  writer.key("possible_duplicates").number(totals.duplicates);
  writer.key("vanished").number(totals.vanished).key("still_in_queues").number(totals.left);
  if (totals.dry) {
    writer.key(totals.discards ? "would_discard" : "would_recover").number(totals.planned);
    writer.key("would_fail").number(totals.would_fail).key("seen").number(totals.seen);
    const bool is_all = totals.failed_queues.empty() && totals.not_begun.empty();
    writer.key("complete").boolean(is_all && totals.has_seen_all);
  }
  write_not_done(writer, "failed_queues", totals.failed_queues);
  write_not_done(writer, "not_begun", totals.not_begun);
  writer.end_object().end_object();
  return out + '\n';
}

}  // namespace holdfast::cli
