// What a run does so that nothing leaves its queue that is not in the backup, what it removes for
// good, and what it knows of an earlier restore.
#include <algorithm>
#include <utility>

#include "recovery/run.hpp"

namespace holdfast::recovery {
namespace {

constexpr std::size_t kBackupChunk = 1 << 20;

}  // namespace

// A message that goes to the end of its own queue does not leave it. If the backup cannot be
// written, that is the end of the run, and none of these may leave.
bool Run::store(std::span<Entry> entries) {
  if (!parts_.backup) return true;
  std::string lines;
  Result<void> written;
  bool is_new = false;
  for (const Entry& entry : entries) {
    if (entry.stored || entry.purpose == Entry::Purpose::renew || !written) continue;
    is_new = true;
    if (!std::exchange(backup_begun_, true)) {
      append_backup_begin(lines, parts_.clock.wall_now(), options_.rules.run,
                          options_.place.empty() ? options_.queue : options_.place);
    }
    append_backup_message(lines, entry.delivery, options_.queue, options_.rules.run);
    if (lines.size() < kBackupChunk) continue;
    written = parts_.backup->append(lines);
    lines.clear();
  }
  if (!is_new) return true;
  if (written && !lines.empty()) written = parts_.backup->append(lines);
  if (written) written = parts_.backup->sync();
  if (!written) {
    end(Ended::failed, written.error());
    return false;
  }
  for (Entry& entry : entries)
    entry.stored = entry.stored || entry.purpose != Entry::Purpose::renew;
  return true;
}

// They stay in the queue; one that must not be returned to it, by a new copy there.
std::vector<Run::Entry> Run::without_what_was_not_stored(std::vector<Entry> batch) {
  std::vector<Entry> rest;
  for (Entry& entry : batch) {
    if (entry.stored || entry.purpose == Entry::Purpose::renew) {
      rest.push_back(std::move(entry));
    } else if (is_last(entry)) {
      Entry renewed{
          .purpose = Entry::Purpose::renew, .deliveries = entry.deliveries, .passed = true};
      renewed.delivery = std::move(entry.delivery);
      rest.push_back(std::move(renewed));
    }
  }
  return rest;
}

// Of a restore: how the journal names the line of the backup.
std::string Run::entry_of(const Entry& entry) const {
  return parts_.restored ? parts_.restored->name_of(entry.tag().number) : std::string();
}

bool Run::was_restored(Entry& entry) {
  if (!parts_.restored) return false;
  const RestoredEntries::Copy copy = parts_.restored->find(entry.tag().number);
  entry.doubt = copy == RestoredEntries::Copy::unknown;
  if (copy != RestoredEntries::Copy::confirmed) return false;
  ++summary_.recognised;
  note({.event = "recognised",
        .id = &entry.delivery.message.message_id,
        .type = entry.type,
        .to = &entry.to,
        .entry = entry_of(entry)});
  acknowledge(entry.tag());
  return true;
}

void Run::discard(Entry entry) {
  if (std::exchange(entry.unknown, false)) --doubts_;
  if (!entry.counted) ++summary_.discarded;
  note({.event = "discarded",
        .id = &entry.delivery.message.message_id,
        .key = &entry.identity,
        .type = entry.type,
        .reason = read_letter(entry.delivery).reason});
  memory_.note(entry.identity, {.copy = Memory::Copy::confirmed, .life = life_});
  acknowledge(entry.tag());
}

}  // namespace holdfast::recovery
