#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/time.hpp>

#include "config/keys.hpp"

// How the rows of the tables in keys.cpp and its companions are written.
namespace holdfast::config {

// How a row says more than its five columns.
struct Extra {
  std::optional<RunBy> only = {};
  bool required = false;
  CarriedBy carried = CarriedBy::anything;
};

// `at` gives the member of an S that the key sets: &Http::listen, or a function.
template <class S, class At, class Kind>
Row<S> row(std::string_view name, At at, Kind kind, Reload reload, std::string_view meaning,
           Extra extra = {}) {
  const std::string default_text = extra.required ? "" : kind.show(std::invoke(at, S{}));
  return {.info = {name, Kind::kKind, default_text, meaning, reload, extra.only, extra.required,
                   extra.carried},
          .read = [=](const Spot& spot, const Value& value,
                      S& into) { kind.read(spot, value, std::invoke(at, into)); },
          .show = [=](const S& from) { return kind.show(std::invoke(at, from)); },
          .same = [=](const S& a, const S& b) { return std::invoke(at, a) == std::invoke(at, b); },
          .copy = [=](S& to, const S& from) { std::invoke(at, to) = std::invoke(at, from); }};
}

// What a row needs to reach into a table within a table.
template <auto Outer, auto Inner>
struct Within {
  template <class S>
  constexpr auto& operator()(S&& from) const {
    return (from.*Outer).*Inner;
  }
};

inline constexpr Duration kDay = std::chrono::hours(24);

inline constexpr Reload no = Reload::no;
inline constexpr Reload yes = Reload::yes;

inline constexpr std::array<std::pair<std::string_view, Role>, 4> kRoles = {
    {{"submit", Role::submit},
     {"read", Role::read},
     {"work", Role::work},
     {"operate", Role::operate}}};

// Of keys_broker.cpp.
[[nodiscard]] Section<Broker> broker_section();
[[nodiscard]] Section<Recover> recover_section();
[[nodiscard]] Section<Aws> aws_section();

}  // namespace holdfast::config
