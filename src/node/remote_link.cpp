// Clients of a server elsewhere. Every call is one that may be made twice: what it does not find as
// it was, because the first answer got lost on its way, is no error.
#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <holdfast/retry.hpp>

#include "core/uuid.hpp"
#include "node/link.hpp"
#include "node/remote_connection.hpp"
#include "node/remote_server.hpp"
#include "wire/audit_json.hpp"
#include "wire/dead_json.hpp"
#include "wire/group_json.hpp"
#include "wire/operation_json.hpp"
#include "wire/problem.hpp"
#include "wire/queue_json.hpp"
#include "wire/submission_json.hpp"
#include "wire/task_json.hpp"

namespace holdfast::node {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestAttempt = 30s;
// The server refuses more of them in one call.
constexpr std::size_t kMostInOneCall = 1000;
constexpr std::size_t kMostListed = 1000;
// So much of a body is sent at once, however few tasks that is; the server's own limit is 8 MiB
// unless its configuration says otherwise.
constexpr std::size_t kEnoughBytes = std::size_t{4} << 20U;
// A payload that is nested deeper is sent as text: the server may refuse it as JSON.
constexpr std::size_t kMostDepth = 8;

retry::Policy policy_for(Duration patience) {
  static const auto classifier =
      Classifier::make(
          {{.name = "may pass", .http_status = {503}, .verdict = VerdictKind::throttle},
           {.name = "stays", .http_status = {400}, .verdict = VerdictKind::give_up}})
          .value_or(Classifier());
  return retry::Policy()
      .stop(retry::elapsed(patience))
      .wait(retry::exponential(
          {.first = 100ms, .factor = 2, .cap = 5s, .jitter = retry::Jitter::equal}))
      .classify_with(classifier);
}

// A body, and whether an earlier try may have had its effect already.
struct Answered {
  std::string body = {};
  bool may_have_happened = false;
};
struct Refused {
  RemoteFault fault = {};
  bool may_have_happened = false;
};

template <class T>
Result<T> readable(Result<T> read, const std::string& operation) {
  if (read) return read;
  return fail(
      ErrorCode::unavailable, operation,
      "the answer cannot be read, so it is none of a Holdfast server: " + read.error().message);
}

// Whether entry by entry the server would say something else: the whole was too much for it.
bool was_too_much(const RemoteFault& fault) {
  return fault.status == 400 || fault.status == 413;
}

// Whether it is about this one task, and others may fare better.
bool is_of_task(const RemoteFault& fault) {
  return was_too_much(fault) || fault.status == 409 || fault.status == 422 || fault.status == 429;
}

std::string query_of(const TaskFilter& filter) {
  std::string query =
      fmt::format("?limit={}", std::clamp<std::size_t>(filter.limit, 1, kMostListed));
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) query += fmt::format("&{}={}", name, percent_encoded(value));
  };
  add("q", filter.query);
  if (filter.state) add("state", to_string(*filter.state));
  add("queue", filter.queue);
  add("type", filter.type);
  add("group", filter.group);
  add("cursor", filter.cursor);
  return query;
}

std::string page_of(std::size_t limit, std::string_view cursor) {
  std::string query = fmt::format("?limit={}", std::clamp<std::size_t>(limit, 1, kMostListed));
  if (!cursor.empty()) query += "&cursor=" + percent_encoded(cursor);
  return query;
}

template <class Write>
std::string written(Write write_it) {
  std::string body;
  wire::JsonWriter writer(body);
  write_it(writer);
  return body;
}

class RemoteLink final : public Link {
 public:
  RemoteLink(std::string url, Client::Options options)
      : options_(std::move(options)),
        server_(RemoteServer::make({.url = std::move(url),
                                    .token = options_.token,
                                    .ca_file = options_.ca_file,
                                    .token_in_the_clear = options_.token_in_the_clear})) {}

  Result<void> open() override {
    const auto asked = ask({.operation = "open", .method = "GET", .path = "/v1/queues"});
    // A token may be good for less than to look at queues.
    if (asked || asked.error().fault.status == 403) return {};
    return std::unexpected(asked.error().fault.error);
  }

  Result<std::vector<Result<TaskId>>> submit(std::span<const Submission> submissions) override;

  Result<TaskInfo> find(const TaskId& id, Duration patience) override {
    return get("find", "/v1/tasks/" + id.text(), wire::read_task, patience);
  }

  Result<void> cancel(const TaskId& id) override {
    const auto asked = ask({.operation = "cancel", .path = "/v1/tasks/" + id.text() + "/cancel"});
    if (asked) return {};
    if (asked.error().may_have_happened && is_conflict(asked.error().fault)) {
      const auto info = find(id, options_.patience);
      if (info && info->state == TaskState::canceled) return {};
    }
    return std::unexpected(asked.error().fault.error);
  }

  Result<Client::Answers> replay(std::span<const TaskId> ids,
                                 const Client::Replay& options) override {
    return decide("replay", ids, options, [](TaskState state) {
      return state != TaskState::dead && state != TaskState::failed;
    });
  }

  Result<Client::Answers> discard(std::span<const TaskId> ids, const std::string& reason) override {
    return decide(
        "discard", ids, {}, [](TaskState state) { return state == TaskState::canceled; }, reason);
  }

  Result<TaskId> edit(const TaskId& id, Client::Edit edit) override {
    const auto body = written([&](wire::JsonWriter& writer) {
      write(writer, wire::EditRequest{.payload = std::move(edit.payload),
                                      .queue = std::move(edit.queue),
                                      .type = std::move(edit.type)});
    });
    auto made = post("edit", "/v1/tasks/" + id.text() + "/edit", body, wire::read_edit_answer);
    if (!made) return std::unexpected(std::move(made).error());
    return made->id;
  }

  // Sent again it would be a second operation, of which each task is part of one only: those that
  // the first has brought back are not dead any more. So it may be sent as often as it takes.
  Result<Operation> begin(OperationRequest request) override {
    const auto body = written([&](wire::JsonWriter& writer) { write(writer, request); });
    return post("begin", "/v1/operations", body, wire::read_operation);
  }

  Result<Operation> operation(const std::string& id) override {
    return get("operation", "/v1/operations/" + percent_encoded(id), wire::read_operation);
  }

  Result<OperationPage> operations(std::size_t limit, std::string cursor) override {
    return get("operations", "/v1/operations" + page_of(limit, cursor), wire::read_operations);
  }

  Result<Operation> steer(const std::string& id, OperationStep step,
                          const std::optional<OperationOptions>& options) override {
    const auto body = written([&](wire::JsonWriter& writer) {
      if (options) write_operation_start(writer, *options, "");
    });
    const std::string word(to_string(step));
    return post(word, "/v1/operations/" + percent_encoded(id) + "/" + word, body,
                wire::read_operation);
  }

  Result<AuditPage> audit(std::size_t limit, std::string cursor) override {
    return get("audit", "/v1/audit" + page_of(limit, cursor), wire::read_audit);
  }

  Result<TaskCount> count(const std::string& query, std::string cursor) override {
    return get("count",
               fmt::format("/v1/tasks/count?q={}&cursor={}", percent_encoded(query),
                           percent_encoded(cursor)),
               wire::read_count);
  }

  Result<TaskPage> list(TaskFilter filter) override {
    return get("list", "/v1/tasks" + query_of(filter), wire::read_page);
  }

  Result<std::vector<FailureGroup>> groups(std::size_t limit) override {
    std::vector<FailureGroup> groups;
    std::string cursor;
    do {
      const std::size_t left = std::max<std::size_t>(limit, 1) - groups.size();
      auto page = get("groups", "/v1/dead/groups" + page_of(left, cursor), wire::read_groups);
      if (!page) return std::unexpected(std::move(page).error());
      std::ranges::move(page->groups, std::back_inserter(groups));
      cursor = std::move(page->next);
    } while (!cursor.empty() && groups.size() < limit);
    return groups;
  }

  Result<std::vector<QueueInfo>> counts() override {
    return get("counts", "/v1/queues", wire::read_queues);
  }

  Result<void> pause(const std::string& queue, bool paused) override {
    return set(queue, paused ? "pause" : "resume", {});
  }

  Result<void> limit(const std::string& queue, int concurrency) override {
    std::string body;
    wire::JsonWriter writer(body);
    write(writer, wire::LimitRequest{.concurrency = concurrency});
    return set(queue, "limit", std::move(body));
  }

  [[nodiscard]] Duration longest_look() const noexcept override { return 500ms; }

 private:
  static bool is_conflict(const RemoteFault& fault) {
    return fault.error.code == ErrorCode::conflict;
  }

  std::expected<Answered, Refused> ask(RemoteCall call, Duration patience = Duration::max());
  Result<std::shared_ptr<RemoteConnection>> connection();

  template <class Read>
  std::invoke_result_t<Read, std::string_view> get(const std::string& operation, std::string path,
                                                   Read read, Duration patience = Duration::max()) {
    const auto asked =
        ask({.operation = operation, .method = "GET", .path = std::move(path)}, patience);
    if (!asked) return std::unexpected(asked.error().fault.error);
    return readable(read(asked->body), operation);
  }

  template <class Read>
  std::invoke_result_t<Read, std::string_view> post(const std::string& operation, std::string path,
                                                    std::string body, Read read) {
    const auto asked =
        ask({.operation = operation, .path = std::move(path), .body = std::move(body)});
    if (!asked) return std::unexpected(asked.error().fault.error);
    return readable(read(asked->body), operation);
  }

  Result<void> set(const std::string& queue, const std::string& what, std::string body) {
    if (queue.empty()) return fail(ErrorCode::invalid_argument, what, "queue is empty");
    const auto asked = ask({.operation = what,
                            .path = "/v1/queues/" + percent_encoded(queue) + "/" + what,
                            .body = std::move(body)});
    if (!asked) return std::unexpected(asked.error().fault.error);
    return {};
  }

  // `is_so` says of a state that it is what was wanted.
  Result<Client::Answers> decide(const std::string& what, std::span<const TaskId> ids,
                                 const Client::Replay& options, bool (*is_so)(TaskState),
                                 const std::string& reason = {});
  Result<void> decide_some(const std::string& what, std::span<const TaskId> ids,
                           const Client::Replay& options, bool (*is_so)(TaskState),
                           const std::string& reason, Client::Answers& answers);

  using Accepted = std::vector<Result<TaskId>>;
  Result<void> submit_some(std::span<const Submission> submissions, Accepted& answers);
  Result<void> submit_one(const Submission& submission, Accepted& answers);
  std::vector<Submission> with_keys(std::span<const Submission> submissions);

  const Client::Options options_;
  const Result<RemoteServer> server_;
  std::mutex mutex_;
  std::shared_ptr<RemoteConnection> connection_;
  UuidSource ids_{system_random()};
};

Result<std::shared_ptr<RemoteConnection>> RemoteLink::connection() {
  const std::lock_guard lock(mutex_);
  if (connection_) return connection_;
  if (!server_) return std::unexpected(server_.error());
  auto started = RemoteConnection::start(server_->client_options());
  if (started) connection_ = *started;
  return started;
}

std::expected<Answered, Refused> RemoteLink::ask(RemoteCall call, Duration patience) {
  const auto found = connection();
  if (!found) return std::unexpected(Refused{.fault = {.error = found.error()}});
  Clock& clock = system_clock();
  bool was_sent = false;  // by a try before the last one
  bool sent_now = false;
  auto answer = policy_for(std::min(patience, options_.patience))
                    .named(call.operation)
                    .call([&](const retry::Attempt& attempt) -> RemoteAnswer {
                      was_sent = was_sent || sent_now;
                      const Duration left =
                          attempt.deadline ? *attempt.deadline - clock.now() : kLongestAttempt;
                      call.timeout = std::clamp<Duration>(left, 1s, kLongestAttempt);
                      auto once = server_->answer((*found)->ask(server_->request(call)),
                                                  call.operation, clock.wall_now());
                      sent_now = !once && once.error().was_sent;
                      return once;
                    });
  if (!answer) {
    RemoteFault fault = std::move(answer).error();
    // This time nothing happened. Of the times before nobody knows, unless the same was too much
    // for the server then, too.
    if (was_sent && fault.error.code == ErrorCode::invalid_argument && !was_too_much(fault)) {
      fault.error.code = ErrorCode::unavailable;
    }
    return std::unexpected(Refused{std::move(fault), was_sent});
  }
  return Answered{*std::move(answer), was_sent};
}

std::vector<Submission> RemoteLink::with_keys(std::span<const Submission> submissions) {
  std::vector<Submission> keyed(submissions.begin(), submissions.end());
  const std::lock_guard lock(mutex_);
  for (Submission& submission : keyed) {
    if (!submission.key.empty()) continue;
    submission.key = "once-" + ids_.next(system_clock().wall_now()).text();
  }
  return keyed;
}

Result<std::vector<Result<TaskId>>> RemoteLink::submit(std::span<const Submission> submissions) {
  const std::vector<Submission> keyed = with_keys(submissions);
  Accepted answers;
  answers.reserve(keyed.size());
  for (std::size_t from = 0; from < keyed.size();) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    while (from + count < keyed.size() && count < kMostInOneCall &&
           (count == 0 || bytes + keyed[from + count].payload.size() <= kEnoughBytes)) {
      bytes += keyed[from + count].payload.size();
      ++count;
    }
    if (auto done = submit_some(std::span(keyed).subspan(from, count), answers); !done) {
      if (answers.empty()) return std::unexpected(std::move(done).error());
      // Some are accepted, which must not be forgotten for those that are not.
      while (answers.size() < keyed.size())
        answers.emplace_back(std::unexpected(done.error()));
      return answers;
    }
    from += count;
  }
  return answers;
}

// All of them, or none has an answer.
Result<void> RemoteLink::submit_some(std::span<const Submission> some, Accepted& answers) {
  if (some.size() == 1) return submit_one(some.front(), answers);
  std::string body;
  wire::JsonWriter writer(body);
  writer.begin_array();
  for (const Submission& submission : some)
    write(writer, submission, kMostDepth);
  writer.end_array();
  auto asked = ask({.operation = "submit", .path = "/v1/tasks", .body = std::move(body)});
  if (!asked) {
    const RemoteFault& fault = asked.error().fault;
    if (!was_too_much(fault)) return std::unexpected(fault.error);
    const std::size_t half = some.size() / 2;
    if (auto done = submit_some(some.first(half), answers); !done) return done;
    return submit_some(some.subspan(half), answers);
  }
  auto read = readable(wire::read_answers(asked->body), "submit");
  if (read && read->size() != some.size()) {
    read = fail(ErrorCode::unavailable, "submit",
                fmt::format("{} answers came for {} tasks", read->size(), some.size()));
  }
  if (!read) return std::unexpected(std::move(read).error());
  for (wire::Answer& answer : *read) {
    if (answer) {
      answers.emplace_back(answer->id);
    } else {
      answers.emplace_back(std::unexpected(wire::error_of(answer.error(), "submit")));
    }
  }
  return {};
}

// As one, not as a list of one: if its queue is full, that is a call that is made again.
Result<void> RemoteLink::submit_one(const Submission& submission, Accepted& answers) {
  std::string body;
  wire::JsonWriter writer(body);
  write(writer, submission, kMostDepth);
  const auto asked = ask({.operation = "submit", .path = "/v1/tasks", .body = std::move(body)});
  if (!asked) {
    const RemoteFault& fault = asked.error().fault;
    if (!is_of_task(fault)) return std::unexpected(fault.error);
    answers.emplace_back(std::unexpected(fault.error));
    return {};
  }
  const auto read = readable(wire::read_accepted(asked->body), "submit");
  if (!read) return std::unexpected(read.error());
  answers.emplace_back(read->id);
  return {};
}

Result<Client::Answers> RemoteLink::decide(const std::string& what, std::span<const TaskId> ids,
                                           const Client::Replay& options, bool (*is_so)(TaskState),
                                           const std::string& reason) {
  Client::Answers answers;
  answers.reserve(ids.size());
  while (!ids.empty()) {
    const auto some = ids.first(std::min(ids.size(), kMostInOneCall));
    if (auto done = decide_some(what, some, options, is_so, reason, answers); !done) {
      if (answers.empty()) return std::unexpected(std::move(done).error());
      answers.insert(answers.end(), ids.size(), std::unexpected(done.error()));
      return answers;
    }
    ids = ids.subspan(some.size());
  }
  return answers;
}

Result<void> RemoteLink::decide_some(const std::string& what, std::span<const TaskId> ids,
                                     const Client::Replay& options, bool (*is_so)(TaskState),
                                     const std::string& reason, Client::Answers& answers) {
  const wire::DeadRequest request{.ids = {ids.begin(), ids.end()},
                                  .insist = options.insist,
                                  .deadline = options.deadline,
                                  .reason = reason};
  std::string body;
  wire::JsonWriter writer(body);
  write(writer, request);
  auto asked = ask({.operation = what, .path = "/v1/dead/" + what, .body = std::move(body)});
  if (!asked) return std::unexpected(asked.error().fault.error);
  const auto read = readable(wire::read_dead_answer(asked->body), what);
  if (!read) return std::unexpected(read.error());
  const std::size_t before = answers.size();
  answers.resize(before + ids.size());
  for (const wire::DeadRefused& refused : read->refused) {
    const Error error = wire::error_of(refused.problem, what);
    if (asked->may_have_happened && error.code == ErrorCode::conflict) {
      const auto info = find(refused.id, options_.patience);
      if (info && is_so(info->state)) continue;
    }
    for (std::size_t at = 0; at < ids.size(); ++at) {
      if (ids[at] == refused.id) answers[before + at] = std::unexpected(error);
    }
  }
  return {};
}

}  // namespace

std::shared_ptr<Link> remote_link(std::string url, Client::Options options) {
  return std::make_shared<RemoteLink>(std::move(url), std::move(options));
}

}  // namespace holdfast::node
