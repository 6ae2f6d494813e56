// What <holdfast/client.hpp> promises, over a node of this process.
#include <algorithm>
#include <mutex>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "node/registry.hpp"
#include "node/task_words.hpp"

namespace holdfast {
namespace {

// How often wait() looks: soon at first, since most tasks are short, and then less and less.
constexpr Duration kFirstLook = std::chrono::milliseconds(1);
constexpr Duration kLongestLook = std::chrono::milliseconds(100);

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
    all.push_back(node::to_info(std::move(one)));
  return all;
}

}  // namespace

// The way to the store, open or not yet.
class Client::Link {
 public:
  Link(std::string url, Logger log) : url_(std::move(url)), log_(log) {}

  Result<std::shared_ptr<node::Node>> node() {
    const std::lock_guard lock(mutex_);
    if (node_) return node_;
    auto opened = node::open(url_, log_);
    if (opened) node_ = *opened;
    return opened;
  }

  // What `ask(node)` answers, or why there is no node.
  template <class Ask>
  std::invoke_result_t<Ask, node::Node&> with(Ask ask) {
    const auto found = node();
    if (!found) return std::unexpected(found.error());
    return ask(**found);
  }

  Result<void> configure(ports::Configure configure) {
    return without_value(
        with([&](node::Node& node) { return node.configure(std::move(configure)); }));
  }

 private:
  const std::string url_;
  const Logger log_;
  std::mutex mutex_;
  std::shared_ptr<node::Node> node_;
};

Client::Client(std::string url, Options options)
    : link_(std::make_shared<Link>(std::move(url), options.log)) {}

Result<void> Client::open() {
  return without_value(link_->node());
}

Result<TaskId> Client::submit(Submission submission) {
  auto answers = submit(std::span<const Submission>(&submission, 1));
  if (!answers) return std::unexpected(std::move(answers).error());
  return std::move(answers->front());
}

Result<std::vector<Result<TaskId>>> Client::submit(std::span<const Submission> submissions) {
  if (const auto opened = open(); !opened) return std::unexpected(opened.error());
  std::vector<Result<TaskId>> answers;
  std::vector<ports::NewTask> tasks;
  std::vector<std::size_t> places;  // of each task among the answers
  const WallTime now = system_clock().wall_now();
  for (const Submission& submission : submissions) {
    auto task = node::to_new_task(submission, now);
    answers.emplace_back(task ? Result<TaskId>() : std::unexpected(task.error()));
    if (!task) continue;
    tasks.push_back(*std::move(task));
    places.push_back(answers.size() - 1);
  }
  if (tasks.empty()) return answers;
  auto accepted = link_->with([&](node::Node& node) { return node.submit(std::move(tasks)); });
  if (!accepted) return std::unexpected(std::move(accepted).error());
  for (std::size_t at = 0; at < places.size(); ++at) {
    auto& one = (*accepted)[at];
    answers[places[at]] = one ? Result<TaskId>(one->id) : std::unexpected(std::move(one).error());
  }
  return answers;
}

Result<TaskInfo> Client::find(const TaskId& id) {
  auto found = link_->with([&](node::Node& node) { return node.query(ports::Find{id}); });
  if (!found) return std::unexpected(std::move(found).error());
  if (!*found) {
    return fail(ErrorCode::not_found, "find", fmt::format("no task {}", id.text()));
  }
  return node::to_info(**std::move(found));
}

Result<TaskInfo> Client::wait(const TaskId& id, Duration timeout) {
  Clock& clock = system_clock();
  const SteadyTime until = saturating_add(clock.now(), timeout);
  for (Duration look = kFirstLook;; look = std::min(look * 2, kLongestLook)) {
    auto info = find(id);
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
  return without_value(link_->with([&](node::Node& node) { return node.cancel(id); }));
}

Result<void> Client::replay(const TaskId& id, Replay options) {
  const core::ReplayOptions how{.insist = options.insist, .deadline = options.deadline};
  return without_value(link_->with([&](node::Node& node) { return node.replay(id, how); }));
}

Result<void> Client::discard(const TaskId& id) {
  return without_value(link_->with([&](node::Node& node) { return node.discard(id); }));
}

Result<TaskPage> Client::list(TaskFilter filter) {
  auto list = node::to_list(std::move(filter));
  if (!list) return std::unexpected(std::move(list).error());
  auto found = link_->with([&](node::Node& node) { return node.query(*std::move(list)); });
  if (!found) return std::unexpected(std::move(found).error());
  TaskPage page{.next = std::move(found->next)};
  for (ports::TaskRecord& record : found->tasks)
    page.tasks.push_back(node::to_info(std::move(record)));
  return page;
}

Result<std::vector<FailureGroup>> Client::groups(std::size_t limit) {
  return infos<FailureGroup>(
      link_->with([&](node::Node& node) { return node.query(ports::Groups{limit}); }));
}

Result<std::vector<QueueInfo>> Client::counts() {
  return infos<QueueInfo>(link_->with([](node::Node& node) { return node.query(ports::Count{}); }));
}

Result<void> Client::pause(const std::string& queue) {
  return link_->configure({.queue = queue, .paused = true});
}

Result<void> Client::resume(const std::string& queue) {
  return link_->configure({.queue = queue, .paused = false});
}

Result<void> Client::limit(const std::string& queue, int concurrency) {
  if (concurrency < 0) {
    return fail(ErrorCode::invalid_argument, "limit", "concurrency is negative: 0 is no limit");
  }
  return link_->configure({.queue = queue, .concurrency = concurrency});
}

}  // namespace holdfast
