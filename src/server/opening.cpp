#include "server/opening.hpp"

#include <holdfast/retry.hpp>

#include "node/registry.hpp"
#include "node/running_server.hpp"

namespace holdfast::server {

using namespace std::chrono_literals;

namespace {

// A verb of the command line has a file open for a moment only, `top` again and again. A server
// says where it is reached, and keeps it.
bool may_be_free_soon(std::string_view url) {
  const auto owner = node::owner_of(std::string(url));
  return !owner || owner->address.empty();
}

Result<std::shared_ptr<node::Node>> open_file(std::string_view url, const Logger& log) {
  Clock& clock = system_clock();
  const SteadyTime until = clock.now() + 5s;
  while (true) {
    auto opened = node::open(url, log);
    const bool is_taken = !opened && opened.error().code == ErrorCode::conflict;
    if (!is_taken || clock.now() >= until || !may_be_free_soon(url)) return opened;
    clock.sleep_for(20ms);
  }
}

}  // namespace

Result<std::shared_ptr<node::Node>> open_patiently(std::string_view url, const Logger& log) {
  const auto place = node::parse_place(url);
  if (!place) return std::unexpected(place.error());
  if (!place->is_shared()) return open_file(url, log);
  return retry::Policy()
      .named("open store")
      .stop(retry::elapsed(30s))
      .wait(retry::exponential({.first = 200ms, .cap = 5s, .jitter = retry::Jitter::equal}))
      .retry_if([](const Error& error) { return error.code == ErrorCode::unavailable; })
      .call([&] { return node::open(url, log); });
}

}  // namespace holdfast::server
