#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "ports/loop.hpp"
#include "ports/store.hpp"
#include "ports/store_lane.hpp"
#include "ports/witness.hpp"
#include "stores/redis/address.hpp"

namespace holdfast::node {

// Where tasks are kept, as its URL says it.
struct Place {
  enum class Kind : std::uint8_t { sqlite, memory, redis };

  Kind kind = Kind::sqlite;
  std::string path = {};  // absolute, without `.`, `..` or links; of memory: its name
  stores::redis::Address redis = {};

  // The same for every way to write the same place, and nothing of it is secret.
  [[nodiscard]] std::string key() const;
  // The same with the right to go there: never to be shown.
  [[nodiscard]] std::string identity() const;
  // Whether several processes may work there at once.
  [[nodiscard]] bool is_shared() const noexcept { return kind == Kind::redis; }
};

// Fails with invalid_argument for an unknown scheme, naming those that are known, and for a URL
// that says nothing more.
[[nodiscard]] Result<Place> parse_place(std::string_view url);

// A URL for people and logs, whether it is a right one or not: what may be a password is ***.
[[nodiscard]] std::string shown_url(std::string_view url);

struct Opened {
  std::string url = {};  // as Place::key() says it
  ports::OpenStore store;
  std::unique_ptr<ports::Witness> witness;  // of an embedded file
  // In place of a store: what answers for it on the loop of the node.
  std::function<std::unique_ptr<ports::StoreLane>(ports::Loop&)> lane = {};
};

// Blocks. Fails as the store says it; the message says what to do where that is known.
[[nodiscard]] Result<Opened> open_store(const Place& place, const Logger& log);

}  // namespace holdfast::node
