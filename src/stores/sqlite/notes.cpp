// Notes on shelves: how they are put there, and how they are read.
#include <algorithm>

#include "stores/sqlite/query_statements.hpp"
#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

using ports::Jot;
using ports::Notes;

Result<Jot::Answer> Writer::answer(const Jot& verb) {
  if (verb.key.empty()) {
    return fail(ErrorCode::invalid_argument, "jot",
                "a note on the shelf \"" + verb.shelf + "\" must have a key");
  }
  const Blob shelf{verb.shelf};
  const Blob key{verb.key};
  std::uint64_t version = 0;
  statements_->note_version.first(
      [&](Row row) { version = static_cast<std::uint64_t>(row.integer(0)); }, shelf, key);
  if (verb.version && *verb.version != version) return Jot::Answer();
  if (!verb.text) {
    statements_->drop_note.run(shelf, key);
    return 0;
  }
  statements_->put_note.run(shelf, key, version + 1, Blob{*verb.text});
  return version + 1;
}

Notes::Answer Queries::answer(const Notes& verb) {
  Notes::Answer notes;
  const auto take = [&](Row row) {
    notes.push_back({.key = row.string(0),
                     .text = row.string(2),
                     .version = static_cast<std::uint64_t>(row.integer(1))});
  };
  const Blob shelf{verb.shelf};
  const Blob beyond{verb.beyond};
  const std::size_t limit = std::max<std::size_t>(verb.limit, 1);
  if (!verb.only.empty()) {
    statements_->note.first(take, shelf, Blob{verb.only});
  } else if (!verb.latest_first) {
    statements_->notes_up.each(take, shelf, beyond, limit);  // no key is empty
  } else if (verb.beyond.empty()) {
    statements_->latest_notes.each(take, shelf, limit);
  } else {
    statements_->notes_down.each(take, shelf, beyond, limit);
  }
  return notes;
}

}  // namespace holdfast::stores::sqlite
