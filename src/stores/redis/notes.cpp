// Notes on shelves.
#include <algorithm>

#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::stores::redis {

using ports::Asked;

void RedisStore::plan(Asked<ports::Jot>& asked) {
  const ports::Jot& verb = asked.verb;
  if (verb.key.empty()) {
    asked.answer = fail(ErrorCode::invalid_argument, "jot",
                        "a note on the shelf \"" + verb.shelf + "\" must have a key");
    return;
  }
  const std::size_t first = pipeline_.size();
  const std::string version = verb.version ? std::to_string(*verb.version) : "";
  Words words{verb.shelf, verb.key, version};
  if (verb.text) words.push_back(*verb.text);
  call_once(scripts().jot, words);
  then(first, [&asked](Replies replies) {
    if (!replies[0]) {
      asked.answer = std::unexpected(replies[0].error());
      return;
    }
    const std::int64_t told = replies[0]->view().integer();
    asked.answer = told < 0 ? ports::Jot::Answer() : static_cast<std::uint64_t>(told);
  });
}

void RedisStore::plan(Asked<ports::Notes>& asked) {
  const ports::Notes& verb = asked.verb;
  const std::size_t first = pipeline_.size();
  const std::string limit = std::to_string(std::clamp<std::size_t>(verb.limit, 1, kMostLimit));
  if (!verb.only.empty()) {
    call(scripts().notes, {verb.shelf, "only", verb.only});
  } else {
    call(scripts().notes, {verb.shelf, verb.latest_first ? "down" : "up", verb.beyond, limit});
  }
  then(first, [&asked](Replies replies) {
    if (!replies[0]) {
      asked.answer = std::unexpected(replies[0].error());
      return;
    }
    const Reply told = replies[0]->view();
    ports::Notes::Answer notes;
    for (std::size_t at = 0; at + 1 < told.size(); at += 2) {
      const std::string_view note = told[at + 1].text();
      if (note.size() < 8) {
        asked.answer = not_ours("a note on the shelf \"" + asked.verb.shelf + "\"");
        return;
      }
      notes.push_back({.key = std::string(told[at].text()),
                       .text = std::string(note.substr(8)),
                       .version = read_big_endian(note.substr(0, 8))});
    }
    asked.answer = std::move(notes);
  });
}

}  // namespace holdfast::stores::redis
