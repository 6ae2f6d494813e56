#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/result.hpp>

#include "cli/task_output.hpp"

namespace holdfast::cli {

// Hands in the lines of a file, many at a time, and remembers which were refused.
class Upload {
 public:
  Upload(Client& client, Io& io) : client_(client), progress_(io) {}

  // Called for each that was accepted, in their order.
  std::function<void(std::uint64_t line, const TaskId& id)> on_accepted = {};

  // A queue that is full is waited for as long as nothing of it gets shorter.
  Duration patience = std::chrono::minutes(1);

  // Fails if the store does: from then on the lines from first_unanswered() on are not known to be
  // accepted.
  [[nodiscard]] Result<void> add(std::uint64_t line, Submission submission);
  void refuse(std::uint64_t line, std::string why);
  [[nodiscard]] Result<void> flush();

  struct Refused {
    std::uint64_t line = 0;
    std::string why = {};
  };
  [[nodiscard]] const std::vector<Refused>& refused() const noexcept { return refused_; }
  [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }
  [[nodiscard]] std::uint64_t first_unanswered() const noexcept {
    return lines_.empty() ? 0 : lines_.front();
  }
  void end_progress() { progress_.wipe(); }

 private:
  [[nodiscard]] std::optional<Error> take(std::vector<Result<TaskId>>& answers);

  Client& client_;
  Progress progress_;
  std::vector<std::uint64_t> lines_;
  std::vector<Submission> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<Refused> refused_;
  std::uint64_t accepted_ = 0;
};

// "line 7: …" for each that was refused, at most a hundred of them.
void tell_refused(Io& io, const Upload& upload);

}  // namespace holdfast::cli
