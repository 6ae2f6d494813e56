#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <holdfast/operation.hpp>

#include "ports/store_lane.hpp"
#include "triage/query.hpp"

namespace holdfast::triage {

// Goes through the tasks that match a query, a page at a time: what a store cannot look for by
// itself is sieved here, so that every store finds the same (N10).
struct Search {
  Query query = {};
  std::string cursor = {};         // Found::next of the page before
  std::size_t limit = 100;         // most that are found
  std::size_t most_looked = 2500;  // a page of it costs a few hundredths of a second
  bool payloads = false;           // wanted, needed or not
};

struct Found {
  std::vector<ports::TaskRecord> tasks = {};
  std::size_t looked = 0;  // at how many, those that match among them
  std::string next = {};   // empty: that was the last page
};

// `then` is called on the loop, once. The lane must live until then.
using Searched = std::move_only_function<void(Result<Found>)>;
void search(ports::StoreLane& reader, Search what, Searched then);

// How many match. Of what is counted anyway it is told at once; of all else a bounded number is
// looked at for each call, and the next one goes on.
void count(ports::StoreLane& reader, Query query, std::string cursor,
           std::move_only_function<void(Result<TaskCount>)> then);

}  // namespace holdfast::triage
