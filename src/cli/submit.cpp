// holdfast submit: hand in a task, or a file of them.
#include <fstream>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "cli/upload.hpp"
#include "cli/verbs.hpp"
#include "core/time_text.hpp"
#include "core/traceparent.hpp"
#include "core/units.hpp"
#include "io/durable_file.hpp"
#include "wire/submission_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kSubmitExamples = R"(Examples:
  holdfast submit mail.send --payload '{"to": "ann@example.org"}'
  holdfast submit report --payload @report.json --delay 30m --key report-17
  date | holdfast submit log --payload - --wait=30s
  holdfast submit thumb --lines images.txt --key thumbs   one task for each line
  holdfast submit --jsonl tasks.jsonl                     one JSON task a line

The id is printed when the task is on disk. --wait waits until it has ended,
and prints its result; the exit code is then 1 if it did not succeed.

--lines and --jsonl hand in many at a time. A line that is refused keeps no
other back: it is named, kept with --rejects, and the exit code is 3. If the
server goes away, what was accepted is said, and with which --from-line to go
on. With --key, line N has the key KEY:N, so that to run it all again hands in
nothing twice. A line of --jsonl is a task as docs/api.md has it:
  {"type": "mail.send", "payload": {"to": "ann"}, "key": "welcome-ann"}

Without a server, the tasks are put into the file, and run by the next one.

Exit codes: 0 accepted; 3 some lines were refused; 1 it could not be done; 2
the command line is wrong.)";

struct SubmitOptions {
  Target target;
  Submission task;
  std::string payload;
  std::string delay;
  std::string due;
  std::string deadline;
  std::string timeout;
  int attempts = 0;
  CLI::Option* wait_option = nullptr;
  std::string wait;
  std::string lines;
  std::string jsonl;
  std::string rejects;
  std::uint64_t from_line = 1;
  bool json = false;
};

std::unexpected<Error> wrong(const std::string& option, std::string why) {
  return fail(ErrorCode::invalid_argument, option, std::move(why));
}

Result<std::string> read_payload(const std::string& given, std::istream& in) {
  if (given == "-") return std::string(std::istreambuf_iterator<char>(in), {});
  if (!given.starts_with('@')) return given;
  std::ifstream file(given.substr(1), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) return wrong("--payload", "cannot read " + given.substr(1));
  return bytes;
}

// What is said with the options, for one task or for each line.
Result<Submission> task_of(const SubmitOptions& options) {
  Submission task = options.task;
  const auto read = [](const std::string& option, const std::string& text, auto parse,
                       auto& out) -> Result<void> {
    if (text.empty()) return {};
    auto value = parse(text);
    if (!value) return wrong(option, value.error().message);
    out = *value;
    return {};
  };
  if (auto done = read("--delay", options.delay, parse_duration, task.delay); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = read("--due", options.due, parse_rfc3339, task.due); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = read("--deadline", options.deadline, parse_rfc3339, task.deadline); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = read("--timeout", options.timeout, parse_duration, task.timeout); !done) {
    return std::unexpected(done.error());
  }
  if (options.attempts > 0) task.attempts = options.attempts;
  if (!task.trace.empty() && !is_traceparent(task.trace)) {
    return wrong("--trace", "is no W3C traceparent");
  }
  return task;
}

int tell_end(const SubmitOptions& options, Io& io, const TaskInfo& task) {
  if (options.json) {
    io.out << json_line([&](wire::JsonWriter& writer) { write(writer, task, wire::Detail::full); });
  } else if (task.state == TaskState::succeeded) {
    io.out << task.result.value_or("");
    if (!task.result.value_or("").ends_with('\n')) io.out << '\n';
  } else {
    io.err << task_for_people(task, system_clock().wall_now(), false);
  }
  return task.state == TaskState::succeeded ? kDone : kFailed;
}

int submit_one(const SubmitOptions& options, Io& io, Submission task,
               std::optional<Duration> patience) {
  auto payload = read_payload(options.payload, io.in);
  if (!payload) return complain(io, "submit", payload.error());
  task.payload = *std::move(payload);
  auto connected = connect(options.target, Missing::is_made);
  if (!connected) return complain(io, "submit", connected.error());
  if (patience && connected->is_embedded) {
    return complain(io, "submit",
                    {ErrorCode::unavailable, "--wait",
                     "nobody runs tasks here: no server has " + connected->where + " open"});
  }
  const auto id = connected->client.submit(std::move(task));
  if (!id) return complain(io, "submit", id.error());
  if (!patience) {
    io.out << (options.json ? json_line([&](wire::JsonWriter& writer) {
      writer.begin_object().key("id").plain(id->text()).end_object();
    })
                            : id->text() + '\n');
    return kDone;
  }
  io.err << id->text() << '\n';
  const auto ended = connected->client.wait(*id, *patience);
  if (!ended) return complain(io, "submit", ended.error());
  return tell_end(options, io, *ended);
}

Result<Submission> task_of_line(const SubmitOptions& options, const Submission& task,
                                const std::string& line, std::uint64_t number) {
  if (options.jsonl.empty()) {
    Submission one = task;
    one.payload = line;
    if (!one.key.empty()) one.key += fmt::format(":{}", number);
    return one;
  }
  return wire::read_submission(line, {});
}

// The lines that were refused, to be mended and handed in again.
Result<void> keep_rejects(const SubmitOptions& options, const std::vector<std::string>& lines) {
  auto file = io::DurableFile::create(options.rejects, false);
  if (!file) return std::unexpected(std::move(file).error());
  for (const std::string& line : lines) {
    if (auto written = file->write(line + '\n'); !written) return written;
  }
  return file->commit();
}

// Fails if the store does.
Result<void> hand_in_lines(const SubmitOptions& options, std::istream& in, const Submission& task,
                           Upload& upload, std::vector<std::string>& rejects) {
  std::map<std::uint64_t, std::string> texts;
  std::size_t told = 0;
  const auto keep_refused = [&] {
    for (; told < upload.refused().size(); ++told)
      rejects.push_back(texts[upload.refused()[told].line]);
  };
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (++number < options.from_line) continue;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    texts[number] = line;
    Result<void> added;
    if (auto one = task_of_line(options, task, line, number)) {
      added = upload.add(number, *std::move(one));
    } else {
      upload.refuse(number, one.error().message);
    }
    keep_refused();
    if (!added) return added;
    if (upload.first_unanswered() == 0) texts.clear();
  }
  const auto flushed = upload.flush();
  keep_refused();
  return flushed;
}

int submit_lines(const SubmitOptions& options, Io& io, const Submission& task) {
  const std::string& path = options.jsonl.empty() ? options.lines : options.jsonl;
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) {
      return complain(io, "submit", {ErrorCode::not_found, "open", "cannot read " + path});
    }
  }
  auto connected = connect(options.target, Missing::is_made);
  if (!connected) return complain(io, "submit", connected.error());
  Upload upload(connected->client, io);
  if (options.json) {
    upload.on_accepted = [&](std::uint64_t line, const TaskId& id) {
      io.out << json_line([&](wire::JsonWriter& writer) {
        writer.begin_object().key("line").number(line).key("id").plain(id.text()).end_object();
      });
    };
  }
  std::vector<std::string> rejects;
  const auto handed = hand_in_lines(options, path == "-" ? io.in : file, task, upload, rejects);
  upload.end_progress();
  tell_refused(io, upload);
  if (!options.rejects.empty() && !rejects.empty()) {
    if (const auto kept = keep_rejects(options, rejects); !kept) {
      complain(io, "submit", kept.error());
    }
  }
  (options.json ? io.err : io.out) << fmt::format(
      "Accepted {}, refused {}.\n", grouped(upload.accepted()), grouped(upload.refused().size()));
  if (!handed) {
    complain(io, "submit", handed.error());
    io.err << fmt::format(
        "Go on with --from-line {}; line {} and those behind it may have been "
        "accepted, which --key makes safe.\n",
        upload.first_unanswered(), upload.first_unanswered());
    return kFailed;
  }
  return upload.refused().empty() ? kDone : kKept;
}

int submit(const SubmitOptions& options, Io& io) {
  const bool many = !options.lines.empty() || !options.jsonl.empty();
  const auto usage = [&](const std::string& why) {
    io.err << "holdfast submit: " << why << '\n';
    return kUsage;
  };
  if (options.task.type.empty() && options.jsonl.empty()) {
    return usage("say which TYPE of task, as in: holdfast submit mail.send");
  }
  if (!options.lines.empty() && !options.jsonl.empty()) {
    return usage("--lines and --jsonl are two ways to read a file: give one of them");
  }
  if (many && (!options.payload.empty() || options.wait_option->count() > 0)) {
    return usage("--payload and --wait are for one task, not for lines");
  }
  auto task = task_of(options);
  if (!task) return usage(task.error().text());
  if (many) return submit_lines(options, io, *task);
  std::optional<Duration> patience;
  if (options.wait_option->count() > 0) {
    const auto read = parse_duration(options.wait.empty() ? "30s" : options.wait);
    if (!read) return usage("--wait: " + read.error().message);
    patience = *read;
  }
  return submit_one(options, io, *std::move(task), patience);
}

}  // namespace

void add_submit(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("submit", "Hand in a task, or a file of them");
  const auto options = std::make_shared<SubmitOptions>();
  verb->add_option("TYPE", options->task.type, "Which handler runs it: mail.send")->type_name("");
  const auto text = [&](const char* name, std::string& value, const char* what, const char* form) {
    return verb->add_option(name, value, what)->option_text(form);
  };
  text("--queue", options->task.queue, "Which queue (default: default)", "NAME");
  text("--payload", options->payload, "What it is about; - is standard input", "TEXT|@FILE|-");
  verb->add_option("--priority", options->task.priority, "-100 to 100, the greater the sooner")
      ->option_text("NUMBER");
  text("--delay", options->delay, "Not to be run before so much time has passed: 30s", "TIME");
  text("--due", options->due, "Not to be run before: 2026-11-16T03:00:00Z", "TIME");
  text("--deadline", options->deadline, "No attempt begins after it", "TIME");
  text("--key", options->task.key, "The same key is the same task, however often", "KEY");
  verb->add_option("--attempts", options->attempts, "In place of what its type has")
      ->option_text("COUNT")
      ->check(CLI::PositiveNumber);
  text("--timeout", options->timeout, "Of one attempt, likewise: 10s", "TIME");
  text("--trace", options->task.trace, "W3C traceparent, handed on to the handler", "TRACE");
  verb->add_flag("--retry-on-failure", options->task.retry_on_failure,
                 "Its queue may bring it back when it is dead");
  options->wait_option =
      text("--wait", options->wait, "Until it has ended, at most 30s or so long", "[=TIME]")
          ->expected(0, 1);
  text("--lines", options->lines, "One task for each line, which is its payload", "FILE|-");
  text("--jsonl", options->jsonl, "One task for each line, which is JSON", "FILE|-");
  verb->add_option("--from-line", options->from_line, "Leave out the lines before")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
  text("--rejects", options->rejects, "Where to keep lines that are refused", "FILE");
  verb->add_flag("--json", options->json, "JSON, one object a line");
  add_target(*verb, options->target);
  verb->footer(kSubmitExamples);
  verb->callback([options, &io, &exit_code] { exit_code = submit(*options, io); });
}

}  // namespace holdfast::cli
