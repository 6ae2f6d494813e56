#include "wire/audit_json.hpp"

#include <array>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

constexpr auto kAuditFields = std::to_array<Field<AuditEntry>>({
    required<&AuditEntry::id>("id"),
    required<&AuditEntry::time>("time"),
    required<&AuditEntry::who>("who"),
    required<&AuditEntry::action>("action"),
    field<&AuditEntry::what>("what"),
    field<&AuditEntry::count>("count"),
    field<&AuditEntry::refused>("refused"),
    field<&AuditEntry::reason>("reason"),
    field<&AuditEntry::operation>("operation"),
});

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, AuditEntry& out) {
  return read_object<AuditEntry>(value, kAuditFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const AuditEntry& entry) {
  writer.begin_object().key("id").text(entry.id).key("time").time(entry.time);
  writer.key("who").text(entry.who).key("action").text(entry.action);
  writer.key("what").text(entry.what).key("count").number(entry.count);
  writer.key("refused").number(entry.refused);
  if (!entry.reason.empty()) writer.key("reason").text(entry.reason);
  if (!entry.operation.empty()) writer.key("operation").text(entry.operation);
  writer.end_object();
}

void write(JsonWriter& writer, const AuditPage& page) {
  writer.begin_object().key("entries").begin_array();
  for (const AuditEntry& entry : page.entries)
    write(writer, entry);
  writer.end_array();
  if (!page.next.empty()) writer.key("next").text(page.next);
  writer.end_object();
}

Result<AuditEntry> read_audit_entry(std::string_view json) {
  return read_document<AuditEntry>(json, kAuditFields, kAnswer);
}

Result<AuditPage> read_audit(std::string_view json) {
  constexpr auto kFields = std::to_array<Field<AuditPage>>({
      required<&AuditPage::entries>("entries"),
      field<&AuditPage::next>("next"),
  });
  return read_document<AuditPage>(json, kFields, kAnswer);
}

}  // namespace holdfast::wire
