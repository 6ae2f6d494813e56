#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/task.hpp>

namespace holdfast::node {

// What is behind a Client: the way to its tasks, open or not yet. Members are those of Client, and
// promise what they do.
class Link {
 public:
  virtual ~Link() = default;

  [[nodiscard]] virtual Result<void> open() = 0;
  [[nodiscard]] virtual Result<std::vector<Result<TaskId>>> submit(
      std::span<const Submission> submissions) = 0;
  // `patience`: how long it may try, where it tries again at all.
  [[nodiscard]] virtual Result<TaskInfo> find(const TaskId& id, Duration patience) = 0;
  [[nodiscard]] virtual Result<void> cancel(const TaskId& id) = 0;
  [[nodiscard]] virtual Result<Client::Answers> replay(std::span<const TaskId> ids,
                                                       const Client::Replay& options) = 0;
  [[nodiscard]] virtual Result<Client::Answers> discard(std::span<const TaskId> ids,
                                                        const std::string& reason) = 0;
  [[nodiscard]] virtual Result<TaskId> edit(const TaskId& id, Client::Edit edit) = 0;
  [[nodiscard]] virtual Result<Operation> begin(OperationRequest request) = 0;
  [[nodiscard]] virtual Result<Operation> operation(const std::string& id) = 0;
  [[nodiscard]] virtual Result<OperationPage> operations(std::size_t limit, std::string cursor) = 0;
  [[nodiscard]] virtual Result<Operation> steer(const std::string& id, OperationStep step,
                                                const std::optional<OperationOptions>& options) = 0;
  [[nodiscard]] virtual Result<AuditPage> audit(std::size_t limit, std::string cursor) = 0;
  [[nodiscard]] virtual Result<TaskCount> count(const std::string& query, std::string cursor) = 0;
  [[nodiscard]] virtual Result<TaskPage> list(TaskFilter filter) = 0;
  [[nodiscard]] virtual Result<std::vector<FailureGroup>> groups(std::size_t limit) = 0;
  [[nodiscard]] virtual Result<std::vector<QueueInfo>> counts() = 0;
  [[nodiscard]] virtual Result<void> pause(const std::string& queue, bool paused) = 0;
  [[nodiscard]] virtual Result<void> limit(const std::string& queue, int concurrency) = 0;

  // How often wait() may look at a task that takes long.
  [[nodiscard]] virtual Duration longest_look() const noexcept = 0;
};

// Over a node of this process.
[[nodiscard]] std::shared_ptr<Link> local_link(std::string url, Logger log);
// Over HTTP.
[[nodiscard]] std::shared_ptr<Link> remote_link(std::string url, Client::Options options);

}  // namespace holdfast::node
