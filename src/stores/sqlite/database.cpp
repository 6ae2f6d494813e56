#include "stores/sqlite/database.hpp"

#include <cerrno>
#include <utility>

#include <sqlite3.h>

namespace holdfast::stores::sqlite {
namespace {

int access_of(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::write: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Database::Mode::read:
    case Database::Mode::alone: return SQLITE_OPEN_READWRITE;
    case Database::Mode::frozen: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return SQLITE_OPEN_READONLY;
}

std::string frozen_uri(const std::string& path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c != '%' && c != '?' && c != '#') {
      uri += c;
    } else {
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 0xf];
    }
  }
  return uri + "?immutable=1";
}

// Of the last system call on the write-ahead log that failed. sqlite3_system_errno() tells of
// opening files only.
int errno_of_log(sqlite3* handle) {
  sqlite3_file* log = nullptr;
  const int found =
      sqlite3_file_control(handle, nullptr, SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (found != SQLITE_OK || !log || !log->pMethods) return 0;
  int last = 0;
  const int told = log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &last);
  return told == SQLITE_OK ? last : 0;
}

// Closes what could not be opened; says why.
SqlError closed(sqlite3* handle, int code) {
  SqlError error(handle ? sqlite3_extended_errcode(handle) : code,
                 handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code),
                 handle ? sqlite3_system_errno(handle) : 0);
  sqlite3_close(handle);
  return error;
}

}  // namespace

// SQLite itself takes only ENOSPC for a lack of room.
bool SqlError::is_full() const noexcept {
  if ((code_ & 0xff) == SQLITE_FULL) return true;
  const bool by_size = code_ == SQLITE_IOERR_WRITE || code_ == SQLITE_IOERR_SHMSIZE;
  return by_size && (errno_ == ENOSPC || errno_ == EDQUOT || errno_ == EFBIG);
}

bool SqlError::is_fatal() const noexcept {
  if (is_full()) return false;
  const int primary = code_ & 0xff;
  return primary == SQLITE_IOERR || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

Error SqlError::error(std::string operation) const {
  const ErrorCode code = is_full()    ? ErrorCode::exhausted
                         : is_fatal() ? ErrorCode::corrupt
                                      : ErrorCode::internal;
  return {code, std::move(operation), message_};
}

Database::Database(const std::string& path, Mode mode, const std::string& vfs)
    : wal_pages_(std::make_unique<int>(0)) {
  // Without it, SQLite locks a mutex at every allocation to count the bytes in use, for nobody. Too
  // late, and so without effect, if the program has used SQLite before.
  static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(configured);
  const std::string name = mode == Mode::frozen ? frozen_uri(path) : path;
  // Each connection belongs to one thread, so SQLite's own locks would only cost.
  const int code = sqlite3_open_v2(name.c_str(), &handle_, access_of(mode) | SQLITE_OPEN_NOMUTEX,
                                   vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK) throw closed(handle_, code);
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_LOOKASIDE, nullptr, 1024, 256);
  // SQLite's own checkpoints are such a hook too, so this takes their place: the writer makes them,
  // and hears of errors. (`pragma wal_autocheckpoint` would in turn take the place of this.)
  sqlite3_wal_hook(
      handle_,
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      wal_pages_.get());
  // Then SQLite keeps its index of the log in memory, and not in a file beside it.
  if (mode == Mode::alone) execute("pragma locking_mode = exclusive");
  if (mode == Mode::read || mode == Mode::alone) {
    // SQLite before 3.51.3 can spoil the log if two connections write it: a reader never does, not
    // even on closing.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    execute("pragma query_only = 1");
  }
}

Database::~Database() {
  sqlite3_close(handle_);
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), wal_pages_(std::move(other.wal_pages_)) {}

void Database::fail(int code, std::string_view doing) const {
  const int extended = sqlite3_extended_errcode(handle_);
  std::string message = sqlite3_errmsg(handle_);
  if (const int os = sqlite3_system_errno(handle_); os != 0 && (code & 0xff) == SQLITE_IOERR) {
    message += " (errno " + std::to_string(os) + ")";
  }
  if (!doing.empty()) message += ", in: " + std::string(doing.substr(0, 80));
  int system_errno = sqlite3_system_errno(handle_);
  if (extended == SQLITE_IOERR_WRITE) system_errno = errno_of_log(handle_);
  throw SqlError(extended == SQLITE_OK ? code : extended, std::move(message), system_errno);
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, sql);
}

std::int64_t Database::number(const std::string& sql) {
  std::int64_t value = 0;
  Statement(*this, sql.c_str()).first([&](Row row) { value = row.integer(0); });
  return value;
}

std::string Database::text(const std::string& sql) {
  std::string value;
  Statement(*this, sql.c_str()).first([&](Row row) { value = row.string(0); });
  return value;
}

std::string Database::path() const {
  const char* path = sqlite3_db_filename(handle_, "main");
  return path ? path : "";
}

std::int64_t Database::changes() const noexcept {
  return sqlite3_changes64(handle_);
}

bool Database::in_transaction() const noexcept {
  return sqlite3_get_autocommit(handle_) == 0;
}

void Database::checkpoint() {
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  const int primary = code & 0xff;
  if (primary == SQLITE_OK || primary == SQLITE_BUSY || primary == SQLITE_LOCKED) return;
  fail(code, "checkpoint");
}

std::int64_t Row::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::int64_t> Row::maybe_integer(int column) const noexcept {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

bool Row::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string_view Row::bytes(int column) const noexcept {
  const void* data = sqlite3_column_blob(statement_, column);
  return {static_cast<const char*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Statement::Statement(Database& database, const char* sql) : database_(database) {
  check(sqlite3_prepare_v3(database.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_,
                           nullptr));
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::bind(int index, std::string_view text) {
  // Never a null pointer: that would bind NULL.
  check(sqlite3_bind_text64(statement_, index, text.data() ? text.data() : "", text.size(),
                            SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int index, Blob blob) {
  check(sqlite3_bind_blob64(statement_, index, blob.bytes.data() ? blob.bytes.data() : "",
                            blob.bytes.size(), SQLITE_STATIC));
}

void Statement::bind(int index, std::nullptr_t) {
  check(sqlite3_bind_null(statement_, index));
}

void Statement::bind_integer(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, index, value));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_.fail(code, sqlite3_sql(statement_));
}

void Statement::reset() noexcept {
  sqlite3_reset(statement_);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail(code, statement_ ? sqlite3_sql(statement_) : "prepare");
}

}  // namespace holdfast::stores::sqlite
