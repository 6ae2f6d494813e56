#include "stores/sqlite/names.hpp"

namespace holdfast::stores::sqlite {

Names::Names(Database& database)
    : insert_(database, "insert into name (text) values (?1) returning id"),
      by_text_(database, "select id from name where text = ?1"),
      by_id_(database, "select text from name where id = ?1") {}

Names::Id Names::intern(std::string_view text) {
  if (const auto known = find(text)) return *known;
  Id id = 0;
  insert_.each([&](Row row) { id = row.integer(0); }, text);
  ids_.emplace(text, id);
  return id;
}

std::optional<Names::Id> Names::find(std::string_view text) {
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  std::optional<Id> id;
  by_text_.first([&](Row row) { id = row.integer(0); }, text);
  if (id) ids_.emplace(text, *id);
  return id;
}

const std::string& Names::text(Id id) {
  if (const auto known = texts_.find(id); known != texts_.end()) return known->second;
  std::string text;
  if (!by_id_.first([&](Row row) { text = row.string(0); }, id)) {
    // Not to be remembered: it may get its name later, and anybody may ask for any number.
    static const std::string kNone;
    return kNone;
  }
  return texts_.emplace(id, std::move(text)).first->second;
}

void Names::forget() {
  ids_.clear();
  texts_.clear();
}

}  // namespace holdfast::stores::sqlite
