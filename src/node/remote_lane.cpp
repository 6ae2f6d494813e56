#include "node/remote_lane.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/claims.hpp"

namespace holdfast::node {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPoll = 20s;
// Soon enough to have found nobody waiting: to ask again at once would never end.
constexpr Duration kTooSoon = 100ms;
constexpr int kMostAtOnce = 100;
constexpr Duration kWithdrawAgain = 200ms;
// Nobody waits longer for an answer that needs no waiting.
constexpr Duration kTimeout = 20s;
// What brings much may take its time, as long as something comes.
constexpr Duration kLongestClaim = 10min;
// A line that is slower than this is as good as none.
constexpr std::size_t kBytesPerSecond = std::size_t{64} << 10U;
// A worker whose clock is ahead would get a task again at once that is too late for it only.
constexpr Duration kTooLateAgain = 1s;

template <class Request>
std::string json_of(const Request& request) {
  std::string body;
  wire::JsonWriter writer(body);
  write(writer, request);
  return body;
}

std::string path_of(TaskId id, const char* what) {
  return "/v1/claims/" + id.text() + "/" + what;
}

ports::TaskRecord to_record(wire::Claimed claimed, const std::string& owner) {
  ports::TaskRecord record;
  record.id = claimed.id;
  record.type = std::move(claimed.type);
  record.queue = std::move(claimed.queue);
  record.payload = std::move(claimed.payload);
  record.trace = std::move(claimed.trace);
  record.limits = {.attempts = claimed.max_attempts, .timeout = claimed.timeout};
  record.task.state = core::State::running;
  record.task.spent = claimed.spent;
  record.task.token = claimed.token;
  record.task.created = claimed.created;
  record.task.deadline = claimed.deadline;
  record.task.previous_wait = claimed.previous_wait;
  record.owner = owner;
  record.lease_end = claimed.lease_end;
  return record;
}

VerdictKind verdict_of(const core::Transition& transition) {
  switch (transition.event) {
    case core::Event::give_up: return VerdictKind::give_up;
    case core::Event::ambiguous: return VerdictKind::ambiguous;
    case core::Event::throttle: return VerdictKind::throttle;
    default: return VerdictKind::retry;
  }
}

// Limits by which the same failure comes to the same end.
wire::Ruled ruled_by(const core::Transition& transition) {
  const auto limit = [&](DeadReason reason, int spent) {
    return transition.dead_reason == reason ? spent : std::numeric_limits<int>::max();
  };
  return {.verdict = verdict_of(transition),
          .wait = transition.wait,
          .attempts = limit(DeadReason::out_of_attempts, transition.spent.attempts),
          .crashes = limit(DeadReason::crashes, transition.spent.crashes),
          .replays = limit(DeadReason::replays, transition.spent.replays)};
}

RemoteCall call_for(ports::Change::One& change) {
  const core::Transition& transition = change.transition;
  RemoteCall call{.operation = "settle"};
  if (transition.to == core::State::succeeded) {
    call.path = path_of(change.id, "complete");
    call.body = json_of(wire::CompleteRequest{.token = change.token, .result = change.result});
    return call;
  }
  if (!transition.failure) {
    call.path = path_of(change.id, "release");
    wire::ReleaseRequest release{.token = change.token};
    if (transition.event == core::Event::breaker_open) release.wait = transition.wait;
    if (transition.event == core::Event::expire) release.wait = kTooLateAgain;
    call.body = json_of(release);
    return call;
  }
  const Failure& failure = *transition.failure;
  wire::FailRequest request{.token = change.token, .message = failure.message};
  request.kind = failure.kind;
  request.http_status = failure.http_status;
  request.exit_code = failure.exit_code;
  request.os_error = failure.os_error;
  request.retry_after = failure.retry_after;
  request.ruled = ruled_by(transition);
  // One that dies of replays was out of something else first.
  if (transition.dead_reason == DeadReason::replays) {
    request.ruled->attempts = transition.spent.attempts;
  }
  // One that cannot be tried again before its deadline was given no wait.
  const bool is_dead = transition.to == core::State::dead;
  if (is_dead && transition.deadline && transition.wait == Duration::zero()) {
    request.ruled->wait = core::TaskPolicy().longest_wait;
  }
  call.path = path_of(change.id, "fail");
  call.body = json_of(request);
  return call;
}

// Said by the server itself: a proxy in front of it that does not find it says 404, too.
bool is_lost(const RemoteFault& fault) {
  return fault.is_of_holdfast && (fault.status == 404 || fault.status == 409);
}

// What only a new server, a new token or another day can mend is tried until then: nothing of it
// says that the task is at fault.
Error error_of(const RemoteFault& fault) {
  const bool never = fault.status == 400 || fault.status == 413 || fault.status == 422;
  return {never ? ErrorCode::invalid_argument : ErrorCode::unavailable, fault.error.operation,
          fault.error.message};
}

}  // namespace

template <class Verb>
struct RemoteLane::Gathering {
  ports::Asked<Verb> asked;
  Done done;
  typename Verb::Answer answers = {};
  std::optional<Error> error = {};
  std::size_t unanswered = 0;

  void end_one() {
    if (--unanswered > 0) return;
    if (error) {
      asked.answer = std::unexpected(*std::move(error));
    } else {
      asked.answer = std::move(answers);
    }
    done(std::move(asked));
  }
};

RemoteLane::RemoteLane(ports::Loop& loop, RemoteServer server, const Clock& clock)
    : loop_(loop),
      server_(std::move(server)),
      clock_(clock),
      client_(io::HttpClient::start(loop, server_.client_options())) {}

void RemoteLane::send(const RemoteCall& call, Answered then) {
  if (!client_) {
    loop_.post([then = std::move(then), error = client_.error()]() mutable {
      then(std::unexpected(RemoteFault{.error = error}));
    });
    return;
  }
  client_->send(server_.request(call), [this, operation = call.operation,
                                        then = std::move(then)](io::HttpResult result) mutable {
    then(server_.answer(std::move(result), operation, clock_.wall_now()));
  });
}

void RemoteLane::ask(ports::Request request, Done done) {
  std::visit([&](auto& asked) { answer(std::move(asked), std::move(done)); }, request);
}

void RemoteLane::later(ports::Request request, Done done) {
  loop_.post([request = std::move(request), done = std::move(done)]() mutable {
    done(std::move(request));
  });
}

void RemoteLane::answer(ports::Asked<ports::Claim> asked, Done done) {
  worker_ = asked.verb.owner;
  if (withdrawn_) {
    asked.answer = ports::Claim::Answer();
    return later(std::move(asked), std::move(done));
  }
  const wire::ClaimRequest request{
      .queue = asked.verb.queue,
      .max = static_cast<int>(std::min<std::size_t>(asked.verb.max, kMostAtOnce)),
      .wait = kPoll,
      .lease = asked.verb.lease,
      .worker = worker_};
  const RemoteCall call{.operation = "claim",
                        .path = "/v1/claims",
                        .body = json_of(request),
                        .timeout = kLongestClaim,
                        .stall_timeout = kPoll + kTimeout};
  ++claims_under_way_;
  send(call, [this, at = clock_.now(), asked = std::move(asked),
              done = std::move(done)](RemoteAnswer told) mutable {
    --claims_under_way_;
    auto claims = told
                      ? wire::read_claims(*told)
                      : Result<std::vector<wire::Claimed>>(std::unexpected(error_of(told.error())));
    if (!claims) {
      asked.answer = fail(ErrorCode::unavailable, "claim", claims.error().message);
      return done(std::move(asked));
    }
    ports::Claim::Answer answer;
    for (wire::Claimed& claimed : *claims)
      answer.tasks.push_back(to_record(std::move(claimed), worker_));
    // The next claim waits at the server, so it may be made at once.
    const bool waited = !answer.tasks.empty() || clock_.now() - at > kTooSoon;
    if (waited) answer.next_due = clock_.wall_now();
    asked.answer = std::move(answer);
    done(std::move(asked));
  });
}

void RemoteLane::answer(ports::Asked<ports::Change> asked, Done done) {
  const std::size_t count = asked.verb.changes.size();
  auto all = std::make_shared<Gathering<ports::Change>>(
      Gathering<ports::Change>{.asked = std::move(asked), .done = std::move(done)});
  all->answers.resize(count);
  all->unanswered = count;
  if (count == 0) {
    all->unanswered = 1;
    loop_.post([all] { all->end_one(); });
  }
  for (std::size_t at = 0; at < count; ++at) {
    ports::Change::One& change = all->asked.verb.changes[at];
    const Claimed claim{change.id, change.token};
    if (const auto known = carried_out_.find(claim); known != carried_out_.end()) {
      all->answers[at] = known->second;
      loop_.post([this, all] { end_one(*all); });
      continue;
    }
    RemoteCall call = call_for(change);
    call.timeout = kTimeout + std::chrono::seconds(call.body.size() / kBytesPerSecond);
    send(call, [this, all, at, claim, count](const RemoteAnswer& told) {
      using Carried = ports::Change::Done;
      if (told) {
        all->answers[at] = Carried::applied;
      } else if (is_lost(told.error())) {
        all->answers[at] = told.error().status == 404 ? Carried::unknown_task : Carried::moved_on;
      } else {
        all->error = error_of(told.error());
      }
      const bool answered = told || is_lost(told.error());
      if (answered && count > 1) carried_out_[claim] = all->answers[at];
      end_one(*all);
    });
  }
}

// While one of them is not told, all are asked for again.
void RemoteLane::end_one(Gathering<ports::Change>& all) {
  if (all.unanswered == 1 && !all.error) {
    for (const ports::Change::One& one : all.asked.verb.changes)
      carried_out_.erase({one.id, one.token});
  }
  all.end_one();
}

void RemoteLane::answer(ports::Asked<ports::Renew> asked, Done done) {
  const std::size_t count = asked.verb.claims.size();
  const Duration lease = asked.verb.lease_end - clock_.wall_now();
  auto all = std::make_shared<Gathering<ports::Renew>>(
      Gathering<ports::Renew>{.asked = std::move(asked), .done = std::move(done)});
  all->answers.resize(count);
  all->unanswered = std::max<std::size_t>(count, 1);
  if (count == 0) loop_.post([all] { all->end_one(); });
  // One that hangs must not keep the others from being extended in time.
  const Duration timeout = std::clamp<Duration>(lease / 3, 1s, kTimeout);
  for (std::size_t at = 0; at < count; ++at) {
    const ports::Held& claim = all->asked.verb.claims[at];
    const RemoteCall call{.operation = "extend",
                          .path = path_of(claim.id, "extend"),
                          .body = json_of(wire::ExtendRequest{
                              .token = claim.token, .lease = std::max<Duration>(lease, 1ms)}),
                          .timeout = timeout};
    send(call, [this, all, at, claim](const RemoteAnswer& told) {
      if (!told && !is_lost(told.error())) all->error = error_of(told.error());
      // Nobody asks for what became of one that is lost.
      if (!told && is_lost(told.error())) carried_out_.erase({claim.id, claim.token});
      all->answers[at] = told.has_value();
      all->end_one();
    });
  }
}

void RemoteLane::answer(ports::Asked<ports::Overdue> asked, Done done) {
  asked.answer = ports::Overdue::Answer();
  later(std::move(asked), std::move(done));
}

void RemoteLane::answer(ports::Asked<ports::Purge> asked, Done done) {
  asked.answer = ports::Purge::Answer();
  later(std::move(asked), std::move(done));
}

template <class Verb>
void RemoteLane::answer(ports::Asked<Verb> asked, Done done) {
  asked.answer = fail(ErrorCode::invalid_argument, "worker",
                      "this is for a client: a worker claims tasks and settles them");
  later(std::move(asked), std::move(done));
}

void RemoteLane::probe(std::move_only_function<void(std::expected<void, RemoteFault>)> then) {
  const RemoteCall call{.operation = "start worker",
                        .path = "/v1/claims/withdraw",
                        .body = json_of(wire::WithdrawRequest{.worker = "nobody"}),
                        .timeout = 5s};
  send(call, [then = std::move(then)](const RemoteAnswer& told) mutable {
    if (told) return then({});
    then(std::unexpected(told.error()));
  });
}

void RemoteLane::withdraw() {
  withdrawn_ = true;
  if (claims_under_way_ == 0) return;
  const RemoteCall call{.operation = "withdraw",
                        .path = "/v1/claims/withdraw",
                        .body = json_of(wire::WithdrawRequest{.worker = worker_}),
                        .timeout = 5s};
  send(call, [](const RemoteAnswer&) {});
  // A claim may have been on its way to the server when that was told.
  again_ = loop_.after(kWithdrawAgain, [this] { withdraw(); });
}

}  // namespace holdfast::node
