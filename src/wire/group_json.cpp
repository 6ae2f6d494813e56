#include "wire/group_json.hpp"

#include <array>

#include "wire/answers.hpp"
#include "wire/fields.hpp"

namespace holdfast::wire {
namespace {

using GroupPart = FailureGroup::Part;

constexpr auto kGroupPartFields = std::to_array<Field<GroupPart>>({
    required<&GroupPart::name>("name"),
    required<&GroupPart::count>("count"),
});

template <FailureKind kKind>
constexpr Field<FailureGroup> came_by() {
  return {{.name = kKind == FailureKind::error     ? "error"
                   : kKind == FailureKind::timeout ? "timeout"
                                                   : "crash"},
          [](const JsonValue& value, FailureGroup& out) {
            return read(value, out.came_by[static_cast<std::size_t>(kKind)]);
          }};
}

constexpr auto kCameByFields = std::to_array<Field<FailureGroup>>({
    came_by<FailureKind::error>(),
    came_by<FailureKind::timeout>(),
    came_by<FailureKind::crash>(),
});

void write_parts(JsonWriter& writer, std::string_view name, const std::vector<GroupPart>& parts) {
  writer.key(name).begin_array();
  for (const GroupPart& part : parts)
    writer.begin_object().key("name").text(part.name).key("count").number(part.count).end_object();
  writer.end_array();
}

}  // namespace

// Found by the templates of fields.hpp.
static Read read(const JsonValue& value, GroupPart& out) {
  return read_object<GroupPart>(value, kGroupPartFields, Unknown::passed_over, out);
}
static Read read(const JsonValue& value, FailureGroup& out) {
  constexpr auto kFields = std::to_array<Field<FailureGroup>>({
      required<&FailureGroup::id>("id"),
      required<&FailureGroup::state>("state"),
      field<&FailureGroup::count>("count"),
      field<&FailureGroup::first_seen>("first_seen"),
      field<&FailureGroup::last_seen>("last_seen"),
      field<&FailureGroup::example>("example"),
      field<&FailureGroup::types>("types"),
      field<&FailureGroup::queues>("queues"),
      {{.name = "came_by"},
       [](const JsonValue& one, FailureGroup& to) {
         return read_object<FailureGroup>(one, kCameByFields, Unknown::passed_over, to);
       }},
      field<&FailureGroup::last_hour>("last_hour"),
      field<&FailureGroup::last_day>("last_day"),
      field<&FailureGroup::trend>("trend"),
  });
  return read_object<FailureGroup>(value, kFields, Unknown::passed_over, out);
}

void write(JsonWriter& writer, const FailureGroup& group) {
  writer.begin_object();
  writer.key("id").text(group.id);
  writer.key("state").word(to_string(group.state));
  writer.key("count").number(group.count);
  writer.key("first_seen").time(group.first_seen);
  writer.key("last_seen").time(group.last_seen);
  writer.key("example").text(group.example);
  write_parts(writer, "types", group.types);
  write_parts(writer, "queues", group.queues);
  writer.key("came_by").begin_object();
  for (const FailureKind kind : {FailureKind::error, FailureKind::timeout, FailureKind::crash})
    writer.key(to_string(kind)).number(group.came_by[static_cast<std::size_t>(kind)]);
  writer.end_object();
  writer.key("last_hour").number(group.last_hour).key("last_day").number(group.last_day);
  writer.key("trend").begin_array();
  for (const std::uint64_t count : group.trend)
    writer.number(count);
  writer.end_array().end_object();
}

void write(JsonWriter& writer, const GroupPage& page) {
  writer.begin_object().key("groups").begin_array();
  for (const FailureGroup& group : page.groups)
    write(writer, group);
  writer.end_array();
  if (!page.next.empty()) writer.key("next").text(page.next);
  writer.end_object();
}

Result<GroupPage> read_groups(std::string_view json) {
  constexpr auto kFields = std::to_array<Field<GroupPage>>({
      required<&GroupPage::groups>("groups"),
      field<&GroupPage::next>("next"),
  });
  return read_document<GroupPage>(json, kFields, kAnswer);
}

}  // namespace holdfast::wire
