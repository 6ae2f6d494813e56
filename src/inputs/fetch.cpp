#include "inputs/fetch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/units.hpp"

namespace holdfast::inputs {
namespace {

// Beside the timeout of the whole: nothing has come for so long.
constexpr Duration kStall = std::chrono::seconds(30);
constexpr std::size_t kMostAnswerBytes = 16 << 10;  // of one that says no

retry::Policy policy_of(const FetchOptions& options, const Logger& log) {
  return retry::Policy()
      .named("fetch input")
      .stop(retry::attempts(options.attempts))
      .wait(options.wait)
      .retry_if([](const Trouble& trouble) { return trouble.kind != Trouble::Kind::hopeless; })
      // That it is given up is told by who knows what follows from it.
      .log_to(log, Level::debug);
}

Trouble trouble_of_status(const io::HttpResponse& answer) {
  const int status = answer.status;
  const bool may_recover = status == 408 || status == 429 || status / 100 == 5;
  return {.kind = may_recover ? Trouble::Kind::may_recover : Trouble::Kind::hopeless,
          .failure = {.message = words_of(answer), .http_status = status}};
}

Trouble trouble_of_error(const io::HttpError& error, std::uint64_t largest_bytes) {
  Trouble trouble{.kind = Trouble::Kind::may_recover,
                  .failure = {.message = error.message, .os_error = error.os_error}};
  switch (error.fault) {
    case io::HttpFault::too_large:
      if (error.answer.status / 100 != 2) return trouble_of_status(error.answer);
      trouble.kind = Trouble::Kind::hopeless;
      trouble.failure.message =
          fmt::format("the object is larger than {}", format_size(largest_bytes));
      break;
    case io::HttpFault::bad_request:
    case io::HttpFault::refused_address: trouble.kind = Trouble::Kind::hopeless; break;
    case io::HttpFault::local: trouble.kind = Trouble::Kind::here; break;
    case io::HttpFault::timeout: trouble.failure.kind = FailureKind::timeout; break;
    default: break;
  }
  return trouble;
}

Trouble trouble_here(std::string message, std::optional<int> os_error = {}) {
  return {.kind = Trouble::Kind::here,
          .failure = {.message = std::move(message), .os_error = os_error}};
}

}  // namespace

// Threads: the client's while a request is under way, else the loop's.
class Fetch::FileSink final : public io::HttpSink {
 public:
  explicit FileSink(io::PrivateFile file) : file_(std::move(file)) {}

  [[nodiscard]] int write(std::string_view bytes) noexcept override {
    hash_.update(bytes);
    return file_.write(bytes);
  }

  // 0, or an errno.
  [[nodiscard]] int begin_anew() noexcept {
    (void)hash_.take();
    return file_.empty_out();
  }
  [[nodiscard]] io::Sha256Digest digest() noexcept { return hash_.take(); }
  [[nodiscard]] io::PrivateFile take_file() noexcept {
    file_.close();
    return std::move(file_);
  }

 private:
  io::PrivateFile file_;
  io::Sha256 hash_;
};

std::shared_ptr<Fetch> Fetch::start(std::shared_ptr<Landing> landing, const FetchOptions& options,
                                    Wanted wanted, const Logger& log, const Clock& clock,
                                    Done done) {
  auto fetch = std::make_shared<Fetch>(Key(), std::move(landing), options, std::move(wanted), log,
                                       clock, std::move(done));
  fetch->begin();
  return fetch;
}

Fetch::Fetch(Key, std::shared_ptr<Landing> landing, const FetchOptions& options, Wanted wanted,
             const Logger& log, const Clock& clock, Done done)
    : landing_(std::move(landing)),
      options_(options),
      wanted_(std::move(wanted)),
      clock_(clock),
      done_(std::move(done)),
      policy_(policy_of(options, log)),
      run_(policy_, nullptr) {}

Fetch::~Fetch() {
  call_.cancel();
}

void Fetch::begin() {
  // Not from within start(), whose caller has nothing yet to be told about.
  landing_->loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->attempt();
  });
}

void Fetch::attempt() {
  if (!sink_) {
    auto file = landing_->folder.create(wanted_.file);
    if (!file) return failed(trouble_here(file.error().text()));
    sink_ = std::make_shared<FileSink>(*std::move(file));
  }
  if (const int error = sink_->begin_anew(); error != 0)
    return failed(trouble_here("cannot empty the file of the input", error));
  io::HttpRequest request = get_request(options_.server, wanted_.object, clock_.wall_now());
  request.timeout = options_.timeout;
  request.stall_timeout = kStall;
  request.most_response_bytes = kMostAnswerBytes;
  request.sink = sink_;
  request.most_sink_bytes = options_.largest_bytes;
  request.guard = landing_->guard;
  call_ = landing_->client.send(std::move(request), [weak = weak_from_this()](auto result) {
    if (const auto self = weak.lock()) self->ended(std::move(result));
  });
}

void Fetch::ended(io::HttpResult result) {
  call_ = {};
  if (auto trouble = trouble_in(result)) return failed(*std::move(trouble));
  run_.succeeded();
  done_(sink_->take_file());
}

std::optional<Trouble> Fetch::trouble_in(const io::HttpResult& result) {
  if (!result) return trouble_of_error(result.error(), options_.largest_bytes);
  if (result->status != 200) return trouble_of_status(*result);
  return wrong_content();
}

// What was damaged on its way is whole the next time; what is another object is not.
std::optional<Trouble> Fetch::wrong_content() {
  if (!wanted_.sha256) return std::nullopt;
  const io::Sha256Digest digest = sink_->digest();
  if (digest == *wanted_.sha256) return std::nullopt;
  return Trouble{
      .kind = Trouble::Kind::may_recover,
      .failure = {.message = fmt::format("the object has the SHA-256 {}, not {}",
                                         io::to_hex(digest), io::to_hex(*wanted_.sha256))}};
}

void Fetch::failed(Trouble trouble) {
  trouble.attempts = run_.attempt().number;
  const auto until = run_.failed(retry::Observed::error(trouble));
  if (!until) {
    sink_.reset();
    return done_(std::unexpected(std::move(trouble)));
  }
  const Duration wait = std::max(*until - run_.clock().now(), Duration::zero());
  timer_ = landing_->loop.after(wait, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->run_.woke(true).kind == retry::Run::Next::Kind::go) self->attempt();
  });
}

}  // namespace holdfast::inputs
