#include "stores/redis/open.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "stores/redis/ear.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/server_clock.hpp"
#include "stores/redis/server_look.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::stores::redis {
namespace {

// What only this process can have made.
std::string new_instance() {
  return fmt::format("{:016x}", system_random().next());
}

Result<void> learn_time(Session& session, ServerClock& clock) {
  Pipeline ask;
  ask.add(std::array<std::string_view, 1>{"TIME"});
  const auto replies = session.run(ask);
  if (!replies[0]) return std::unexpected(replies[0].error());
  const Reply told = replies[0]->view();
  const auto number = [&](std::size_t at) {
    return std::stoll("0" + std::string(told[at].text()));
  };
  clock.told(WallTime(std::chrono::seconds(number(0)) + std::chrono::microseconds(number(1))));
  return {};
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
  if (clock) {
    Session session(named("look"));
    if (auto looked = look_at_server(session, options.log, options.address.space); !looked) {
      return std::unexpected(std::move(looked).error());
    }
    if (auto learnt = learn_time(session, *clock); !learnt) {
      return std::unexpected(std::move(learnt).error());
    }
  }
  ports::OpenStore opened;
  opened.writer = store("writer", false);
  opened.reader = store("reader", true);
  if (!options.time_is_told) {
    opened.news = std::make_unique<Ear>(named("ear"),
                                        fmt::format("{{{}}}i{}", options.address.space, instance));
    opened.clock = clock;
  }
  return opened;
}

}  // namespace holdfast::stores::redis
