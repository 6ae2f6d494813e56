#include "server/opening.hpp"

#include <holdfast/retry.hpp>

#include "node/registry.hpp"

namespace holdfast::server {

using namespace std::chrono_literals;

Result<std::shared_ptr<node::Node>> open_patiently(std::string_view url, const Logger& log) {
  const auto place = node::parse_place(url);
  if (!place) return std::unexpected(place.error());
  if (!place->is_shared()) return node::open(url, log);
  return retry::Policy()
      .named("open store")
      .stop(retry::elapsed(30s))
      .wait(retry::exponential({.first = 200ms, .cap = 5s, .jitter = retry::Jitter::equal}))
      .retry_if([](const Error& error) { return error.code == ErrorCode::unavailable; })
      .call([&] { return node::open(url, log); });
}

}  // namespace holdfast::server
