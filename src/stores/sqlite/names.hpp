#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "stores/sqlite/database.hpp"

namespace holdfast::stores::sqlite {

// Names of queues, types and owners are kept once, and meant by a small number everywhere else.
// There are few of them, so all that were asked for stay in memory.
class Names {
 public:
  using Id = std::int64_t;

  explicit Names(Database& database);

  [[nodiscard]] Id intern(std::string_view text);               // makes it if it is new
  [[nodiscard]] std::optional<Id> find(std::string_view text);  // nothing: never seen
  [[nodiscard]] const std::string& text(Id id);                 // of a number that is none: empty

  // After a rollback, or before a new look at what another connection has written.
  void forget();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  Statement insert_;
  Statement by_text_;
  Statement by_id_;
  std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
  std::unordered_map<Id, std::string> texts_;
};

}  // namespace holdfast::stores::sqlite
