#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

namespace holdfast::recovery {

// Counts by name, for so many names; what comes under others is counted together. So memory stays
// flat whatever people write into headers.
class Counts {
 public:
  static constexpr std::size_t kMostNames = 1000;

  void add(std::string_view name, std::uint64_t count = 1);
  void add(const Counts& other);
  void clear();

  [[nodiscard]] const std::map<std::string, std::uint64_t, std::less<>>& by_name() const noexcept {
    return by_name_;
  }
  [[nodiscard]] std::uint64_t others() const noexcept { return others_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

  bool operator==(const Counts&) const = default;

 private:
  std::map<std::string, std::uint64_t, std::less<>> by_name_;
  std::uint64_t others_ = 0;
  std::uint64_t total_ = 0;
};

// Why a run has ended (V10).
enum class Ended : std::uint8_t {
  empty,      // there was nothing any more, for as long as that is to be so
  caught_up,  // all that was there at the start was seen, and what came for a while after
  limit,      // as many as were asked for
  canary,     // its canary has failed, and the rest stays
  idle,       // nothing came, though the queue was not seen empty
  total,      // its time is over
  stall,      // nothing got on
  asked,      // by a signal, or a server that ends
  failed,     // `error` says why
};

[[nodiscard]] std::string_view to_string(Ended ended) noexcept;
// A sentence for people.
[[nodiscard]] std::string_view sentence_of(Ended ended) noexcept;

// What became of those that were recovered first, to see how they fare.
struct CanaryReport {
  std::uint64_t messages = 0;
  Duration watched = {};
  Counts came_back = {};        // by what they had died of
  std::string stopped_by = {};  // for people; empty: nothing, and the rest was recovered as well
};

// V9: what became of the messages.
struct Summary {
  std::string run = {};       // its id
  std::string queue = {};     // the dead-letter queue
  std::string to_place = {};  // the other broker that messages went to; empty: the same
  bool dry = false;
  bool restores = false;        // from a backup, which stays as it is
  bool discards = false;        // that is what was asked for
  bool parks_all = false;       // that is what was asked for
  bool counts_returns = false;  // the queue does, and may have a limit
  Ended ended = Ended::empty;
  std::optional<Error> error = {};
  std::optional<CanaryReport> canary = {};
  std::optional<std::uint64_t> found = {};  // at the start
  std::optional<std::uint64_t> left = {};   // at the end; nothing: it could not be asked
  // found + arrived = what has left the queue by this run + vanished + left.
  std::uint64_t arrived = 0;    // since the start
  std::uint64_t vanished = 0;   // out of the queue, and not by this run
  std::uint64_t consumers = 0;  // others at the start, who may hold messages: not counted

  Counts recovered = {};         // by target
  Counts failed = {};            // by target; kept
  Counts skipped = {};           // by reason; kept
  Counts unreadable = {};        // of skipped: nobody can say what they are; by reason
  std::uint64_t passed = 0;      // not chosen; left where they are
  std::uint64_t discarded = 0;   // removed, and sent nowhere
  std::uint64_t parked = 0;      // of failed and skipped: put into the review queue
  std::uint64_t renewed = 0;     // of those left: put at the end of the queue, as new messages
  std::uint64_t recognised = 0;  // their copies were there already, and not by this run
  std::uint64_t duplicates = 0;  // copies that may be there twice
  // Of recovered: delivered before this run began. If that was a run that was killed, their copies
  // may be there twice, too.
  std::uint64_t redelivered = 0;
  std::uint64_t transient = 0;  // of recovered: not persistent, as their originals
  std::uint64_t interruptions = 0;
  bool cut_short = false;        // the connection was lost while the last ones were under way
  std::uint64_t planned = 0;     // of a dry run: would be recovered, or discarded
  std::uint64_t would_fail = 0;  // of a dry run: their target is not there
  Duration took = {};            // from the start to the end
  Duration worked = {};          // until the last message was settled

  [[nodiscard]] std::uint64_t kept() const { return failed.total() + skipped.total(); }
  [[nodiscard]] bool did_anything() const {
    return recovered.total() + discarded + kept() + passed + recognised + planned + would_fail > 0;
  }
  // Those that count towards a limit: of a dry run, those that would.
  [[nodiscard]] std::uint64_t counted() const;
  // Of a dry run: looked at.
  [[nodiscard]] std::uint64_t seen() const;
  // A dry run that its limit has ended before it had seen everything.
  [[nodiscard]] bool is_part() const;
  // Everything that was asked for is done: exit code 0.
  [[nodiscard]] bool all_done() const;
};

}  // namespace holdfast::recovery
