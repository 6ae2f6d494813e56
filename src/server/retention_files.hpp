#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "io/durable_file.hpp"
#include "io/lane.hpp"
#include "ports/loop.hpp"
#include "ports/spill.hpp"

namespace holdfast::server {

// Files for tasks that go, and one for what was announced of them; for their owner's eyes only. A
// heap is a file of its own, in JSON lines, as `holdfast dead export` writes them and `holdfast
// dead import` reads them; it is there whole, or not at all. Threads: the loop's; what blocks is
// done on one of its own.
class RetentionFiles final : public ports::Spill, public ports::Memo {
 public:
  struct Paths {
    std::string folder = {};  // for heaps; empty: nothing can be spilled
    std::string memo = {};    // empty: nothing is remembered
  };
  // Reads the memo. The loop and the log's sink must outlive it.
  RetentionFiles(ports::Loop& loop, Paths paths, Logger log);

  void add(core::State state, std::vector<ports::TaskRecord> tasks, Added done) override;
  void keep(Kept done) override;
  void drop() override;

  [[nodiscard]] std::string_view last_life() const noexcept override { return last_life_; }
  void write(std::string text) override;

 private:
  enum class What : std::uint8_t { add, keep, drop, memo };
  struct Job {
    What what = What::drop;
    core::State state{};
    std::vector<ports::TaskRecord> tasks = {};
    std::string memo = {};
    Result<std::string> answer = fail(ErrorCode::internal, "spill", "was not carried out");
  };

  void carry_out(std::span<Job> jobs);
  [[nodiscard]] Result<std::string> carry_out(Job& job);
  [[nodiscard]] Result<std::string> add(const Job& job);
  [[nodiscard]] Result<std::string> write_memo(const std::string& text) const;

  const Paths paths_;
  const Logger log_;
  const std::string last_life_;
  std::optional<io::DurableFile> heap_;  // the lane's thread only
  std::string name_;                     // of it; likewise
  io::Lane<Job> lane_;                   // last: it uses all of the above
};

}  // namespace holdfast::server
