#include "handlers/command.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stop_token>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "io/child_process.hpp"
#include "io/loop.hpp"
#include "io/trimmed.hpp"

namespace holdfast::handlers {
namespace {

constexpr std::array<std::string_view, 6> kAlwaysPassed{"PATH", "HOME", "LANG",
                                                        "LC_*", "TZ",   "TMPDIR"};
// The server's own traceparent is no task's.
constexpr std::array<std::string_view, 5> kGivenByUs{
    "HOLDFAST_TASK_ID", "HOLDFAST_ATTEMPT", "HOLDFAST_TOKEN", "HOLDFAST_INPUT", "TRACEPARENT"};
constexpr std::string_view kDefaultPath = "PATH=/usr/local/bin:/usr/bin:/bin";

bool matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

std::vector<std::string> environment_of_process() {
  std::vector<std::string> all;
  for (char** variable = ::environ; variable && *variable; ++variable)
    all.emplace_back(*variable);
  return all;
}

std::string name_of_signal(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

// What is known first, then the program's own words, if it has said any.
std::string joined(std::string what, const std::string& words) {
  return words.empty() ? std::move(what) : fmt::format("{}: {}", what, words);
}

io::ChildCommand command_for(const ports::Run& run, const CommandOptions& options,
                             std::vector<std::string> environment) {
  const ports::TaskRecord& task = run.task();
  environment.push_back("HOLDFAST_TASK_ID=" + task.id.text());
  environment.push_back(fmt::format("HOLDFAST_ATTEMPT={}", run.number()));
  environment.push_back(fmt::format("HOLDFAST_TOKEN={}", task.task.token.value));
  environment.push_back("HOLDFAST_INPUT=" + std::string(run.input()));
  if (!task.trace.empty()) environment.push_back("TRACEPARENT=" + task.trace);
  return {.arguments = options.command,
          .environment = std::move(environment),
          .folder = options.folder,
          .input = task.payload,
          .most_output_bytes = options.most_result_bytes,
          .kept_error_bytes = options.kept_error_bytes,
          .grace = options.grace};
}

core::Outcome outcome_of(io::ChildEnd end, std::size_t most_result_bytes) {
  const std::string words(io::trimmed(end.error_tail));
  if (end.output_was_too_long) {
    return Failure{.message =
                       joined(fmt::format("printed more than {} bytes", most_result_bytes), words)};
  }
  if (end.signal) {
    const std::string name = name_of_signal(*end.signal);
    if (end.was_stopped) return Failure{.message = joined("was stopped by " + name, words)};
    return Failure{.message = joined("died of " + name, words), .kind = FailureKind::crash};
  }
  if (!end.exit_code) return Failure{.message = joined("ended, and it is not known how", words)};
  if (*end.exit_code == 0) return core::Success{std::move(end.output)};
  return Failure{.message = words.empty() ? fmt::format("exit code {}", *end.exit_code) : words,
                 .exit_code = end.exit_code};
}

}  // namespace

// An attempt and its process.
class Command::Running : public std::enable_shared_from_this<Running> {
 public:
  Running(io::Loop& loop, std::shared_ptr<ports::Run> run) : loop_(loop), run_(std::move(run)) {}

  void begin(io::ChildProcess child) {
    child_ = std::move(child);
    // Any thread may ask; the process belongs to the loop.
    stop_.emplace(run_->stop(), [&loop = loop_, weak = weak_from_this()] {
      loop.post([weak] {
        if (const auto self = weak.lock()) self->child_.terminate();
      });
    });
  }

  void finish(core::Outcome outcome) {
    stop_.reset();
    run_->finish(std::move(outcome));
  }

 private:
  io::Loop& loop_;
  const std::shared_ptr<ports::Run> run_;
  io::ChildProcess child_;
  std::optional<std::stop_callback<std::function<void()>>> stop_;
};

Command::Command(io::Loop& loop, CommandOptions options)
    : loop_(loop),
      options_(std::move(options)),
      environment_(allowed_environment(environment_of_process(), options_.pass)) {}

Command::~Command() = default;

void Command::start(std::shared_ptr<ports::Run> run) noexcept {
  if (!run->begin()) {
    run->finish(core::HandedBack{});
    return;
  }
  try {
    this->run(run);
  } catch (const std::exception& error) {
    running_.erase(run.get());
    run->finish(Failure{.message = fmt::format("cannot start the command: {}", error.what())});
  }
}

void Command::run(const std::shared_ptr<ports::Run>& attempt) {
  const auto started = std::make_shared<Running>(loop_, attempt);
  running_.emplace(attempt.get(), started);
  // Not called once we are gone: the process goes with what runs it.
  auto done = [this, key = attempt.get()](io::ChildEnd end) {
    const auto ended = running_.extract(key).mapped();
    ended->finish(outcome_of(std::move(end), options_.most_result_bytes));
  };
  auto child = io::ChildProcess::start(loop_, command_for(*attempt, options_, environment_),
                                       std::move(done));
  if (child) {
    started->begin(*std::move(child));
    return;
  }
  running_.erase(attempt.get());
  started->finish(Failure{.message = child.error().text()});
}

std::vector<std::string> allowed_environment(std::span<const std::string> all,
                                             std::span<const std::string> pass) {
  std::vector<std::string> allowed;
  bool has_path = false;
  for (const std::string& variable : all) {
    const auto name = std::string_view(variable).substr(0, variable.find('='));
    const auto names_it = [&](std::string_view pattern) { return matches(name, pattern); };
    if (!std::ranges::any_of(kAlwaysPassed, names_it) && !std::ranges::any_of(pass, names_it))
      continue;
    if (std::ranges::find(kGivenByUs, name) != kGivenByUs.end()) continue;
    has_path = has_path || name == "PATH";
    allowed.push_back(variable);
  }
  if (!has_path) allowed.emplace_back(kDefaultPath);
  return allowed;
}

}  // namespace holdfast::handlers
