#include <algorithm>
#include <mutex>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "node/link.hpp"
#include "node/registry.hpp"
#include "node/task_words.hpp"

namespace holdfast::node {
namespace {

template <class T>
Result<void> without_value(const Result<T>& result) {
  if (!result) return std::unexpected(result.error());
  return {};
}

template <class Info, class T>
Result<std::vector<Info>> infos(Result<std::vector<T>> found) {
  if (!found) return std::unexpected(std::move(found).error());
  std::vector<Info> all;
  all.reserve(found->size());
  for (T& one : *found)
    all.push_back(to_info(std::move(one)));
  return all;
}

Result<Client::Answers> without_values(const Result<Node::Decisions>& decided) {
  if (!decided) return std::unexpected(decided.error());
  Client::Answers answers;
  answers.reserve(decided->size());
  for (const auto& one : *decided)
    answers.push_back(without_value(one));
  return answers;
}

class LocalLink final : public Link {
 public:
  LocalLink(std::string url, Logger log) : url_(std::move(url)), log_(log) {}

  Result<void> open() override { return without_value(node()); }

  Result<std::vector<Result<TaskId>>> submit(std::span<const Submission> submissions) override;

  Result<TaskInfo> find(const TaskId& id, Duration /*patience*/) override {
    auto found = with([&](Node& node) { return node.query(ports::Find{id}); });
    if (!found) return std::unexpected(std::move(found).error());
    if (!*found) {
      return fail(ErrorCode::not_found, "find", fmt::format("no task {}", id.text()));
    }
    return to_info(**std::move(found));
  }

  Result<void> cancel(const TaskId& id) override {
    return without_value(with([&](Node& node) { return node.cancel(id); }));
  }

  Result<Client::Answers> replay(std::span<const TaskId> ids,
                                 const Client::Replay& options) override {
    const core::ReplayOptions how{.insist = options.insist, .deadline = options.deadline};
    return without_values(with([&](Node& node) { return node.replay(ids, how); }));
  }

  Result<Client::Answers> discard(std::span<const TaskId> ids) override {
    return without_values(with([&](Node& node) { return node.discard(ids); }));
  }

  Result<TaskPage> list(TaskFilter filter) override {
    auto list = to_list(std::move(filter));
    if (!list) return std::unexpected(std::move(list).error());
    auto found = with([&](Node& node) { return node.query(*std::move(list)); });
    if (!found) return std::unexpected(std::move(found).error());
    TaskPage page{.next = std::move(found->next)};
    for (ports::TaskRecord& record : found->tasks)
      page.tasks.push_back(to_info(std::move(record)));
    return page;
  }

  Result<std::vector<FailureGroup>> groups(std::size_t limit) override {
    return infos<FailureGroup>(with([&](Node& node) { return node.query(ports::Groups{limit}); }));
  }

  Result<std::vector<QueueInfo>> counts() override {
    return infos<QueueInfo>(with([](Node& node) { return node.query(ports::Count{}); }));
  }

  Result<void> pause(const std::string& queue, bool paused) override {
    return configure({.queue = queue, .paused = paused});
  }

  Result<void> limit(const std::string& queue, int concurrency) override {
    return configure({.queue = queue, .concurrency = concurrency});
  }

  [[nodiscard]] Duration longest_look() const noexcept override {
    return std::chrono::milliseconds(100);
  }

 private:
  Result<std::shared_ptr<Node>> node() {
    const std::lock_guard lock(mutex_);
    if (node_) return node_;
    auto opened = node::open(url_, log_);
    if (opened) node_ = *opened;
    return opened;
  }

  // What `ask(node)` answers, or why there is no node.
  template <class Ask>
  std::invoke_result_t<Ask, Node&> with(Ask ask) {
    const auto found = node();
    if (!found) return std::unexpected(found.error());
    return ask(**found);
  }

  Result<void> configure(ports::Configure configure) {
    return without_value(with([&](Node& node) { return node.configure(std::move(configure)); }));
  }

  const std::string url_;
  const Logger log_;
  std::mutex mutex_;
  std::shared_ptr<Node> node_;
};

Result<std::vector<Result<TaskId>>> LocalLink::submit(std::span<const Submission> submissions) {
  const auto opened = node();
  if (!opened) return std::unexpected(opened.error());
  std::vector<Result<TaskId>> answers;
  std::vector<ports::NewTask> tasks;
  std::vector<std::size_t> places;  // of each task among the answers
  const WallTime now = (*opened)->clock().wall_now();
  for (const Submission& submission : submissions) {
    auto task = to_new_task(submission, now);
    answers.emplace_back(task ? Result<TaskId>() : std::unexpected(task.error()));
    if (!task) continue;
    tasks.push_back(*std::move(task));
    places.push_back(answers.size() - 1);
  }
  if (tasks.empty()) return answers;
  auto accepted = with([&](Node& node) { return node.submit(std::move(tasks)); });
  if (!accepted) return std::unexpected(std::move(accepted).error());
  for (std::size_t at = 0; at < places.size(); ++at) {
    auto& one = (*accepted)[at];
    answers[places[at]] = one ? Result<TaskId>(one->id) : std::unexpected(std::move(one).error());
  }
  return answers;
}

}  // namespace

std::shared_ptr<Link> local_link(std::string url, Logger log) {
  return std::make_shared<LocalLink>(std::move(url), log);
}

}  // namespace holdfast::node
