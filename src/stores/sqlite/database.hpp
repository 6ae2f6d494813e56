#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

struct sqlite3;
struct sqlite3_stmt;

// SQLite, as the rest of this room uses it. Inside the room a call that fails throws SqlError, so
// that the verbs read as what they do; it is caught where a batch begins and ends, and leaves the
// room as an Error.
namespace holdfast::stores::sqlite {

class SqlError : public std::exception {
 public:
  SqlError(int code, std::string message, int system_errno)
      : code_(code), errno_(system_errno), message_(std::move(message)) {}

  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] int code() const noexcept { return code_; }  // SQLite's extended result code

  // The disk is full: it may work again later.
  [[nodiscard]] bool is_full() const noexcept;
  // The disk or the file is not to be trusted any more.
  [[nodiscard]] bool is_fatal() const noexcept;
  [[nodiscard]] Error error(std::string operation) const;

 private:
  int code_;
  int errno_;  // of the system call that failed, if one did
  std::string message_;
};

// Times are kept as microseconds since 1970.
[[nodiscard]] constexpr std::int64_t to_us(WallTime time) noexcept {
  return std::chrono::floor<std::chrono::microseconds>(time).time_since_epoch().count();
}
// The ends of what can be kept are the ends of what can be told: "at once" and "never".
[[nodiscard]] constexpr WallTime from_us(std::int64_t us) noexcept {
  if (us <= to_us(WallTime::min())) return WallTime::min();
  if (us >= to_us(WallTime::max())) return WallTime::max();
  return WallTime(std::chrono::microseconds(us));
}

// One connection. Threads: one at a time.
class Database {
 public:
  enum class Mode : std::uint8_t {
    write,
    read,
    frozen,  // reads a file that has no log and that nobody writes; makes no file beside it
    alone,   // reads a file with its log, which nobody else may do meanwhile; makes none either
  };

  // `vfs` is the name of one of SQLite's virtual file systems; empty: the usual one.
  Database(const std::string& path, Mode mode, const std::string& vfs = {});
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) = delete;

  void execute(const std::string& sql);  // statements without parameters
  [[nodiscard]] std::int64_t number(const std::string& sql);
  [[nodiscard]] std::string text(const std::string& sql);
  [[nodiscard]] std::int64_t changes() const noexcept;  // of the last statement
  [[nodiscard]] bool in_transaction() const noexcept;
  [[nodiscard]] std::string path() const;  // absolute

  // Moves what the write-ahead log holds into the file, as far as readers allow.
  void checkpoint();
  // Pages in the write-ahead log after the last commit.
  [[nodiscard]] int wal_pages() const noexcept { return *wal_pages_; }

  [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }
  [[noreturn]] void fail(int code, std::string_view doing) const;

 private:
  sqlite3* handle_ = nullptr;
  std::unique_ptr<int> wal_pages_;  // SQLite's hook writes to it, so its place must not change
};

struct Blob {
  std::string_view bytes;
};

// The row that a statement stands on. Views last until the statement goes on.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const noexcept;
  [[nodiscard]] bool is_null(int column) const noexcept;
  [[nodiscard]] std::string_view bytes(int column) const noexcept;  // text or blob
  [[nodiscard]] std::string string(int column) const { return std::string(bytes(column)); }
  [[nodiscard]] WallTime time(int column) const noexcept { return from_us(integer(column)); }
  [[nodiscard]] int small(int column) const noexcept { return static_cast<int>(integer(column)); }

 private:
  sqlite3_stmt* statement_;
};

// A prepared statement. Parameters are given in order; what they view must live until run() or
// each() has returned.
class Statement {
 public:
  Statement(Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // For statements that give no row.
  template <class... Values>
  void run(const Values&... values) {
    const Resetting resetting{*this};
    bind_all(values...);
    while (step()) {
    }
  }

  // Calls `take(Row)` for each row, until it returns false (or is void).
  template <class Take, class... Values>
  void each(Take take, const Values&... values) {
    const Resetting resetting{*this};
    bind_all(values...);
    while (step()) {
      if constexpr (std::is_void_v<decltype(take(Row(statement_)))>) {
        take(Row(statement_));
      } else if (!take(Row(statement_))) {
        return;
      }
    }
  }

  // Whether there was a row; `take` is called for the first.
  template <class Take, class... Values>
  bool first(Take take, const Values&... values) {
    bool found = false;
    each(
        [&](Row row) {
          found = true;
          take(row);
          return false;
        },
        values...);
    return found;
  }

 private:
  struct Resetting {
    Statement& statement;
    ~Resetting() { statement.reset(); }
  };

  template <class... Values>
  void bind_all(const Values&... values) {
    if constexpr (sizeof...(values) > 0) {
      int index = 0;
      (bind(++index, values), ...);
    }
  }
  template <std::integral T>
  void bind(int index, T value) {
    bind_integer(index, static_cast<std::int64_t>(value));
  }
  void bind(int index, WallTime value) { bind_integer(index, to_us(value)); }
  void bind(int index, std::string_view text);
  void bind(int index, Blob blob);
  void bind(int index, std::nullptr_t);
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, nullptr);
    }
  }
  void bind_integer(int index, std::int64_t value);
  bool step();
  void reset() noexcept;
  void check(int code) const;

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace holdfast::stores::sqlite
