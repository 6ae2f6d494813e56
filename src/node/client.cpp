// What <holdfast/client.hpp> promises, over a node of this process or a server elsewhere.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "node/link.hpp"
#include "node/remote_server.hpp"

namespace holdfast {
namespace {

// How often wait() looks: soon at first, since most tasks are short, and then less and less.
constexpr Duration kFirstLook = std::chrono::milliseconds(1);

[[nodiscard]] Result<void> only_one(Result<Client::Answers> answers) {
  if (!answers) return std::unexpected(std::move(answers).error());
  return std::move(answers->front());
}

}  // namespace

Client::Client(std::string url, Options options)
    : link_(node::is_remote(url) ? node::remote_link(std::move(url), std::move(options))
                                 : node::local_link(std::move(url), options.log)) {}

Result<void> Client::open() {
  return link_->open();
}

Result<TaskId> Client::submit(Submission submission) {
  auto answers = submit(std::span<const Submission>(&submission, 1));
  if (!answers) return std::unexpected(std::move(answers).error());
  return std::move(answers->front());
}

Result<std::vector<Result<TaskId>>> Client::submit(std::span<const Submission> submissions) {
  return link_->submit(submissions);
}

Result<TaskInfo> Client::find(const TaskId& id) {
  return link_->find(id, Duration::max());
}

Result<TaskInfo> Client::wait(const TaskId& id, Duration timeout) {
  Clock& clock = system_clock();
  const SteadyTime until = saturating_add(clock.now(), timeout);
  for (Duration look = kFirstLook;; look = std::min(look * 2, link_->longest_look())) {
    auto info = link_->find(id, std::max(until - clock.now(), Duration::zero()));
    if (!info || is_terminal(info->state)) return info;
    const Duration left = until - clock.now();
    if (left <= Duration::zero()) {
      return fail(ErrorCode::timeout, "wait",
                  fmt::format("task {} is still {}", id.text(), to_string(info->state)));
    }
    clock.sleep_for(std::min(look, left));
  }
}

Result<void> Client::cancel(const TaskId& id) {
  return link_->cancel(id);
}

Result<void> Client::replay(const TaskId& id, Replay options) {
  return only_one(link_->replay({&id, 1}, options));
}

Result<void> Client::discard(const TaskId& id) {
  return only_one(link_->discard({&id, 1}, {}));
}

Result<Client::Answers> Client::replay(std::span<const TaskId> ids, Replay options) {
  return link_->replay(ids, options);
}

Result<Client::Answers> Client::discard(std::span<const TaskId> ids, const std::string& reason) {
  return link_->discard(ids, reason);
}

Result<TaskId> Client::edit(const TaskId& id, Edit edit) {
  return link_->edit(id, std::move(edit));
}

Result<Operation> Client::begin(OperationRequest request) {
  return link_->begin(std::move(request));
}

Result<Operation> Client::operation(const std::string& id) {
  return link_->operation(id);
}

Result<OperationPage> Client::operations(std::size_t limit, std::string cursor) {
  return link_->operations(limit, std::move(cursor));
}

Result<Operation> Client::steer(const std::string& id, OperationStep step,
                                std::optional<OperationOptions> options) {
  return link_->steer(id, step, options);
}

Result<AuditPage> Client::audit(std::size_t limit, std::string cursor) {
  return link_->audit(limit, std::move(cursor));
}

Result<TaskCount> Client::count(const std::string& query, std::string cursor) {
  return link_->count(query, std::move(cursor));
}

Result<TaskPage> Client::list(TaskFilter filter) {
  return link_->list(std::move(filter));
}

Result<std::vector<FailureGroup>> Client::groups(std::size_t limit) {
  return link_->groups(limit);
}

Result<std::vector<QueueInfo>> Client::counts() {
  return link_->counts();
}

Result<void> Client::pause(const std::string& queue) {
  return link_->pause(queue, true);
}

Result<void> Client::resume(const std::string& queue) {
  return link_->pause(queue, false);
}

Result<void> Client::limit(const std::string& queue, int concurrency) {
  if (concurrency < 0) {
    return fail(ErrorCode::invalid_argument, "limit", "concurrency is negative: 0 is no limit");
  }
  return link_->limit(queue, concurrency);
}

}  // namespace holdfast
