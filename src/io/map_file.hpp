#pragma once

#include <map>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

#include "ports/broker.hpp"

namespace holdfast::io {

// Where messages go by their type (V7), from a TOML file:
//
//   [map]
//   CollectionScan = "collection.scan"                          # a routing key
//   LibraryScan    = { exchange = "library", routing_key = "scan" }
//
// A routing key alone goes to `exchange`; where that is empty, it is the name of a queue. Errors
// are invalid_argument and say where: `map.toml:3:1: unknown key "routing_kee"; did you mean …`.
using TypeMap = std::map<std::string, ports::Address>;

[[nodiscard]] Result<TypeMap> parse_type_map(std::string_view text, std::string_view name,
                                             const std::string& exchange);

// The same from a file; not_found or unavailable if it cannot be read, exhausted if it has more
// than 4 MiB.
[[nodiscard]] Result<TypeMap> load_type_map(const std::string& path, const std::string& exchange);

}  // namespace holdfast::io
