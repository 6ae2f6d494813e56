#include "recovery/routes.hpp"

#include <algorithm>

#include "core/json_text.hpp"

namespace holdfast::recovery {
namespace {

using Target = std::expected<ports::Address, std::string>;

Target by_type(const Letter& letter, const Routes& routes) {
  if (letter.type.empty()) return std::unexpected("no MessageType and no routing key to go by");
  const auto row = routes.map.find(letter.type);
  if (row != routes.map.end()) return row->second;
  // Without a header, what there is of a type is the routing key, which the map has on its right.
  if (!letter.has_type_header) {
    // Of several rows the one whose exchange it came by; without that, a person has to say.
    const std::string came_by = letter.deaths.empty() ? "" : letter.deaths.front().exchange;
    const ports::Address* only = nullptr;
    bool several = false;
    for (const auto& [type, address] : routes.map) {
      if (address.routing_key != letter.type) continue;
      if (address.exchange == came_by) return address;
      several = several || (only && *only != address);
      only = &address;
    }
    if (several) return std::unexpected("the map has several rows for " + quoted(letter.type));
    if (only) return *only;
  }
  return std::unexpected("the map has no type " + quoted(letter.type));
}

// Entries are newest first, and one that dies again in the same way moves to the front: so the
// first death is the one that the broker names, or the last entry where it names none.
const ports::Death* first_death(const Letter& letter) {
  if (letter.deaths.empty()) return nullptr;
  const auto& headers = letter.message().headers;
  const auto queue = ports::text_of(headers, "x-first-death-queue");
  const auto reason = ports::text_of(headers, "x-first-death-reason");
  if (queue) {
    for (auto death = letter.deaths.rbegin(); death != letter.deaths.rend(); ++death) {
      if (death->queue == *queue && (!reason || death->reason == *reason)) return &*death;
    }
  }
  return &letter.deaths.back();
}

// Holdfast's own dead letters are published, not dead-lettered: the queue they came from is a
// header.
Target by_own_queue(const Letter& letter) {
  const auto queue = ports::text_of(letter.message().headers, "x-holdfast-queue");
  if (queue && !queue->empty()) return ports::Address{.routing_key = std::string(*queue)};
  return std::unexpected("it has no x-death, so its origin is unknown");
}

Target by_first_exchange(const Letter& letter) {
  const ports::Death* death = first_death(letter);
  if (!death) return by_own_queue(letter);
  if (death->routing_keys.empty()) return std::unexpected("its death names no routing key");
  const auto exchange = ports::text_of(letter.message().headers, "x-first-death-exchange");
  return ports::Address{.exchange = std::string(exchange.value_or(death->exchange)),
                        .routing_key = death->routing_keys.front()};
}

Target by_first_queue(const Letter& letter) {
  const auto queue = ports::text_of(letter.message().headers, "x-first-death-queue");
  if (queue && !queue->empty()) return ports::Address{.routing_key = std::string(*queue)};
  const ports::Death* death = first_death(letter);
  if (!death || death->queue.empty()) return by_own_queue(letter);
  return ports::Address{.routing_key = death->queue};
}

}  // namespace

std::expected<ports::Address, std::string> target_of(const Letter& letter, const Routes& routes) {
  switch (routes.to) {
    case Routes::To::map: return by_type(letter, routes);
    case Routes::To::origin_exchange: return by_first_exchange(letter);
    case Routes::To::origin_queue: return by_first_queue(letter);
    case Routes::To::review: return std::unexpected("parked, as asked");
    case Routes::To::nowhere: return std::unexpected("discarded, as asked");
    case Routes::To::queue: break;
  }
  return ports::Address{.routing_key = routes.queue};
}

std::string to_text(const ports::Address& address) {
  if (address.exchange.empty()) return address.routing_key;
  return address.exchange + "/" + address.routing_key;
}

}  // namespace holdfast::recovery
