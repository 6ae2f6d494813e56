#include "config/reading.hpp"

#include <filesystem>
#include <utility>

namespace holdfast::config {

std::string Reading::resolve(std::string_view path) const {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

void Reading::wrong(Place place, std::string key, std::string message, std::string suggestion) {
  problems.push_back({.file = file,
                      .place = place,
                      .key = std::move(key),
                      .message = std::move(message),
                      .suggestion = std::move(suggestion)});
}

}  // namespace holdfast::config
