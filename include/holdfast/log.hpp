#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <variant>

#include <holdfast/clock.hpp>

namespace holdfast {

enum class Level : std::uint8_t { debug, info, warning, error, critical };

[[nodiscard]] std::string_view to_string(Level level) noexcept;

// One typed value of a log record. Owns nothing: it lives as long as the call that logs it.
class Field {
 public:
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view, Duration>;

  Field(std::string_view name, bool value) : name_(name), value_(value) {}
  template <std::signed_integral T>
  Field(std::string_view name, T value) : name_(name), value_(std::int64_t{value}) {}
  template <std::unsigned_integral T>
  Field(std::string_view name, T value) : name_(name), value_(std::uint64_t{value}) {}
  template <std::floating_point T>
  Field(std::string_view name, T value) : name_(name), value_(static_cast<double>(value)) {}
  Field(std::string_view name, std::string_view value) : name_(name), value_(value) {}
  Field(std::string_view name, const char* value) : name_(name), value_(std::string_view(value)) {}
  template <class Rep, class Period>
  Field(std::string_view name, std::chrono::duration<Rep, Period> value)
      : name_(name), value_(std::chrono::duration_cast<Duration>(value)) {}

  // A field whose value must never be printed. The value is dropped here, so no sink can print it.
  template <class T>
  [[nodiscard]] static Field secret(std::string_view name, const T& /*value*/) {
    Field field(name, std::string_view("***"));
    field.secret_ = true;
    return field;
  }

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] const Value& value() const noexcept { return value_; }
  [[nodiscard]] bool is_secret() const noexcept { return secret_; }

 private:
  std::string_view name_;
  Value value_;
  bool secret_ = false;
};

// One thing that happened: an event name for programs ("retry.wait"), a message for people, and the
// values that belong to it. Owns nothing.
struct LogRecord {
  WallTime time;
  Level level = Level::info;
  std::string_view event;
  std::string_view message;
  std::span<const Field> fields;
};

// Where records go. Threads: write() may be called from any thread at once.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(const LogRecord& record) noexcept = 0;
};

// The program's standard error: coloured columns on a terminal, JSON lines elsewhere. One record is
// always one line. Lives as long as the program.
LogSink& stderr_log() noexcept;

// A cheap handle to a sink that stamps the time and drops what is below its level. A default one
// discards everything. The sink and the clock must outlive it.
class Logger {
 public:
  Logger() = default;
  explicit Logger(LogSink& sink, const Clock& clock = system_clock(), Level least = Level::info)
      : sink_(&sink), clock_(&clock), least_(least) {}
  // With a level that may change while the program runs. It must outlive all copies.
  Logger(LogSink& sink, const Clock& clock, const std::atomic<Level>& least)
      : sink_(&sink), clock_(&clock), changing_least_(&least) {}

  [[nodiscard]] bool enabled(Level level) const noexcept {
    if (!sink_) return false;
    return level >= (changing_least_ ? changing_least_->load(std::memory_order_relaxed) : least_);
  }

  void log(Level level, std::string_view event, std::string_view message,
           std::span<const Field> fields) const {
    if (enabled(level)) sink_->write({clock_->wall_now(), level, event, message, fields});
  }
  void log(Level level, std::string_view event, std::string_view message,
           std::initializer_list<Field> fields = {}) const {
    log(level, event, message, std::span<const Field>(fields.begin(), fields.size()));
  }

 private:
  LogSink* sink_ = nullptr;
  const Clock* clock_ = nullptr;
  Level least_ = Level::info;
  const std::atomic<Level>* changing_least_ = nullptr;  // in its place
};

}  // namespace holdfast
