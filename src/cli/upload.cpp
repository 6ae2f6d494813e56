#include "cli/upload.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "core/json_text.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kSubmissionsAtOnce = 500;
constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20U;
constexpr std::size_t kMostRefusedTold = 100;
constexpr Duration kFullAgain = std::chrono::milliseconds(200);

}  // namespace

Result<void> Upload::add(std::uint64_t line, Submission submission) {
  waiting_bytes_ += submission.payload.size();
  waiting_.push_back(std::move(submission));
  lines_.push_back(line);
  if (waiting_.size() < kSubmissionsAtOnce && waiting_bytes_ < kBytesAtOnce) return {};
  return flush();
}

void Upload::refuse(std::uint64_t line, std::string why) {
  refused_.push_back({line, std::move(why)});
}

Result<void> Upload::flush() {
  Clock& clock = system_clock();
  SteadyTime until = saturating_add(clock.now(), patience);
  while (!waiting_.empty()) {
    auto answers = client_.submit(waiting_);
    if (!answers) return std::unexpected(std::move(answers).error());
    const std::size_t before = waiting_.size();
    const auto stopped = take(*answers);
    progress_.show("Handed in", accepted_, 0);
    if (!stopped) break;
    const bool is_full = stopped->code == ErrorCode::overloaded;
    if (waiting_.size() < before) until = saturating_add(clock.now(), patience);
    if (!is_full || clock.now() >= until) return std::unexpected(*stopped);
    clock.sleep_for(kFullAgain);
  }
  return {};
}

// What the store could not take now stays, and why it could not is told; all else must not be
// handed in a second time.
std::optional<Error> Upload::take(std::vector<Result<TaskId>>& answers) {
  std::optional<Error> stopped;
  std::vector<std::uint64_t> lines = std::exchange(lines_, {});
  std::vector<Submission> waiting = std::exchange(waiting_, {});
  waiting_bytes_ = 0;
  for (std::size_t at = 0; at < answers.size(); ++at) {
    if (answers[at]) {
      ++accepted_;
      if (on_accepted) on_accepted(lines[at], *answers[at]);
      continue;
    }
    const Error& error = answers[at].error();
    const bool may_pass = error.code == ErrorCode::unavailable ||
                          error.code == ErrorCode::timeout || error.code == ErrorCode::overloaded;
    if (!may_pass) {
      refuse(lines[at], error.message);
      continue;
    }
    if (!stopped || stopped->code == ErrorCode::overloaded) stopped = error;
    lines_.push_back(lines[at]);
    waiting_bytes_ += waiting[at].payload.size();
    waiting_.push_back(std::move(waiting[at]));
  }
  return stopped;
}

void tell_refused(Io& io, const Upload& upload) {
  std::size_t told = 0;
  for (const Upload::Refused& refused : upload.refused()) {
    if (++told > kMostRefusedTold) {
      io.err << fmt::format("… and {} more\n", grouped(upload.refused().size() - kMostRefusedTold));
      return;
    }
    std::string why;
    append_visible(why, refused.why);
    io.err << fmt::format("line {}: {}\n", refused.line, why);
  }
}

}  // namespace holdfast::cli
