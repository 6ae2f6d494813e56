#include "cli/upload.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "core/json_text.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kAtOnce = 500;
constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20U;
constexpr std::size_t kMostTold = 100;

}  // namespace

Result<void> Upload::add(std::uint64_t line, Submission submission) {
  waiting_bytes_ += submission.payload.size();
  waiting_.push_back(std::move(submission));
  lines_.push_back(line);
  if (waiting_.size() < kAtOnce && waiting_bytes_ < kBytesAtOnce) return {};
  return flush();
}

void Upload::refuse(std::uint64_t line, std::string why) {
  refused_.push_back({line, std::move(why)});
}

Result<void> Upload::flush() {
  if (waiting_.empty()) return {};
  auto answers = client_.submit(waiting_);
  if (!answers) return std::unexpected(std::move(answers).error());
  std::size_t at = 0;
  std::optional<Error> broken;
  for (; at < answers->size() && !broken; ++at) {
    auto& answer = (*answers)[at];
    if (answer) {
      ++accepted_;
      if (on_accepted) on_accepted(lines_[at], *answer);
    } else if (answer.error().code == ErrorCode::unavailable ||
               answer.error().code == ErrorCode::timeout) {
      broken = answer.error();  // and so are all behind it
      --at;
    } else {
      refuse(lines_[at], answer.error().message);
    }
  }
  const auto count = static_cast<std::ptrdiff_t>(at);
  lines_.erase(lines_.begin(), lines_.begin() + count);
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  waiting_bytes_ = 0;
  progress_.show("Handed in", accepted_, 0);
  if (broken) return std::unexpected(*std::move(broken));
  return {};
}

void tell_refused(Io& io, const Upload& upload) {
  std::size_t told = 0;
  for (const Upload::Refused& refused : upload.refused()) {
    if (++told > kMostTold) {
      io.err << fmt::format("… and {} more\n", grouped(upload.refused().size() - kMostTold));
      return;
    }
    std::string why;
    append_visible(why, refused.why);
    io.err << fmt::format("line {}: {}\n", refused.line, why);
  }
}

}  // namespace holdfast::cli
