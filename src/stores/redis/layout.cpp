#include "stores/redis/layout.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "core/utf8.hpp"
#include "ports/groups.hpp"

namespace holdfast::stores::redis {
namespace {

using core::State;

constexpr std::uint8_t kHasDeadline = 2;
constexpr std::uint8_t kWasCarried = 4;
constexpr std::uint8_t kRetryOnFailure = 1;
constexpr std::uint8_t kOwnAttempts = 2;
constexpr std::uint8_t kOwnTimeout = 4;

constexpr std::int64_t kEarliest =
    std::chrono::floor<std::chrono::microseconds>(WallTime::min()).time_since_epoch().count();
constexpr std::int64_t kLatest =
    std::chrono::floor<std::chrono::microseconds>(WallTime::max()).time_since_epoch().count();

template <int kBytes>
void append_big_endian(std::string& bytes, std::uint64_t value) {
  std::array<char, kBytes> text;
  for (int at = kBytes - 1; at >= 0; --at) {
    text[static_cast<std::size_t>(at)] = static_cast<char>(value & 0xffU);
    value >>= 8U;
  }
  bytes.append(text.data(), text.size());
}

void append_signed(std::string& bytes, std::int64_t value) {
  append_8(bytes, static_cast<std::uint64_t>(value));
}

void append_time(std::string& bytes, WallTime time) {
  append_signed(bytes, microseconds(time));
}

void append_text(std::string& bytes, std::string_view text) {
  append_4(bytes, text.size());
  bytes += text;
}

// Over what stands there.
void write_4(std::string& bytes, std::size_t at, std::size_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    bytes[at + i] = static_cast<char>(value >> (8 * (3 - i)) & 0xffU);
}

// A text of which only its end will tell how long it is.
class OpenText {
 public:
  explicit OpenText(std::string& bytes) : bytes_(bytes), begin_(bytes.size()) {
    append_4(bytes, 0);
  }
  void end() { write_4(bytes_, begin_, bytes_.size() - begin_ - 4); }

 private:
  std::string& bytes_;
  const std::size_t begin_;
};

void append_failure(std::string& bytes, const Failure& failure) {
  append_1(bytes, static_cast<std::uint8_t>(failure.kind));
  for (const auto& number : {failure.http_status, failure.exit_code, failure.os_error}) {
    append_1(bytes, number ? 1 : 0);
    append_4(bytes, static_cast<std::uint32_t>(number.value_or(0)));
  }
  append_1(bytes, failure.retry_after ? 1 : 0);
  append_signed(bytes, failure.retry_after.value_or(Duration()).count());
  append_text(bytes, utf8_prefix(failure.message, ports::kKeptMessageBytes));
}

// Reads from the front. Once something was missing, all that follows is nothing.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      is_whole_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] std::uint64_t number(std::size_t bytes) { return read_big_endian(take(bytes)); }
  [[nodiscard]] std::int64_t signed_8() { return static_cast<std::int64_t>(number(8)); }
  [[nodiscard]] int signed_4() { return static_cast<int>(static_cast<std::uint32_t>(number(4))); }
  [[nodiscard]] WallTime time() { return wall_time(signed_8()); }
  [[nodiscard]] std::string_view text() { return take(static_cast<std::size_t>(number(4))); }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  std::string_view rest_;
  bool is_whole_ = true;
};

Failure read_failure(Bytes& bytes) {
  Failure failure;
  failure.kind = static_cast<FailureKind>(bytes.number(1));
  for (auto* number : {&failure.http_status, &failure.exit_code, &failure.os_error}) {
    const bool is_there = bytes.number(1) != 0;
    const int value = bytes.signed_4();
    if (is_there) *number = value;
  }
  const bool waits = bytes.number(1) != 0;
  const Duration wait(bytes.signed_8());
  if (waits) failure.retry_after = wait;
  failure.message = bytes.text();
  return failure;
}

void append_spent(std::string& bytes, const core::Spent& spent) {
  for (const int count : {spent.attempts, spent.crashes, spent.deferrals, spent.replays})
    append_4(bytes, static_cast<std::uint32_t>(count));
}

// Bytes 1 to 67: from the state to the fingerprint.
struct Beginning {
  State state = State::pending;
  std::uint8_t flags = 0;
  std::optional<core::DeadReason> dead_reason = {};
  core::Spent spent = {};
  core::Token token = {};
  WallTime due{};
  WallTime changed{};
  Duration previous_wait{};
  std::optional<WallTime> deadline = {};
  Fingerprint fingerprint = {};
};

void append_beginning(std::string& bytes, const Beginning& is) {
  append_1(bytes, static_cast<std::uint8_t>(is.state));
  append_1(bytes, is.flags | (is.deadline ? kHasDeadline : 0));
  append_1(bytes, is.dead_reason ? static_cast<std::uint8_t>(*is.dead_reason) + 1 : 0);
  append_spent(bytes, is.spent);
  append_8(bytes, is.token.value);
  append_time(bytes, is.due);
  append_time(bytes, is.changed);
  append_signed(bytes, is.previous_wait.count());
  append_time(bytes, is.deadline.value_or(WallTime()));
  append_8(bytes, is.fingerprint.value());
}

// Of no attempt: what is left of one that is not kept any more.
constexpr std::uint64_t kMemo = 255;
constexpr std::uint64_t kHasFailure = 1;
constexpr std::uint64_t kHasResult = 2;

struct ReadAttempt {
  ports::PastAttempt attempt = {};
  std::string_view result = {};
  bool is_memo = false;
};

std::optional<ReadAttempt> read_one_attempt(std::string_view entry) {
  Bytes bytes(entry);
  ReadAttempt read;
  ports::PastAttempt& attempt = read.attempt;
  attempt.token.value = bytes.number(8);
  const std::uint64_t event = bytes.number(1);
  read.is_memo = event == kMemo;
  if (!read.is_memo) attempt.event = static_cast<core::Event>(event);
  attempt.started = bytes.time();
  attempt.ended = bytes.time();
  attempt.owner = bytes.take(static_cast<std::size_t>(bytes.number(2)));
  const std::uint64_t flags = bytes.number(1);
  if ((flags & kHasFailure) != 0) {
    Bytes failure(bytes.text());
    attempt.failure = read_failure(failure);
    if (!failure.is_whole()) return std::nullopt;
  }
  if ((flags & kHasResult) != 0) read.result = bytes.text();
  if (!bytes.is_whole()) return std::nullopt;
  return read;
}

}  // namespace

std::int64_t microseconds(WallTime time) noexcept {
  return std::chrono::floor<std::chrono::microseconds>(time).time_since_epoch().count();
}

WallTime wall_time(std::int64_t microseconds) noexcept {
  if (microseconds <= kEarliest) return WallTime::min();
  if (microseconds >= kLatest) return WallTime::max();
  return WallTime(std::chrono::microseconds(microseconds));
}

WallTime wall_time(std::string_view eight_bytes) noexcept {
  return wall_time(static_cast<std::int64_t>(read_big_endian(eight_bytes)));
}

std::string_view id_bytes(const TaskId& id) noexcept {
  const Uuid::Bytes& bytes = id.uuid().bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TaskId task_id(std::string_view sixteen_bytes) noexcept {
  Uuid::Bytes bytes{};
  std::memcpy(bytes.data(), sixteen_bytes.data(), std::min(bytes.size(), sixteen_bytes.size()));
  return TaskId(Uuid(bytes));
}

void append_1(std::string& bytes, std::uint64_t value) {
  bytes.push_back(static_cast<char>(value));
}
void append_2(std::string& bytes, std::uint64_t value) {
  append_big_endian<2>(bytes, value);
}
void append_4(std::string& bytes, std::uint64_t value) {
  append_big_endian<4>(bytes, value);
}
void append_8(std::string& bytes, std::uint64_t value) {
  append_big_endian<8>(bytes, value);
}

std::uint64_t read_big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char byte : bytes)
    value = value << 8U | static_cast<std::uint8_t>(byte);
  return value;
}

void add_number(WordList& words, std::int64_t number) {
  std::array<char, 24> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  words.add({text.data(), end});
}

void append_new_record(WordList& words, const ports::NewTask& task) {
  std::string& bytes = words.bytes();
  const std::size_t begin = bytes.size();
  append_beginning(bytes, {.flags = task.carried ? kWasCarried : std::uint8_t{0},
                           .spent = {.attempts = std::max(task.attempts, 0)},
                           .due = task.due,
                           .changed = task.created,
                           .deadline = task.deadline});
  append_8(bytes, 0);  // lease
  append_4(bytes, 0);  // owner
  append_8(bytes, 0);  // carried with no token, if at all
  words.end_word();
  append_1(bytes, static_cast<std::uint8_t>(task.priority + 100));
  append_time(bytes, task.created);
  append_1(bytes, (task.retry_on_failure ? kRetryOnFailure : 0) |
                      (task.limits.attempts ? kOwnAttempts : 0) |
                      (task.limits.timeout ? kOwnTimeout : 0));
  const std::size_t payload_begins = bytes.size();
  append_4(bytes, 0);
  append_text(bytes, task.type);
  append_text(bytes, task.key);
  append_text(bytes, task.trace);
  if (task.limits.attempts) append_4(bytes, static_cast<std::uint32_t>(*task.limits.attempts));
  if (task.limits.timeout) append_signed(bytes, task.limits.timeout->count());
  constexpr std::size_t kNumberAndQueue = 12;
  write_4(bytes, payload_begins, bytes.size() - begin + kNumberAndQueue);
  bytes += task.payload;
  words.end_word();
}

namespace {

Beginning beginning_after(const ports::Change::One& one) {
  const core::Transition& transition = one.transition;
  const bool to_group = transition.to == State::failed || transition.to == State::dead;
  return {.state = transition.to,
          .flags = 0,
          .dead_reason = transition.dead_reason,
          .spent = transition.spent,
          .token = transition.token,
          .due = transition.due,
          .changed = transition.due - transition.wait,
          .previous_wait = transition.previous_wait,
          .deadline = transition.deadline,
          .fingerprint = to_group ? one.fingerprint : Fingerprint()};
}

// What an attempt that ends so says: its flags, and its failure and result.
std::uint64_t flags_of(const ports::Change::One& one) {
  return (one.transition.failure ? kHasFailure : 0) |
         (one.transition.to == State::succeeded ? kHasResult : 0);
}

void append_said(std::string& bytes, const ports::Change::One& one) {
  if (one.transition.failure) {
    OpenText failure(bytes);
    append_failure(bytes, *one.transition.failure);
    failure.end();
  }
  if (one.transition.to == State::succeeded) append_text(bytes, one.result);
}

constexpr unsigned kAttemptsShift = 3;  // their number, in the flags of a record
constexpr std::uint64_t kAgain = 128;   // among the flags of a change

}  // namespace

std::string_view example_of(const ports::Change::One& one) {
  const core::Transition& transition = one.transition;
  if (transition.to != State::failed && transition.to != State::dead) return {};
  if (transition.failure) return utf8_prefix(transition.failure->message, ports::kKeptMessageBytes);
  return transition.dead_reason ? to_string(*transition.dead_reason) : std::string_view();
}

namespace {

// If it is to be noted: of what runs, the attempt is.
std::string_view who_decided(const ports::Change::One& one) {
  const core::Transition& transition = one.transition;
  const bool is_noted = transition.failure || transition.token != one.token;
  if (transition.from == State::running || !is_noted) return {};
  return utf8_prefix(one.by, ports::kKeptMessageBytes);
}

}  // namespace

void append_change(std::string& bytes, const ports::Change::One& one) {
  bytes += id_bytes(one.id);
  append_8(bytes, one.token.value);
  append_1(bytes, static_cast<std::uint8_t>(one.transition.from));
  append_1(bytes, static_cast<std::uint8_t>(one.transition.event));
  append_1(bytes, flags_of(one) | (is_to_be_claimed_again(one) ? kAgain : 0));
  append_beginning(bytes, beginning_after(one));
  append_1(bytes, static_cast<std::uint8_t>(ports::came_by(one.transition)));
  const std::string_view who = who_decided(one);
  append_2(bytes, who.size());
  bytes += who;
  OpenText said(bytes);
  append_said(bytes, one);
  said.end();
  bytes += example_of(one);
}

bool has_all_attempts(const Claimed& claimed) noexcept {
  const auto many = static_cast<std::uint8_t>(claimed.head[1]) >> kAttemptsShift;
  return many >= ports::kKeptAttempts;
}

namespace {

// Where it stands among those who have gone there.
std::int64_t score_of(const ports::Change::One& one) {
  const core::Transition& transition = one.transition;
  const bool waits = transition.to == State::pending || transition.to == State::retrying;
  return microseconds(waits ? transition.due : transition.due - transition.wait);
}

}  // namespace

void append_settlement(WordList& words, const ports::Change::One& one, const Claimed& claimed) {
  std::string& bytes = words.bytes();
  const std::string_view head = claimed.head;
  add_number(words, score_of(one));
  bytes += head.substr(87, 8);
  words.add(id_bytes(one.id));
  const auto flags = static_cast<std::uint8_t>(head[1]);
  Beginning after = beginning_after(one);
  after.flags = static_cast<std::uint8_t>((flags & kWasCarried) |
                                          (((flags >> kAttemptsShift) + 1) << kAttemptsShift));
  append_8(bytes, one.token.value);
  if (is_to_be_claimed_again(one)) {
    append_8(bytes, after.token.value + 1);
    append_time(bytes, after.changed);
  }
  words.end_word();
  append_beginning(bytes, after);
  bytes.append(12, '\0');  // no lease, no owner
  words.end_word();
  bytes += claimed.attempts;
  OpenText attempt(bytes);
  append_8(bytes, claimed.token.value);
  append_1(bytes, static_cast<std::uint8_t>(one.transition.event));
  append_time(bytes, claimed.since);
  append_time(bytes, after.changed);
  append_2(bytes, claimed.owner->size());
  bytes += *claimed.owner;
  append_1(bytes, flags_of(one));
  append_said(bytes, one);
  attempt.end();
  words.end_word();
}

void claim_again(Claimed& claimed, const WordList& words, std::size_t first) {
  const std::string_view token = words[first + 2];
  const std::string_view beginning = words[first + 3];
  claimed.token.value = read_big_endian(token.substr(8, 8));
  claimed.head.replace(0, beginning.size(), beginning);
  claimed.attempts = words[first + 4];
  claimed.since = wall_time(token.substr(16, 8));
}

Course course_of(const ports::Change::One& one, const Claimed& claimed) {
  const std::string_view head = claimed.head;
  Course course{.queue = read_big_endian(head.substr(95, 4)),
                .priority = static_cast<std::uint8_t>(head[99]),
                .to = one.transition.to,
                .again = is_to_be_claimed_again(one)};
  if (course.again) course.priority = 0;
  const bool has_group = course.to == State::failed || course.to == State::dead;
  if (has_group) {
    course.group = one.fingerprint;
    course.came_by = ports::came_by(one.transition);
    course.type = claimed.type;
  }
  return course;
}

void append_course(WordList& words, const Course& course, std::size_t many,
                   std::string_view example) {
  add_number(words, static_cast<std::int64_t>(course.queue));
  if (course.again) {
    words.add("");
    words.add("again");
  } else {
    add_number(words, course.priority);
    add_number(words, static_cast<int>(course.to));
  }
  add_number(words, static_cast<std::int64_t>(many));
  if (course.group) {
    append_1(words.bytes(), static_cast<std::uint8_t>(course.to));
    append_8(words.bytes(), course.group->value());
    append_1(words.bytes(), static_cast<std::uint8_t>(course.came_by));
    append_4(words.bytes(), course.queue);
    words.bytes() += course.type;
  }
  words.end_word();
  words.add(example);
}

std::string group_name(State state, Fingerprint fingerprint) {
  std::string name;
  append_1(name, static_cast<std::uint8_t>(state));
  append_8(name, fingerprint.value());
  for (char& byte : name)
    byte = static_cast<char>(~byte);
  return name;
}

std::optional<Kept> read_record(const TaskId& id, std::string_view record_bytes) {
  Bytes bytes(record_bytes);
  Kept kept;
  ports::TaskRecord& record = kept.record;
  core::Task& task = record.task;
  record.id = id;
  task.state = static_cast<State>(bytes.number(1));
  const std::uint64_t flags = bytes.number(1);
  const std::uint64_t reason = bytes.number(1);
  if (reason > 0) task.dead_reason = static_cast<core::DeadReason>(reason - 1);
  for (int* count :
       {&task.spent.attempts, &task.spent.crashes, &task.spent.deferrals, &task.spent.replays}) {
    *count = bytes.signed_4();
  }
  task.token.value = bytes.number(8);
  task.due = bytes.time();
  record.changed = bytes.time();
  task.previous_wait = Duration(bytes.signed_8());
  const WallTime deadline = bytes.time();
  if ((flags & kHasDeadline) != 0) task.deadline = deadline;
  record.fingerprint = Fingerprint(bytes.number(8));
  record.lease_end = bytes.time();
  (void)bytes.number(4);  // the owner, whose name is told apart
  const core::Token carried{bytes.number(8)};
  if ((flags & kWasCarried) != 0) kept.carried = carried;
  kept.number = bytes.signed_8();
  (void)bytes.number(4);  // likewise the queue
  record.priority = static_cast<int>(bytes.number(1)) - 100;
  task.created = bytes.time();
  const std::uint64_t own = bytes.number(1);
  record.retry_on_failure = (own & kRetryOnFailure) != 0;
  (void)bytes.number(4);
  record.type = bytes.text();
  record.key = bytes.text();
  record.trace = bytes.text();
  if ((own & kOwnAttempts) != 0) record.limits.attempts = bytes.signed_4();
  if ((own & kOwnTimeout) != 0) record.limits.timeout = Duration(bytes.signed_8());
  record.payload = bytes.rest();
  if (!bytes.is_whole() || task.state > State::canceled) return std::nullopt;
  return kept;
}

bool read_attempts(std::string_view all, ports::TaskRecord& record) {
  const bool has_result = record.task.state == State::succeeded;
  if (has_result) record.result.emplace();
  Bytes bytes(all);
  while (!bytes.rest().empty()) {
    auto read = read_one_attempt(bytes.text());
    if (!read) return false;
    if (read->attempt.failure) record.task.last_failure = read->attempt.failure;
    if (has_result) record.result = std::string(read->result);
    if (!read->is_memo) record.attempts.push_back(std::move(read->attempt));
  }
  return bytes.is_whole();
}

bool read_last_failure(std::string_view all, ports::TaskRecord& record) {
  if (!read_attempts(all, record)) return false;
  record.attempts.clear();
  record.result.reset();
  return true;
}

}  // namespace holdfast::stores::redis
