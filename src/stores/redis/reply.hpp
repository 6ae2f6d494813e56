#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

struct redisReply;

namespace holdfast::stores::redis {

// What a server has answered, and every part of it. A view: see OwnedReply. Asked for what it is
// not, it gives nothing: "" or 0; whoever must know asks for its kind first.
class Reply {
 public:
  Reply() = default;
  explicit Reply(const redisReply* reply) : reply_(reply) {}

  [[nodiscard]] bool is_error() const noexcept;
  [[nodiscard]] bool is_nil() const noexcept;
  [[nodiscard]] bool is_text() const noexcept;  // a string or a status
  [[nodiscard]] bool is_integer() const noexcept;
  [[nodiscard]] bool is_array() const noexcept;

  [[nodiscard]] std::string_view text() const noexcept;  // also of an error
  [[nodiscard]] std::int64_t integer() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;  // of an array
  [[nodiscard]] Reply operator[](std::size_t index) const noexcept;

 private:
  const redisReply* reply_ = nullptr;
};

struct FreeReply {
  void operator()(redisReply* reply) const noexcept;
};
class OwnedReply {
 public:
  OwnedReply() = default;
  explicit OwnedReply(redisReply* reply) : reply_(reply) {}
  [[nodiscard]] Reply view() const noexcept { return Reply(reply_.get()); }

 private:
  std::unique_ptr<redisReply, FreeReply> reply_;
};

}  // namespace holdfast::stores::redis
