#pragma once

// Trying again, well. The guide is docs/retry.md.
//
//   using namespace holdfast;
//   const auto policy = retry::Policy()
//                           .named("publish")
//                           .stop(retry::attempts(5) | retry::elapsed(30s))
//                           .wait(retry::exponential({.first = 1s, .cap = 16s}))
//                           .retry_on<std::system_error>();
//   policy.call([&] { channel.publish(job); });

#include <holdfast/retry/history.hpp>  // IWYU pragma: export
#include <holdfast/retry/policy.hpp>   // IWYU pragma: export
#include <holdfast/retry/run.hpp>      // IWYU pragma: export
#include <holdfast/retry/stop.hpp>     // IWYU pragma: export
#include <holdfast/retry/wait.hpp>     // IWYU pragma: export
