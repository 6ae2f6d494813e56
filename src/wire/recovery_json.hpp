#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "wire/json_writer.hpp"

// Recoveries of a broker's dead-letter queue that people start at a server: as they are asked for,
// answered and kept. Readers of requests fail with invalid_argument, those of answers and of what
// is kept with corrupt.
namespace holdfast::wire {

enum class RecoveryState : std::uint8_t {
  running,
  done,         // as far as it was to go; `complete` says whether nothing was kept or left
  failed,       // it could not begin, or not go on: `error`
  canceled,     // by a person
  interrupted,  // its server has ended meanwhile
};

[[nodiscard]] std::string_view to_string(RecoveryState state) noexcept;

struct RecoveryTarget {
  std::string exchange = {};
  std::string routing_key = {};

  bool operator==(const RecoveryTarget&) const = default;
};

// As the options of `holdfast recover`.
struct RecoveryRequest {
  std::string broker = {};
  std::string queue = {};
  std::map<std::string, RecoveryTarget> map = {};  // one of these three, or only park
  std::string to_origin = {};                      // "exchange" or "queue"
  std::string to = {};
  std::string park = {};
  std::vector<std::string> filter = {};
  std::optional<std::uint64_t> limit = {};
  std::optional<double> rate = {};
  bool dry_run = false;
  int max_recoveries = 3;
  bool persistent = false;
  bool keep_expiration = false;
  Duration total = std::chrono::minutes(30);
  Duration idle = std::chrono::seconds(10);
  Duration empty = std::chrono::seconds(5);
  Duration stall = std::chrono::seconds(30);
  std::string reason = {};

  bool operator==(const RecoveryRequest&) const = default;
};

struct RecoveryCount {
  std::string name = {};
  std::uint64_t count = 0;

  bool operator==(const RecoveryCount&) const = default;
};

// Of a dry run: messages of which the same would become.
struct RecoveryPlanRow {
  std::string what = {};  // recover, keep, leave (not chosen)
  std::string type = {};
  std::string to = {};      // of what would be recovered
  std::string why = {};     // of what would be kept
  std::string reason = {};  // what the first of them died of
  std::string example = {};
  std::uint64_t count = 0;
  bool target_missing = false;

  bool operator==(const RecoveryPlanRow&) const = default;
};

struct RecoveryProgress {
  std::optional<std::uint64_t> found = {};  // at the start
  std::optional<std::uint64_t> left = {};   // at the end
  std::uint64_t recovered = 0;
  std::uint64_t failed = 0;   // kept
  std::uint64_t skipped = 0;  // kept
  std::uint64_t not_chosen = 0;
  std::uint64_t parked = 0;   // of failed and skipped
  std::uint64_t renewed = 0;  // of those left: put at the end of the queue
  std::uint64_t recognised = 0;
  std::uint64_t possible_duplicates = 0;
  std::uint64_t interruptions = 0;  // of the connection
  std::uint64_t would_recover = 0;  // of a dry run
  std::uint64_t would_fail = 0;     // likewise: the target is not there
  Duration took{};

  [[nodiscard]] std::uint64_t handled() const {
    return recovered + failed + skipped + not_chosen + recognised + would_recover + would_fail;
  }
  bool operator==(const RecoveryProgress&) const = default;
};

struct Recovery {
  std::string id = {};
  RecoveryState state = RecoveryState::running;
  RecoveryRequest request = {};
  std::string by = {};
  WallTime started{};
  WallTime changed{};
  std::optional<WallTime> ended = {};
  std::string run = {};  // its id in the headers of copies
  std::string why = {};  // it has ended
  std::string error = {};
  bool complete = false;  // everything that was asked for is done
  RecoveryProgress progress = {};
  std::vector<RecoveryCount> targets = {};  // where messages were recovered to
  std::vector<RecoveryCount> kept = {};     // why messages were kept
  std::vector<RecoveryPlanRow> plan = {};
  std::vector<std::string> warnings = {};

  bool operator==(const Recovery&) const = default;
};

struct RecoveryPage {
  std::vector<Recovery> recoveries = {};
  std::string next = {};  // empty: that was the last page

  bool operator==(const RecoveryPage&) const = default;
};

// As it is kept.
struct RecoveryNote {
  Recovery recovery = {};
  std::string runner = {};  // which process works on it

  bool operator==(const RecoveryNote&) const = default;
};

void write(JsonWriter& writer, const RecoveryRequest& request);
[[nodiscard]] Result<RecoveryRequest> read_recovery_request(std::string_view json);

void write(JsonWriter& writer, const Recovery& recovery);
void write(JsonWriter& writer, const RecoveryPage& page);
[[nodiscard]] Result<Recovery> read_recovery(std::string_view json);
[[nodiscard]] Result<RecoveryPage> read_recoveries(std::string_view json);

void write(JsonWriter& writer, const RecoveryNote& note);
[[nodiscard]] Result<RecoveryNote> read_recovery_note(std::string_view json);

}  // namespace holdfast::wire
