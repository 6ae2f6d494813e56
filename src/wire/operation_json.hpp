#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/operation.hpp>
#include <holdfast/result.hpp>

#include "wire/json_writer.hpp"

// Operations, as the server answers and keeps them, and as a client reads them.
// Readers of requests fail with invalid_argument, those of answers and of what is kept with
// corrupt.
namespace holdfast::wire {

void write(JsonWriter& writer, const OperationRequest& request);
[[nodiscard]] Result<OperationRequest> read_operation_request(std::string_view json);

// What may be said anew when an operation is started: what is left out stays as it is. An empty
// body says nothing.
[[nodiscard]] Result<OperationRequest> read_operation_start(std::string_view json,
                                                            OperationRequest before);
// Of the options, and the reason.
void write_operation_start(JsonWriter& writer, const OperationOptions& options,
                           std::string_view reason);

void write(JsonWriter& writer, const Operation& operation);
void write(JsonWriter& writer, const OperationPage& page);
[[nodiscard]] Result<Operation> read_operation(std::string_view json);
[[nodiscard]] Result<OperationPage> read_operations(std::string_view json);

void write(JsonWriter& writer, const TaskCount& count);
[[nodiscard]] Result<TaskCount> read_count(std::string_view json);

// An operation as it is kept, with what only its runner wants to know.
struct OperationNote {
  struct Claim {
    TaskId id = {};
    std::uint64_t token = 0;

    bool operator==(const Claim&) const = default;
  };

  Operation operation = {};
  std::string runner = {};  // which process works on it
  bool start = false;       // once it is planned
  std::string cursor = {};  // where it goes on
  bool at_end = false;      // nothing is left to go through
  // Being decided about while this was written, with their tokens before: some of it may have
  // happened.
  std::vector<Claim> flight = {};
  // Brought back, with what has become of them not known yet: with the tokens they got.
  std::vector<Claim> watched = {};

  bool operator==(const OperationNote&) const = default;
};

void write(JsonWriter& writer, const OperationNote& note);
[[nodiscard]] Result<OperationNote> read_operation_note(std::string_view json);

}  // namespace holdfast::wire
