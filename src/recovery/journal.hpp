#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "recovery/identity.hpp"
#include "recovery/summary.hpp"

// The journal of recoveries: JSON lines, one for each message's fate, appended run after run.
//
//   {"time":"…","run":"…","event":"begin","queue":"amqp://host:5672/%2f/app.dlq",
//    "window":1000}
//   {"time":"…","run":"…","event":"sending","key":"9f86…"}
//   {"time":"…","run":"…","event":"recovered","id":"4711","key":"9f86…","type":"CollectionScan",
//    "exchange":"","routing_key":"collection.scan"}
//   {"time":"…","run":"…","event":"kept","id":"4712","type":"…","reason":"…"}
//   {"time":"…","run":"…","event":"end","ended":"empty","clean":true, …}
//
// A line "recovered" is written after the broker has confirmed the copy and before the original is
// acknowledged: it never says what is not so, and a run that dies between the two leaves a line by
// which the next one knows that the copy is there. A line "sending" is written before the copy is
// sent: without another one of its key, nobody knows whether the copy is there.
namespace holdfast::recovery {

// Where its lines go. Threads: the loop's; to write may block for as long as a file does.
class Journal {
 public:
  virtual ~Journal() = default;

  // Whole lines, out of this process when it returns.
  [[nodiscard]] virtual Result<void> append(std::string_view lines) = 0;
  // On the disk when it returns.
  [[nodiscard]] virtual Result<void> sync() = 0;
};

// One message's line.
struct Note {
  // sending, recovered, recognised, parked, renewed, kept, not_chosen, discarded
  std::string_view event;
  const std::optional<std::string>* id = nullptr;  // message id
  const Identity* key = nullptr;                   // of what was sent
  std::string_view type = {};
  const ports::Address* to = nullptr;
  std::string_view reason = {};
  std::string_view entry = {};  // of a restore: the name of a line of the backup
};

// `place`: the broker and its queue, for people and to be compared.
void append_begin(std::string& out, WallTime time, std::string_view run, std::string_view place,
                  std::size_t window);
void append_note(std::string& out, WallTime time, std::string_view run, const Note& note);
// `clean`: every acknowledgement has reached the broker, so nothing of this run can come back; and
// nothing of runs before it either, if the queue is empty now.
void append_end(std::string& out, WallTime time, const Summary& summary, bool clean);

// Whether a line of a file is one of a journal.
[[nodiscard]] bool is_journal_line(std::string_view line);

// Of messages that may still be in the queue.
struct EarlierCopies {
  std::vector<Identity> confirmed = {};  // their copy was made
  std::vector<Identity> in_doubt = {};   // it was sent, and perhaps made
};

// What of earlier runs may still be in the queue although its copy was made: the last messages of
// runs that did not end cleanly. Lines that are none (a torn one at the end) are passed over.
class EarlierRuns {
 public:
  void read(std::string_view line);

  // Of runs at `place` only: elsewhere the same message may have no copy.
  [[nodiscard]] EarlierCopies unsettled(std::string_view place) const;

 private:
  struct Open {
    std::string run;
    std::string queue;
    std::size_t most = 0;  // of its last lines
    std::deque<Identity> last = {};
    std::deque<Identity> sent = {};  // and not answered
  };
  std::vector<Open> open_;
};

// What of a backup was restored before: by the lines of it that the journal names. A line has its
// checksum for a name, wherever it stands in whichever file; the second one of the same has
// "CHECKSUM/2".
class RestoredEntries {
 public:
  enum class Copy : std::uint8_t {
    none,
    unknown,    // it was sent, and perhaps made
    confirmed,  // it is there
  };

  // `place`: that backups are restored to. `sums`: of the lines of this one, the first one's first;
  // no matter what of those that are not messages.
  RestoredEntries(std::string place, std::vector<Identity> sums);

  void read(std::string_view line);
  // `line`: its number, from 1.
  [[nodiscard]] Copy find(std::uint64_t line) const noexcept;
  [[nodiscard]] std::string name_of(std::uint64_t line) const;

 private:
  struct Known {
    Identity sum;
    std::uint32_t turn = 1;  // among those of the same sum
    Copy copy = Copy::none;
  };
  [[nodiscard]] Known* find_name(std::string_view name);

  const std::string place_;
  std::set<std::string, std::less<>> runs_;
  std::vector<Known> lines_;
  std::vector<std::uint64_t> by_sum_;  // indices of the lines
};

// So many of a run's last copies may have lost their acknowledgement: what the broker hands out
// ahead, with room to spare.
[[nodiscard]] constexpr std::size_t copies_in_doubt(std::size_t window) noexcept {
  return 2 * window + 1000;
}

}  // namespace holdfast::recovery
