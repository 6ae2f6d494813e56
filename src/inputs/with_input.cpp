#include "inputs/with_input.hpp"

#include <atomic>
#include <charconv>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/traceparent.hpp"
#include "inputs/payload_field.hpp"

namespace holdfast::inputs {
namespace {

// The attempt as the inner handler gets it.
class RunWithFile final : public ports::Run {
 public:
  RunWithFile(std::shared_ptr<ports::Run> run, io::PrivateFile file)
      : run_(std::move(run)), path_(file.path()), file_(std::move(file)) {}

  [[nodiscard]] const ports::TaskRecord& task() const noexcept override { return run_->task(); }
  [[nodiscard]] int number() const noexcept override { return run_->number(); }
  [[nodiscard]] std::string_view input() const noexcept override { return path_; }
  [[nodiscard]] bool begin() noexcept override { return run_->begin(); }
  [[nodiscard]] WallTime end() const noexcept override { return run_->end(); }
  [[nodiscard]] std::stop_token stop() const noexcept override { return run_->stop(); }
  bool heartbeat() noexcept override { return run_->heartbeat(); }
  void finish(core::Outcome outcome) noexcept override {
    remove_file();
    run_->finish(std::move(outcome));
  }
  void give_up(Failure failure) noexcept override {
    remove_file();
    run_->give_up(std::move(failure));
  }

 private:
  void remove_file() noexcept {
    if (!removed_.exchange(true)) file_ = {};
  }

  const std::shared_ptr<ports::Run> run_;
  const std::string path_;
  io::PrivateFile file_;
  std::atomic<bool> removed_ = false;
};

std::optional<io::Sha256Digest> parse_digest(std::string_view text) {
  io::Sha256Digest digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t at = 0; at < digest.size(); ++at) {
    const char* const begin = text.data() + 2 * at;
    const auto [end, error] = std::from_chars(begin, begin + 2, digest[at], 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
  }
  return digest;
}

}  // namespace

// An attempt whose input is on its way. Adds to log records what they are about.
class WithInput::Waiting final : public LogSink {
 public:
  Waiting(std::shared_ptr<ports::Run> run, const Logger& log, std::string_view endpoint)
      : run_(std::move(run)), log_(log), endpoint_(endpoint) {}

  void write(const LogRecord& record) noexcept override {
    const ports::TaskRecord& task = run_->task();
    const std::string id = task.id.text();
    std::vector<Field> fields{{"task", id},          {"type", task.type},
                              {"queue", task.queue}, {"bucket", object_.bucket},
                              {"key", object_.key},  {"endpoint", endpoint_}};
    const std::string_view trace = trace_id_of(task.trace);
    if (!trace.empty()) fields.emplace_back("trace", trace);
    fields.insert(fields.end(), record.fields.begin(), record.fields.end());
    log_.log(record.level, record.event, record.message, fields);
  }

  void fetch(const std::shared_ptr<Landing>& landing, const FetchOptions& options, Wanted wanted,
             const Clock& clock, Fetch::Done done) {
    object_ = wanted.object;
    fetch_ = Fetch::start(landing, options, std::move(wanted), Logger(*this, clock, Level::debug),
                          clock, std::move(done));
  }
  // Any thread may ask to stop; the rest belongs to the loop.
  void stop_with(std::function<void()> stop) { stop_.emplace(run_->stop(), std::move(stop)); }

  // R4: all that is known, in one record.
  void log_failure(const Clock& clock, int attempts, std::string_view error) {
    const Logger log(*this, clock, Level::debug);
    log.log(Level::error, "input.failed", "the input of a task could not be fetched",
            {{"attempts", attempts}, {"error", error}});
  }

  // Lets go of all but the attempt.
  [[nodiscard]] const std::shared_ptr<ports::Run>& end() {
    stop_.reset();
    fetch_.reset();
    return run_;
  }
  [[nodiscard]] const S3Object& object() const noexcept { return object_; }

 private:
  const std::shared_ptr<ports::Run> run_;
  const Logger log_;
  const std::string_view endpoint_;
  S3Object object_;
  std::shared_ptr<Fetch> fetch_;
  std::optional<std::stop_callback<std::function<void()>>> stop_;
};

WithInput::WithInput(std::shared_ptr<ports::Handler> inner, std::shared_ptr<Landing> landing,
                     InputOptions options, Logger log, const Clock& clock)
    : inner_(std::move(inner)),
      landing_(std::move(landing)),
      options_(std::move(options)),
      log_(log),
      clock_(clock) {}

WithInput::~WithInput() = default;

void WithInput::start(std::shared_ptr<ports::Run> run) noexcept {
  try {
    begin(run);
  } catch (const std::exception& error) {
    waiting_.erase(run.get());
    run->finish(Failure{.message = fmt::format("cannot fetch the input: {}", error.what())});
  }
}

void WithInput::begin(const std::shared_ptr<ports::Run>& run) {
  auto waiting = std::make_shared<Waiting>(run, log_, options_.shown_endpoint);
  auto wanted = wanted_of(run->task());
  if (!wanted) {  // nor will it be there the next time
    waiting->log_failure(clock_, 0, wanted.error());
    return run->give_up({.message = "cannot fetch the input: " + wanted.error()});
  }
  const ports::Run* const key = run.get();
  waiting_.emplace(key, waiting);
  // Not called once we are gone: what is on its way goes with us.
  waiting->fetch(landing_, options_.fetch, *std::move(wanted), clock_,
                 [this, key](Fetch::Fetched result) { fetched(key, std::move(result)); });
  waiting->stop_with([this, key, &loop = landing_->loop, weak = std::weak_ptr(waiting)] {
    loop.post([this, key, weak] {
      if (!weak.expired()) stopped(key);
    });
  });
}

std::expected<Wanted, std::string> WithInput::wanted_of(const ports::TaskRecord& task) const {
  const auto field = [&](std::string_view name) { return payload_field(task.payload, name); };
  auto bucket = options_.bucket.fill(field);
  if (!bucket) return std::unexpected(std::move(bucket).error());
  auto key = options_.key.fill(field);
  if (!key) return std::unexpected(std::move(key).error());
  Wanted wanted{.object = {*std::move(bucket), *std::move(key)},
                .file = fmt::format("{}-{}", task.id.text(), task.task.token.value)};
  if (const auto checked = check(wanted.object, options_.fetch.server); !checked)
    return std::unexpected(checked.error().message);
  if (options_.sha256.is_empty()) return wanted;
  auto digest = options_.sha256.fill(field);
  if (!digest) return std::unexpected(std::move(digest).error());
  wanted.sha256 = parse_digest(*digest);
  if (wanted.sha256) return wanted;
  return std::unexpected(fmt::format("{} is no SHA-256 in 64 hexadecimal digits", quoted(*digest)));
}

void WithInput::fetched(const ports::Run* key, Fetch::Fetched result) {
  const auto waiting = waiting_.extract(key).mapped();
  if (result) {
    return inner_->start(std::make_shared<RunWithFile>(waiting->end(), *std::move(result)));
  }
  Trouble& trouble = result.error();
  waiting->log_failure(clock_, trouble.attempts, trouble.failure.message);
  trouble.failure.message = fmt::format("cannot fetch the input {}: {}", waiting->object().text(),
                                        trouble.failure.message);
  const auto& run = waiting->end();
  const bool is_of_task = trouble.kind != Trouble::Kind::here;
  if (is_of_task && options_.on_failure == OnFailure::fail) {
    run->give_up(std::move(trouble.failure));
  } else {
    run->finish(std::move(trouble.failure));
  }
}

void WithInput::stopped(const ports::Run* key) {
  const auto found = waiting_.extract(key);
  if (found) found.mapped()->end()->finish(core::HandedBack{});
}

}  // namespace holdfast::inputs
