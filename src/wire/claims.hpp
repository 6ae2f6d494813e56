#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/failure.hpp>
#include <holdfast/result.hpp>
#include <holdfast/task_id.hpp>
#include <holdfast/time.hpp>
#include <holdfast/verdict.hpp>

#include "core/task.hpp"
#include "wire/json_writer.hpp"

// How a worker elsewhere asks for tasks and says what became of them. The server reads the
// requests, and fails with invalid_argument for what is wrong with them, as read_submission does;
// the worker reads the tasks, and fails with corrupt, as read_task does.
namespace holdfast::wire {

// A task that was claimed, as its worker is told of it.
struct Claimed {
  TaskId id = {};
  std::string type = {};
  std::string queue = {};
  std::string payload = {};
  int attempt = 1;          // see core::Attempt::number
  core::Token token = {};   // to be given back with all that is said of it
  WallTime lease_end = {};  // from then on somebody else may have it
  std::optional<WallTime> deadline = {};
  std::string trace = {};  // W3C traceparent

  // What a worker needs that goes by rules of its own: see Ruled.
  WallTime created = {};
  core::Spent spent = {};
  Duration previous_wait = {};
  std::optional<int> max_attempts = {};  // of the task itself, in place of its type's
  std::optional<Duration> timeout = {};  // likewise

  bool operator==(const Claimed&) const = default;
};

// {"queue": "mails", "max": 10, "wait": "20s", "lease": "30s", "worker": "host-1"}
struct ClaimRequest {
  std::string queue = "default";
  int max = 1;                         // tasks; from 1 to kMostClaims
  Duration wait = {};                  // for the first, if there is none now
  std::optional<Duration> lease = {};  // else what the server holds for right
  std::string worker = {};             // who asks, for people

  bool operator==(const ClaimRequest&) const = default;
};
inline constexpr int kMostClaims = 1000;

// {"token": 7, "lease": "30s"}
struct ExtendRequest {
  core::Token token = {};
  std::optional<Duration> lease = {};

  bool operator==(const ExtendRequest&) const = default;
};

// {"token": 7, "result": …}, or "result_text", or "result_base64"
struct CompleteRequest {
  core::Token token = {};
  std::string result = {};

  bool operator==(const CompleteRequest&) const = default;
};

// What the worker's own rules say of a failure. They hold where the server has none for the type.
struct Ruled {
  VerdictKind verdict = VerdictKind::retry;
  Duration wait = {};  // before the next attempt
  int attempts = 4;
  int crashes = 3;
  int replays = 3;

  bool operator==(const Ruled&) const = default;
};

// {"token": 7, "message": "…", "kind": "error", "http_status": 503, "exit_code": 1,
//  "retry_after": "30s", "verdict": "retry", "wait": "2s", "attempts": 5, …}
struct FailRequest {
  core::Token token = {};
  std::string message = {};
  FailureKind kind = FailureKind::error;
  std::optional<int> http_status = {};
  std::optional<int> exit_code = {};
  std::optional<int> os_error = {};
  std::optional<Duration> retry_after = {};
  std::optional<Ruled> ruled = {};  // given with "verdict"

  bool operator==(const FailRequest&) const = default;
};

// {"token": 7}: handed back to be run again, at once and at no cost to it. {"token": 7, "wait":
// "30s"}: put off, since what it depends on is down.
struct ReleaseRequest {
  core::Token token = {};
  std::optional<Duration> wait = {};

  bool operator==(const ReleaseRequest&) const = default;
};

// {"worker": "host-1"}: its claims that wait for a task are answered now, with none.
struct WithdrawRequest {
  std::string worker = {};

  bool operator==(const WithdrawRequest&) const = default;
};

void write(JsonWriter& writer, const Claimed& claimed);
void write(JsonWriter& writer, std::span<const Claimed> claims);  // {"claims": […]}
[[nodiscard]] Result<std::vector<Claimed>> read_claims(std::string_view json);

void write(JsonWriter& writer, const ClaimRequest& request);
void write(JsonWriter& writer, const ExtendRequest& request);
void write(JsonWriter& writer, const CompleteRequest& request);
void write(JsonWriter& writer, const FailRequest& request);
void write(JsonWriter& writer, const ReleaseRequest& request);
void write(JsonWriter& writer, const WithdrawRequest& request);

[[nodiscard]] Result<ClaimRequest> read_claim_request(std::string_view json);
[[nodiscard]] Result<ExtendRequest> read_extend_request(std::string_view json);
[[nodiscard]] Result<CompleteRequest> read_complete_request(std::string_view json);
[[nodiscard]] Result<FailRequest> read_fail_request(std::string_view json);
[[nodiscard]] Result<ReleaseRequest> read_release_request(std::string_view json);
[[nodiscard]] Result<WithdrawRequest> read_withdraw_request(std::string_view json);

}  // namespace holdfast::wire
