#pragma once

#include <string_view>

#include <holdfast/operation.hpp>
#include <holdfast/result.hpp>

#include "wire/json_writer.hpp"

// Who did what, as the server answers and keeps it, and as a client reads it. Readers fail with
// corrupt.
namespace holdfast::wire {

void write(JsonWriter& writer, const AuditEntry& entry);
void write(JsonWriter& writer, const AuditPage& page);
[[nodiscard]] Result<AuditEntry> read_audit_entry(std::string_view json);
[[nodiscard]] Result<AuditPage> read_audit(std::string_view json);

}  // namespace holdfast::wire
