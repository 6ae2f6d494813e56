// holdfast dead export and import.
#include <fstream>
#include <istream>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "cli/dead.hpp"
#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "cli/upload.hpp"
#include "io/durable_file.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli {
namespace {

// Where the lines go: a file that is there whole or not at all, or standard output.
class Sink {
 public:
  static Result<Sink> open(const DeadOptions& options, Io& io) {
    Sink sink;
    if (options.file == "-") {
      sink.out_ = &io.out;
      return sink;
    }
    auto file = io::DurableFile::create(options.file, options.force);
    if (!file && file.error().code == ErrorCode::conflict) {
      file.error().message += ": --force replaces it";
    }
    if (!file) return std::unexpected(std::move(file).error());
    sink.file_.emplace(*std::move(file));
    return sink;
  }

  Result<void> write(const std::string& line) {
    if (file_) return file_->write(line);
    *out_ << line;
    return {};
  }
  Result<void> commit() {
    if (file_) return file_->commit();
    if (out_->flush()) return {};
    return fail(ErrorCode::unavailable, "write", "cannot write to standard output");
  }

 private:
  std::optional<io::DurableFile> file_;
  std::ostream* out_ = nullptr;
};

struct Exported {
  std::vector<TaskId> ids = {};
  Tally left_out = {};  // gone meanwhile, or brought back
};

Result<Exported> write_all(Client& client, const std::vector<TaskId>& ids, Sink& sink, Io& io) {
  Exported exported;
  Progress progress(io);
  for (const TaskId& id : ids) {
    const auto task = client.find(id);
    if (!task && task.error().code != ErrorCode::not_found) return std::unexpected(task.error());
    if (!task) {
      exported.left_out.keep(id, task.error());
      continue;
    }
    if (task->state != TaskState::dead && task->state != TaskState::failed) {
      exported.left_out.keep(
          id, {ErrorCode::conflict, "export",
               fmt::format("the task is {}, not dead or failed", to_string(task->state))});
      continue;
    }
    const auto written = sink.write(
        json_line([&](wire::JsonWriter& writer) { write(writer, *task, wire::Detail::full); }));
    if (!written) return std::unexpected(written.error());
    exported.ids.push_back(id);
    progress.show("Exporting", exported.ids.size(), ids.size());
  }
  return exported;
}

// The same task however often it comes.
Submission anew(const TaskInfo& task, WallTime now) {
  Submission submission{.type = task.type,
                        .queue = task.queue,
                        .payload = task.payload,
                        .priority = task.priority,
                        .key = "import-of-" + task.id.text(),
                        .trace = task.trace,
                        .retry_on_failure = task.retry_on_failure};
  // One that has passed was a promise that is broken already.
  if (task.deadline && *task.deadline > now) submission.deadline = task.deadline;
  return submission;
}

}  // namespace

int export_dead(const DeadOptions& options, Io& io) {
  const auto usage = [&](std::string_view why) {
    io.err << "holdfast dead export: " << why << '\n';
    return kUsage;
  };
  if (!says_which(options)) {
    return usage("say which: --id, --where, --group, --queue, --type, --state, or --all");
  }
  if (options.discard && options.file == "-") {
    return usage("--discard needs a file: nobody knows what becomes of standard output");
  }
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "dead export", connected.error());
  const auto ids = find_dead(connected->client, options, io);
  if (!ids) return complain(io, "dead export", ids.error());
  auto sink = Sink::open(options, io);
  if (!sink) return complain(io, "dead export", sink.error());
  const auto exported = write_all(connected->client, *ids, *sink, io);
  if (!exported) return complain(io, "dead export", exported.error());
  if (const auto written = sink->commit(); !written) {
    return complain(io, "dead export", written.error());
  }
  Tally tally = exported->left_out;
  io.err << fmt::format("Exported {}.\n", grouped(exported->ids.size()));
  if (options.discard) {
    for (std::size_t at = 0; at < exported->ids.size(); at += kDecisionsAtOnce) {
      const auto some = std::span(exported->ids)
                            .subspan(at, std::min(kDecisionsAtOnce, exported->ids.size() - at));
      const auto done =
          carry_out(connected->client, some, Fate::discard, {.reason = "exported"}, tally);
      if (!done) return complain(io, "dead export", done.error());
    }
    return report(io, tally, Fate::discard, options.json);
  }
  if (tally.kept > 0)
    io.err << fmt::format("{} were left out, since they are not dead any more.\n",
                          grouped(tally.kept));
  return tally.kept > 0 ? kKept : kDone;
}

int import_dead(const DeadOptions& options, Io& io) {
  std::ifstream file;
  if (options.file != "-") {
    file.open(options.file);
    if (!file) {
      return complain(io, "dead import",
                      {ErrorCode::not_found, "open", "cannot read " + options.file});
    }
  }
  auto connected = connect(options.target, Missing::is_made);
  if (!connected) return complain(io, "dead import", connected.error());
  const WallTime now = system_clock().wall_now();
  Upload upload(connected->client, io);
  std::uint64_t existed = 0;
  upload.on_accepted = [&](std::uint64_t line, const TaskId& id) {
    // An id tells when it was made: one from before this import belongs to an earlier one.
    const bool is_old = id.uuid().time().value_or(now) + std::chrono::seconds(1) < now;
    if (is_old) ++existed;
    if (!options.json) return;
    io.out << json_line([&](wire::JsonWriter& writer) {
      writer.begin_object().key("line").number(line).key("id").plain(id.text());
      writer.key("existed").boolean(is_old).end_object();
    });
  };
  std::istream& in = options.file == "-" ? io.in : file;
  std::uint64_t number = 0;
  Result<void> handed;
  for (std::string line; handed && std::getline(in, line);) {
    ++number;
    if (line.empty()) continue;
    const auto task = wire::read_task(line);
    if (!task) {
      upload.refuse(number, "is no line of an export: " + task.error().message);
      continue;
    }
    handed = upload.add(number, anew(*task, now));
  }
  if (handed) handed = upload.flush();
  upload.end_progress();
  tell_refused(io, upload);
  (options.json ? io.err : io.out) << fmt::format(
      "Imported {}, there before {}, refused {}.\n", grouped(upload.accepted() - existed),
      grouped(existed), grouped(upload.refused().size()));
  if (!handed) {
    complain(io, "dead import", handed.error());
    io.err << "Run it again: what is accepted already is not handed in twice.\n";
    return kFailed;
  }
  return upload.refused().empty() ? kDone : kKept;
}

}  // namespace holdfast::cli
