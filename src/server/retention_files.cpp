#include "server/retention_files.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/time_text.hpp"
#include "core/uuid.hpp"
#include "io/text_file.hpp"
#include "node/task_words.hpp"
#include "wire/task_json.hpp"

namespace holdfast::server {
namespace {

constexpr std::size_t kMostMemo = 1 << 20;

// dead-2026-11-17T03-00-00Z-1f2e3d4c.jsonl: by their names they stand in order, and no two servers
// that share a folder have the same.
std::string file_name(core::State state) {
  const WallTime now = system_clock().wall_now();
  std::string time;
  append_rfc3339(time, now);
  time.resize(time.find('.'));
  std::ranges::replace(time, ':', '-');
  const std::string id = UuidSource(system_random()).next(now).text();
  return fmt::format("{}-{}Z-{}.jsonl", core::to_string(state), time, id.substr(id.size() - 8));
}

std::string read_memo(const std::string& path) {
  if (path.empty()) return {};
  // Without one, everything is announced anew.
  return io::read_text_file(path, "read", kMostMemo).value_or("");
}

}  // namespace

RetentionFiles::RetentionFiles(ports::Loop& loop, Paths paths, Logger log)
    : paths_(std::move(paths)),
      log_(log),
      last_life_(read_memo(paths_.memo)),
      lane_(loop, "hf-spill", [this](std::span<Job> jobs) { carry_out(jobs); }, log) {}

void RetentionFiles::add(core::State state, std::vector<ports::TaskRecord> tasks, Added done) {
  lane_.post({.what = What::add, .state = state, .tasks = std::move(tasks)},
             [done = std::move(done)](Job job) mutable {
               if (job.answer) return done({});
               done(std::unexpected(std::move(job.answer).error()));
             });
}

void RetentionFiles::keep(Kept done) {
  lane_.post({.what = What::keep},
             [done = std::move(done)](Job job) mutable { done(std::move(job.answer)); });
}

void RetentionFiles::drop() {
  lane_.post({.what = What::drop}, [](const Job&) {});
}

void RetentionFiles::write(std::string text) {
  if (paths_.memo.empty()) return;
  lane_.post({.what = What::memo, .memo = std::move(text)}, [log = log_](const Job& job) {
    if (job.answer) return;
    log.log(Level::warning, "janitor.not_remembered",
            "what was announced cannot be remembered: after a restart it is announced anew",
            {{"error", job.answer.error().text()}});
  });
}

void RetentionFiles::carry_out(std::span<Job> jobs) {
  for (Job& job : jobs)
    job.answer = carry_out(job);
}

Result<std::string> RetentionFiles::carry_out(Job& job) {
  switch (job.what) {
    case What::add: return add(job);
    case What::keep: {
      if (!heap_) return fail(ErrorCode::internal, "spill", "there is nothing to keep");
      auto done = std::exchange(heap_, std::nullopt)->commit();
      if (!done) return std::unexpected(std::move(done).error());
      return name_;
    }
    case What::drop: heap_.reset(); return "";
    case What::memo: return write_memo(job.memo);
  }
  std::unreachable();
}

Result<std::string> RetentionFiles::add(const Job& job) {
  if (!heap_) {
    name_ = paths_.folder + "/" + file_name(job.state);
    auto file = io::DurableFile::create(name_, false);
    if (!file) return std::unexpected(std::move(file).error());
    heap_.emplace(*std::move(file));
  }
  for (const ports::TaskRecord& task : job.tasks) {
    std::string line;
    wire::JsonWriter writer(line);
    wire::write(writer, node::to_info(task), wire::Detail::full);
    line += '\n';
    if (auto written = heap_->write(line); !written) {
      heap_.reset();
      return std::unexpected(std::move(written).error());
    }
  }
  return name_;
}

Result<std::string> RetentionFiles::write_memo(const std::string& text) const {
  auto file = io::DurableFile::create(paths_.memo, true);
  if (!file) return std::unexpected(std::move(file).error());
  auto done = file->write(text);
  if (done) done = file->commit();
  if (!done) return std::unexpected(std::move(done).error());
  return paths_.memo;
}

}  // namespace holdfast::server
