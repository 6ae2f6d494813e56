#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <holdfast/result.hpp>

namespace holdfast::config {

// Where in a file; counted from 1.
struct Place {
  std::uint32_t line = 0;  // 0: nowhere in it
  std::uint32_t column = 0;

  auto operator<=>(const Place&) const = default;
};

// One thing that is wrong with a configuration.
struct Problem {
  std::string file = {};
  Place place = {};
  std::string key = {};         // `task."scan.file".timeout`; empty: of no single key
  std::string message = {};     // what is wrong; never a secret
  std::string suggestion = {};  // what to do; may be empty

  // As compilers write it: `holdfast.toml:3:1: http: unknown key "lisen"; did you mean "listen"?`.
  [[nodiscard]] std::string text() const;

  bool operator==(const Problem&) const = default;
};

using Problems = std::vector<Problem>;

// All of them, one to a line.
[[nodiscard]] Error to_error(std::span<const Problem> problems);

// The path of a key as TOML writes it: names with other than letters, digits, - and _ in quotes.
[[nodiscard]] std::string join_key(std::string_view path, std::string_view name);

}  // namespace holdfast::config
