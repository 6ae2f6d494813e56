#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include <holdfast/result.hpp>

#include "io/unique_fd.hpp"

namespace holdfast::io {

// A process that is forked off, with a channel to it; it ends with its work, and with this object,
// and with the process that started it. To be made before this process has started a thread.
class Forked {
 public:
  [[nodiscard]] static Result<Forked> start(const std::function<void(int channel)>& work);
  ~Forked();
  Forked(Forked&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}
  Forked& operator=(Forked&&) = delete;

  // Block. Fail when it has died.
  template <class Value>
  [[nodiscard]] Result<Value> hear() const {
    Value value{};
    if (auto heard = hear(&value, sizeof value); !heard) return std::unexpected(heard.error());
    return value;
  }
  template <class Value>
  [[nodiscard]] Result<void> tell(const Value& value) const {
    return tell(&value, sizeof value);
  }

  // Blocks until it has ended by itself.
  void join();

 private:
  Forked(int pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}
  [[nodiscard]] Result<void> hear(void* to, std::size_t size) const;
  [[nodiscard]] Result<void> tell(const void* from, std::size_t size) const;

  int pid_;
  UniqueFd channel_;
};

// Moves all of it over a channel; false: the other side has gone.
[[nodiscard]] bool send_all(int channel, const void* data, std::size_t size);
[[nodiscard]] bool receive_all(int channel, void* data, std::size_t size);

}  // namespace holdfast::io
