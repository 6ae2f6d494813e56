#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recovery/run.hpp"

namespace holdfast::cli {

// What came of several queues that one command recovers.
struct RecoverTotals {
  struct NotDone {
    std::string place;
    std::string why;
  };

  bool dry = false;
  bool discards = false;
  std::uint64_t queues = 0;  // that were recovered, or looked at
  std::uint64_t found = 0;
  std::uint64_t recovered = 0;
  std::uint64_t discarded = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;
  std::uint64_t passed = 0;
  std::uint64_t parked = 0;
  std::uint64_t recognised = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t vanished = 0;
  std::uint64_t left = 0;
  std::uint64_t planned = 0;
  std::uint64_t would_fail = 0;
  std::uint64_t seen = 0;    // by dry runs
  bool has_seen_all = true;  // in the queues that were begun
  std::vector<NotDone> failed_queues = {};
  std::vector<NotDone> not_begun = {};

  void add(const recovery::Summary& summary);
};

[[nodiscard]] std::string totals_text(const RecoverTotals& totals);
// `queues`: JSON objects, one for each queue that was begun.
[[nodiscard]] std::string totals_json(const RecoverTotals& totals,
                                      const std::vector<std::string>& queues);

}  // namespace holdfast::cli
