#include "stores/sqlite/tally.hpp"

namespace holdfast::stores::sqlite {

Tally::Tally(Database& database)
    : read_(database, "select queue, what, count from tally"),
      write_(database,
             "insert into tally values (?1, ?2, ?3)"
             " on conflict do update set count = excluded.count") {}

void Tally::load() {
  queues_.clear();
  last_id_ = -1;
  last_ = nullptr;
  read_.each([&](Row row) {
    const std::int64_t what = row.integer(1);
    if (what < 0 || what > kAccepted) return;  // an audit tells of it
    queues_[row.integer(0)][static_cast<std::size_t>(what)].count = row.integer(2);
  });
}

void Tally::write() {
  for (auto& [queue, entries] : queues_) {
    for (std::size_t what = 0; what < entries.size(); ++what) {
      Entry& entry = entries[what];
      if (!entry.changed) continue;
      write_.run(queue, what, entry.count);
      entry.changed = false;
    }
  }
}

std::int64_t Tally::count(Names::Id queue, core::State state) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? 0 : found->second[static_cast<std::size_t>(state)].count;
}

void Tally::add(Names::Id queue, int what, std::int64_t by) {
  if (queue != last_id_) {
    last_ = &queues_[queue];
    last_id_ = queue;
  }
  Entry& entry = (*last_)[static_cast<std::size_t>(what)];
  entry.count += by;
  entry.changed = true;
}

}  // namespace holdfast::stores::sqlite
