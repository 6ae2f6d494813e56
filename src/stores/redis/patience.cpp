#include "stores/redis/patience.hpp"

#include "stores/redis/trouble.hpp"

namespace holdfast::stores::redis {

using namespace std::chrono_literals;

retry::Policy patience(const PatienceOptions& options) {
  const Logger log = options.log;
  const std::string at = options.at;
  const StopSignal* const stop = options.stop;
  return retry::Policy(*options.clock, system_random())
      .named(options.what)
      .stop(retry::requested(stop->token()))
      .wait(retry::exponential({.first = 50ms, .cap = 1s, .jitter = retry::Jitter::equal}))
      .retry_if([](const Trouble& trouble) { return trouble.remedy != Remedy::none; })
      .before_sleep([log, at](const retry::BeforeSleep& failed) {
        log.log(Level::warning, "store.retry", "The store cannot be used; trying again.",
                {{"store", at},
                 {"operation", failed.operation},
                 {"attempt", failed.attempt},
                 {"wait", failed.wait},
                 {"error", failed.failure.message}});
      })
      .on_recovered([log, at](const retry::Recovered& done) {
        log.log(Level::info, "store.recovered", "The store can be used again.",
                {{"store", at},
                 {"operation", done.operation},
                 {"attempts", done.attempts},
                 {"waited", done.waited}});
      })
      .on_give_up([log, at, stop](const retry::GaveUp& given) {
        if (stop->given()) return;
        log.log(Level::error, "store.gave_up", "The store could not be used.",
                {{"store", at},
                 {"operation", given.operation},
                 {"attempts", given.attempts},
                 {"error", given.failure.message}});
      });
}

}  // namespace holdfast::stores::redis
