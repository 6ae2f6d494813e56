#pragma once

#include <string>

#include "node/verify.hpp"

namespace holdfast::cli {

// What was verified, and how.
struct Verified {
  std::string path;
  bool repair = false;
  node::VerifyReport report;
};

// For people: where the tasks are, what was found, and what to do, in lines of at most 80 columns.
// The last line says it all.
[[nodiscard]] std::string verify_for_people(const Verified& verified, bool colour);

// The same as one JSON object on one line, and one with the same keys where it could not be
// verified: what is not known is null.
[[nodiscard]] std::string verify_json(const Verified& verified);
[[nodiscard]] std::string verify_json(const std::string& path, const Error& error);

}  // namespace holdfast::cli
