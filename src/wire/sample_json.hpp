#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "wire/json_writer.hpp"
#include "wire/recovery_json.hpp"

// The first messages of a dead-letter queue, as a server shows them: a sample, which says nothing
// of what is behind it.
namespace holdfast::wire {

struct SampleRequest {
  static constexpr std::uint64_t kMost = 500;

  std::uint64_t limit = 50;

  bool operator==(const SampleRequest&) const = default;
};

// Messages with what their consumers have said of them, by its fingerprint.
struct SampledError {
  std::string group = {};
  std::string example = {};
  std::uint64_t count = 0;

  bool operator==(const SampledError&) const = default;
};

struct SampledMessage {
  std::string id = {};
  std::string type = {};
  std::string reason = {};  // of its newest death
  std::string origin = {};  // the queue of its first death
  std::string error = {};
  std::optional<WallTime> died = {};  // or was sent
  bool redelivered = false;           // it was delivered before this look
  std::string content_type = {};
  std::uint64_t size = 0;                                         // of its body, in bytes
  std::vector<std::pair<std::string, std::string>> headers = {};  // as text
  std::string body = {};                                          // its beginning
  bool is_cut = false;
  bool is_text = true;  // not so: what is no UTF-8 is written visibly

  bool operator==(const SampledMessage&) const = default;
};

struct QueueSample {
  std::string broker = {};
  std::string queue = {};
  std::optional<std::uint64_t> found = {};  // messages that were there
  std::uint64_t seen = 0;                   // of these: the first ones
  std::optional<WallTime> oldest = {};      // death among those
  std::vector<RecoveryCount> types = {};
  std::vector<RecoveryCount> reasons = {};
  std::vector<RecoveryCount> origins = {};
  std::vector<SampledError> errors = {};
  std::vector<SampledMessage> messages = {};  // a part of what was seen

  bool operator==(const QueueSample&) const = default;
};

// An empty body asks for as many as usual. Fails with invalid_argument.
[[nodiscard]] Result<SampleRequest> read_sample_request(std::string_view json);
void write(JsonWriter& writer, const QueueSample& sample);

}  // namespace holdfast::wire
