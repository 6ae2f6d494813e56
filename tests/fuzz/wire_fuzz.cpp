// Any bytes as any document of the API: a value or an error, and a value survives being written.
// The first byte says which document.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "core/json_text.hpp"
#include "wire/claims.hpp"
#include "wire/group_json.hpp"
#include "wire/operation_json.hpp"
#include "wire/problem.hpp"
#include "wire/submission_json.hpp"
#include "wire/task_json.hpp"

namespace {

using namespace holdfast;

void expect(bool holds) {
  if (!holds) std::abort();
}

// How a value that was read is written: lists as spans, tasks in full.
void put(wire::JsonWriter& writer, const TaskInfo& task) {
  wire::write(writer, task, wire::Detail::full);
}
template <class Value>
void put(wire::JsonWriter& writer, const std::vector<Value>& values) {
  wire::write(writer, std::span<const Value>(values));
}
template <class Value>
void put(wire::JsonWriter& writer, const Value& value) {
  wire::write(writer, value);
}

template <class Value>
std::string written(const Value& value) {
  std::string out;
  wire::JsonWriter writer(out);
  put(writer, value);
  return out;
}

void check(const Error& error) {
  expect(error.code == ErrorCode::invalid_argument || error.code == ErrorCode::corrupt);
  expect(is_visible(error.message));
}

template <class Read>
void check(Read read, std::string_view json) {
  const auto value = read(json);
  if (!value) return check(value.error());
  expect(read(written(*value)) == value);
}

Result<Submission> read_one(std::string_view json) {
  return wire::read_submission(json, {});
}

// A page is written as a list, so only what a list has can come back.
void check_page(std::string_view json) {
  const auto page = wire::read_page(json);
  if (!page) return check(page.error());
  const auto listed = wire::read_page(written(*page));
  expect(listed.has_value() && wire::read_page(written(*listed)) == listed);
}

void check_submissions(std::string_view json) {
  const auto all = wire::read_submissions(json, {.most_entries = 20});
  if (!all) return check(all.error());
  expect(all->size() <= 20);
  for (const Result<Submission>& each : *all) {
    if (!each) {
      check(each.error());
    } else {
      expect(read_one(written(*each)) == each);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'a': check(wire::read_accepted, json); break;
    case 'A': check(wire::read_answers, json); break;
    case 'c': check(wire::read_claim_request, json); break;
    case 'C': check(wire::read_claims, json); break;
    case 'd': check(wire::read_complete_request, json); break;
    case 'e': check(wire::read_extend_request, json); break;
    case 'f': check(wire::read_fail_request, json); break;
    case 'g': check(wire::read_groups, json); break;
    case 'l': check_page(json); break;
    case 'n': check(wire::read_operation_note, json); break;
    case 'o': check(wire::read_operation, json); break;
    case 'O': check(wire::read_operation_request, json); break;
    case 'p': check(wire::read_problem, json); break;
    case 'q': check(wire::read_queues, json); break;
    case 's': check(read_one, json); break;
    case 't': check(wire::read_task, json); break;
    default: check_submissions(json); break;
  }
  return 0;
}
