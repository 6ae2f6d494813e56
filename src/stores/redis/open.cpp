#include "stores/redis/open.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "stores/redis/ear.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/server_clock.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::stores::redis {
namespace {

// What only this process can have made.
std::string new_instance() {
  return fmt::format("{:016x}", system_random().next());
}

}  // namespace

Result<ports::OpenStore> open(Options options) {
  options.session.address = options.address;
  options.session.scripts = all_scripts();
  options.session.log = options.log;
  const auto named = [&](const char* what) {
    SessionOptions session = options.session;
    session.name = fmt::format("holdfast-{}", what);
    return session;
  };

  const std::string instance = new_instance();
  const auto clock = options.time_is_told ? nullptr : std::make_shared<ServerClock>(system_clock());
  const auto store = [&](const char* what, bool only_reads) {
    return std::make_unique<RedisStore>(named(what),
                                        RedisStore::Options{.space = options.address.space,
                                                            .instance = instance,
                                                            .only_reads = only_reads,
                                                            .time_is_told = options.time_is_told,
                                                            .gone_after = options.gone_after,
                                                            .clock = clock});
  };
  ports::OpenStore opened;
  opened.writer = store("writer", false);
  opened.reader = store("reader", true);
  if (!options.time_is_told) {
    opened.news = std::make_unique<Ear>(
        named("ear"), fmt::format("{{{}}}i{}", options.address.space, instance));
    opened.clock = clock;
  }
  return opened;
}

}  // namespace holdfast::stores::redis
