#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/broker.hpp"
#include "recovery/identity.hpp"

// A backup of messages: JSON lines, each with a checksum of all that is in front of it. A run that
// writes begins with a line of its own:
//
//   {"holdfast_backup":1,"run":"…","time":"…","from":"amqp://host:5672/%2f/app.dlq","sum":"…"}
//   {"run":"…","queue":"app.dlq","exchange":"","routing_key":"app.dlq","redelivered":false,
//    "properties":{"message_id":"4711","delivery_mode":2,…},
//    "headers":[["MessageType",["text","Scan"]],["x-death",["array",[["table",[…]]]]]],
//    "body":"…","sum":"…"}
//
// A line is known by its checksum, wherever it stands: the run is in it, so two lines are the same
// only if one run has written the same message twice.
//
// A text that is not UTF-8 is ["BASE64"] instead of "…". A header's value is its type and the value
// itself: null, bool, i8 to u64, f32 and f64 (the bits in hexadecimal), decimal (places, digits),
// text, bytes (base64), time (seconds since 1970), array, table. docs/recovery.md has it for
// people.
namespace holdfast::recovery {

inline constexpr int kBackupVersion = 1;

// Where its lines go. Threads: the loop's; both may block for as long as a disk does.
class Backup {
 public:
  virtual ~Backup() = default;

  [[nodiscard]] virtual Result<void> append(std::string_view lines) = 0;
  // All of it is on the disk when it returns. If one of the two fails, what was appended since the
  // last time is not there.
  [[nodiscard]] virtual Result<void> sync() = 0;
};

// `place`: the broker and its queue, for people.
void append_backup_begin(std::string& out, WallTime time, std::string_view run,
                         std::string_view place);
void append_backup_message(std::string& out, const ports::Delivery& delivery,
                           std::string_view queue, std::string_view run);

// One line of the two kinds.
struct BackupLine {
  std::string run = {};   // of a line that begins a run; empty: it is a message
  bool is_newer = false;  // it begins a run of another version of the format, not to be read here
  std::string queue = {};
  ports::Delivery delivery = {};
  Identity sum = {};
};

// The error says what is wrong, for people: it is torn, its checksum is another.
[[nodiscard]] std::expected<BackupLine, std::string> parse_backup_line(std::string_view line);
// The start of the first line of a backup, which was not finished.
[[nodiscard]] bool may_begin_backup(std::string_view text) noexcept;
// Of all that is in front of `,"sum"`.
[[nodiscard]] Identity backup_checksum(std::string_view text);

}  // namespace holdfast::recovery
