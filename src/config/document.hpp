#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/problem.hpp"

namespace holdfast::config {

struct Member;

// A value of a TOML file, and where it stands. What configuration never uses (dates and times) has
// no value here.
struct Value {
  using List = std::vector<Value>;
  using Table = std::vector<Member>;  // in the order of the file

  Place place = {};
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table> data;

  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&data);
  }
};

struct Member {
  std::string key = {};
  Place place = {};  // of the key
  Value value = {};
};

// A whole file. What is not TOML is one problem, with the place where reading it ended.
[[nodiscard]] std::expected<Value::Table, Problem> parse_document(std::string_view text,
                                                                  const std::string& file);

}  // namespace holdfast::config
