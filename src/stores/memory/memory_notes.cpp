// Notes on the shelves of a MemoryStore.
#include <algorithm>

#include "stores/memory/memory_store.hpp"

namespace holdfast::stores {

Result<ports::Jot::Answer> MemoryStore::run(const ports::Jot& verb) {
  if (verb.key.empty()) {
    return fail(ErrorCode::invalid_argument, "jot",
                "a note on the shelf \"" + verb.shelf + "\" must have a key");
  }
  auto& shelf = shelves_[verb.shelf];
  const auto found = shelf.find(verb.key);
  const std::uint64_t version = found == shelf.end() ? 0 : found->second.version;
  if (verb.version && *verb.version != version) return ports::Jot::Answer();
  if (!verb.text) {
    if (found != shelf.end()) shelf.erase(found);
    return 0;
  }
  shelf.insert_or_assign(verb.key,
                         ports::Note{.key = verb.key, .text = *verb.text, .version = version + 1});
  return version + 1;
}

Result<ports::Notes::Answer> MemoryStore::run(const ports::Notes& verb) {
  ports::Notes::Answer notes;
  const auto shelf = shelves_.find(verb.shelf);
  if (shelf == shelves_.end()) return notes;
  for (const auto& [key, note] : shelf->second) {
    if (!verb.only.empty() && key != verb.only) continue;
    const bool is_beyond = verb.latest_first ? key < verb.beyond : key > verb.beyond;
    if (verb.beyond.empty() || is_beyond) notes.push_back(note);
  }
  if (verb.latest_first) std::ranges::reverse(notes);
  const std::size_t limit = std::max<std::size_t>(verb.limit, 1);
  if (notes.size() > limit) notes.resize(limit);
  return notes;
}

}  // namespace holdfast::stores
