#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "config/outside.hpp"
#include "config/problem.hpp"

namespace holdfast::config {

// One reading of a file: what is wrong so far, and where everything stands.
struct Reading {
  std::string file;
  std::string folder;  // where relative paths begin
  Outside& outside;
  Problems problems = {};
  std::map<std::string, Place, std::less<>> places = {};  // of each key and table that was given

  [[nodiscard]] bool has(std::string_view key) const { return places.contains(key); }
  [[nodiscard]] std::string resolve(std::string_view path) const;
  void wrong(Place place, std::string key, std::string message, std::string suggestion = {});
};

// The key whose value is read.
struct Spot {
  Reading& reading;
  std::string key;
  Place place;

  void wrong(std::string message, std::string suggestion = {}) const {
    reading.wrong(place, key, std::move(message), std::move(suggestion));
  }
  [[nodiscard]] Spot at(Place other) const { return {reading, key, other}; }
};

}  // namespace holdfast::config
