#include "stores/sqlite/integrity.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <sqlite3.h>

namespace holdfast::stores::sqlite {
namespace {

// The index that a line of integrity_check is about; empty: it is about something worse.
std::string index_of(std::string_view line) {
  constexpr std::array<std::string_view, 3> kBefore{
      " missing from index ", "wrong # of entries in index ", "non-unique entry in index "};
  for (const std::string_view before : kBefore) {
    const std::size_t at = line.find(before);
    if (at != std::string_view::npos) return std::string(line.substr(at + before.size()));
  }
  return {};
}

bool is_harmless(std::string_view line) {
  return line.starts_with("NULL value in ");
}

// Sorts what SQLite says, line by line.
class Complaints {
 public:
  void take(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      take_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  Integrity done() {
    if (unused_pages_ > 0) {
      integrity_.damage.push_back("SQLite: " + std::to_string(unused_pages_) +
                                  " pages are never used");
    }
    return std::move(integrity_);
  }

 private:
  void take_line(std::string_view line) {
    if (line == "ok" || line.starts_with("*** in database")) return;
    // Lost by damage elsewhere, which is told; by themselves they only take room.
    if (line.starts_with("Page ") && line.ends_with(" is never used")) {
      ++unused_pages_;
      return;
    }
    integrity_.damage.push_back("SQLite: " + std::string(line));
    std::string index = index_of(line);
    if (index.empty()) {
      integrity_.readable = integrity_.readable && is_harmless(line);
    } else if (std::ranges::find(integrity_.indexes, index) == integrity_.indexes.end()) {
      integrity_.indexes.push_back(std::move(index));
    }
  }

  Integrity integrity_;
  std::size_t unused_pages_ = 0;
};

}  // namespace

Integrity check_integrity(Database& database) {
  Complaints complaints;
  try {
    Statement(database, "pragma integrity_check(1000)").each([&](Row row) {
      complaints.take(row.bytes(0));
    });
  } catch (const SqlError& error) {
    // The check itself gives up where the damage is too great.
    if ((error.code() & 0xff) != SQLITE_CORRUPT) throw;
    complaints.take(error.what());
  }
  return complaints.done();
}

bool rebuild(Database& database, const std::vector<std::string>& indexes) {
  for (const std::string& index : indexes) {
    std::string name;
    for (const char c : index)
      name += c == '"' ? "\"\"" : std::string(1, c);
    try {
      database.execute("reindex \"" + name + '"');
    } catch (const SqlError& error) {
      if ((error.code() & 0xff) == SQLITE_CONSTRAINT) return false;
      throw;
    }
  }
  return check_integrity(database).damage.empty();
}

}  // namespace holdfast::stores::sqlite
