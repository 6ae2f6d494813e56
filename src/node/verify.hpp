#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

#include "ports/records.hpp"

namespace holdfast::node {

struct VerifyOptions {
  bool repair = false;
  std::function<void(std::string_view step)> on_step = {};  // told what is looked at next
};

struct VerifyReport {
  int schema = 0;            // of the file, as it was found
  bool migrated = false;     // to the newest schema, for a repair
  std::string backup = {};   // the copy that was made before a repair; empty: none
  ports::AuditReport audit;  // findings as they were found; numbers as they are now
  std::uint64_t left = 0;    // findings that are there still, or could not be repaired
};

// Audits the file of an embedded store that nobody has open (N5). Without `repair` nothing is
// changed. With it, a file that has findings is copied first, and mended without losing a task.
// Fails if the file is missing, in use (the message names the process), empty, not Holdfast's or of
// a newer version, or cannot be read. Blocks.
//
// Of a store on Redis (a URL in place of the path) nobody need be kept away, and there is no schema
// and no copy: what is found is mended in place.
[[nodiscard]] Result<VerifyReport> verify(const std::string& path, const VerifyOptions& options);

// Whether it is no path, but the URL of a store that many share.
[[nodiscard]] bool is_shared(const std::string& path_or_url);

struct Migration {
  int from = 0;  // the schema that was found
  int to = 0;    // the newest, which the file has now
};

// Brings the file of an embedded store that nobody has open to the newest schema. Fails as verify()
// does, and where the file cannot be written. Blocks. Other stores have nothing to migrate.
[[nodiscard]] Result<Migration> migrate(const std::string& path);

}  // namespace holdfast::node
