#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/log.hpp>

namespace holdfast::testing {

// A sink that remembers its records. Threads: as LogSink.
class LogCapture final : public LogSink {
 public:
  struct Entry {
    WallTime time;
    Level level = Level::info;
    std::string event;
    std::string message;
    std::map<std::string, std::string> fields;  // durations in seconds, as "1.5"
  };

  void write(const LogRecord& record) noexcept override {
    Entry entry{
        record.time, record.level, std::string(record.event), std::string(record.message), {}};
    for (const Field& field : record.fields) {
      entry.fields.emplace(field.name(), std::visit(Text(), field.value()));
    }
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  [[nodiscard]] std::vector<Entry> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

  // Those of one event, in order.
  [[nodiscard]] std::vector<Entry> of(std::string_view event) const {
    std::vector<Entry> found = entries();
    std::erase_if(found, [&](const Entry& entry) { return entry.event != event; });
    return found;
  }

 private:
  struct Text {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(std::uint64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return trimmed(std::to_string(value)); }
    std::string operator()(std::string_view value) const { return std::string(value); }
    std::string operator()(Duration value) const {
      return trimmed(std::to_string(std::chrono::duration<double>(value).count()));
    }

    static std::string trimmed(std::string number) {
      number.erase(number.find_last_not_of('0') + 1);
      if (number.ends_with('.')) number.pop_back();
      return number;
    }
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace holdfast::testing
