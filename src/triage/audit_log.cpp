#include "triage/audit_log.hpp"

#include <utility>

#include "wire/audit_json.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::triage {
namespace {

constexpr std::string_view kShelf = "audit";

}  // namespace

AuditLog::AuditLog(ports::StoreLane& writer, ports::StoreLane& reader, Clock& clock, Random& random,
                   Logger log)
    : writer_(writer), reader_(reader), clock_(clock), ids_(random), log_(log) {}

void AuditLog::note(AuditEntry entry, std::move_only_function<void()> then) {
  entry.time = clock_.wall_now();
  entry.id = ids_.next(entry.time).text();
  std::string text;
  wire::JsonWriter writer(text);
  write(writer, entry);
  log_.log(Level::info, "audit." + entry.action,
           entry.who.starts_with("schedule ") ? "by a schedule" : "by a person's hand",
           {{"who", entry.who},
            {"what", entry.what},
            {"count", entry.count},
            {"refused", entry.refused}});
  ports::lane_ask(
      writer_, ports::Jot{.shelf = std::string(kShelf), .key = entry.id, .text = std::move(text)},
      [log = log_, then = std::move(then)](const Result<ports::Jot::Answer>& answer) mutable {
        if (!answer) {
          log.log(Level::error, "audit.lost", "an entry of the audit could not be kept",
                  {{"error", answer.error().text()}});
        }
        if (then) then();
      });
}

void AuditLog::page(std::size_t limit, std::string cursor,
                    std::move_only_function<void(Result<AuditPage>)> then) {
  ports::lane_ask(
      reader_,
      ports::Notes{.shelf = std::string(kShelf), .beyond = std::move(cursor), .limit = limit},
      [limit, then = std::move(then)](Result<ports::Notes::Answer> notes) mutable {
        if (!notes) return then(std::unexpected(std::move(notes).error()));
        AuditPage page;
        for (const ports::Note& note : *notes) {
          auto entry = wire::read_audit_entry(note.text);
          if (!entry) return then(std::unexpected(std::move(entry).error()));
          page.entries.push_back(*std::move(entry));
        }
        if (notes->size() == limit) page.next = notes->back().key;
        then(std::move(page));
      });
}

}  // namespace holdfast::triage
