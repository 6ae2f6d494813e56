#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "ports/broker.hpp"
#include "recovery/identity.hpp"

namespace holdfast::recovery {

// Messages by what stays the same when a consumer publishes them anew instead of rejecting them,
// without the headers that they had.
class Likenesses {
 public:
  enum class Likeness : std::uint8_t {
    none,
    body,  // the same body, and another message id or none: perhaps the same
    id,    // the same message id
  };

  // Up to so many messages; of more it only knows that there were more.
  explicit Likenesses(std::size_t most = 100'000) : most_(most) {}

  void note(const ports::Message& message);
  [[nodiscard]] Likeness of(const ports::Message& message) const;
  [[nodiscard]] bool has_them_all() const noexcept { return !overflowed_; }

 private:
  const std::size_t most_;
  bool overflowed_ = false;
  std::unordered_set<Identity, IdentityHash> ids_;
  std::unordered_set<Identity, IdentityHash> bodies_;
};

}  // namespace holdfast::recovery
