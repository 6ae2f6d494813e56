#include "stores/redis/way.hpp"

#include <charconv>
#include <utility>

namespace holdfast::stores::redis {

OrTrouble<std::unique_ptr<Connection>> Way::connect() {
  if (const auto detour = std::exchange(detour_, std::nullopt)) {
    auto made = connect_to(*detour);
    if (made) detour_ = detour;
    return made;
  }
  return connect_to(options_.address.hosts.front());
}

OrTrouble<std::unique_ptr<Connection>> Way::connect_to(const Address::Host& host) {
  auto made = Connection::open(host, options_, stop_, clock_);
  if (!made) return made;
  if (auto greeted = greet(**made, options_); !greeted)
    return std::unexpected(std::move(greeted.error()));
  return made;
}

bool Way::follow(std::string_view place, const Address::Host& said_by) {
  const auto colon = place.rfind(':');
  if (colon == std::string_view::npos) return false;
  Address::Host host{.name = std::string(place.substr(0, colon)), .port = 0};
  if (host.name.empty()) host.name = said_by.name;
  const std::string_view port = place.substr(colon + 1);
  const auto [stopped, failed] = std::from_chars(port.data(), port.data() + port.size(), host.port);
  if (failed != std::errc() || stopped != port.data() + port.size() || host.port == 0) return false;
  detour_ = std::move(host);
  return true;
}

}  // namespace holdfast::stores::redis
