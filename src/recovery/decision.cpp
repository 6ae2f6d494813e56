#include "recovery/decision.hpp"

namespace holdfast::recovery {

Decision decide(const Letter& letter, const Rules& rules, WallTime now) {
  using enum Decision::What;
  const auto& headers = letter.message().headers;
  if (ports::text_of(headers, kKeptBy) == rules.run) return {.what = kept_again};
  if (rules.seeks) {
    auto why = rules.seeks(letter);
    return why ? Decision{.what = skip, .why = *std::move(why)} : Decision{.what = pass};
  }
  if (!rules.filter.chooses(letter, now)) return {.what = pass};
  if (rules.routes.to == Routes::To::nowhere) return {.what = discard};
  // What it has brought back and sees again has died at once; to go on would be a loop.
  if (letter.recovered.run == rules.run) {
    return {.what = skip, .why = "brought back by this run, and dead again"};
  }
  if (letter.recovered.times >= rules.max_recoveries) {
    return {.what = skip,
            .why = "brought back " + std::to_string(letter.recovered.times) + " times already"};
  }
  auto target = target_of(letter, rules.routes);
  if (!target) return {.what = skip, .why = std::move(target).error()};
  if (target->exchange.empty() && target->routing_key == rules.queue) {
    return {.what = skip, .why = "its target is this queue itself"};
  }
  if (target->exchange.empty() && rules.others.contains(target->routing_key)) {
    return {.what = skip, .why = "its target " + target->routing_key + " is recovered, too"};
  }
  return {.what = recover, .to = *std::move(target)};
}

}  // namespace holdfast::recovery
