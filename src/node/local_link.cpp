#include <algorithm>
#include <mutex>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "node/edit.hpp"
#include "node/link.hpp"
#include "node/registry.hpp"
#include "node/task_words.hpp"
#include "triage/operation_rules.hpp"
#include "triage/search.hpp"
#include "wire/operation_json.hpp"

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

// Whoever can open the store needs no name to come in.
constexpr const char* kWho = "local";

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
    return without_values(with([&](Node& node) {
      return node.decide(ids, {.action = OperationAction::replay, .options = how, .by = kWho});
    }));
  }

  Result<Client::Answers> discard(std::span<const TaskId> ids, const std::string& reason) override {
    return without_values(with([&](Node& node) {
      return node.decide(
          ids, {.action = OperationAction::discard, .by = triage::signed_by(kWho, reason)});
    }));
  }

  Result<TaskId> edit(const TaskId& id, Client::Edit edit) override {
    return on_loop<TaskId>("edit", [&](Node& node, auto then) {
      edit_task(node, id, std::move(edit), kWho, std::move(then));
    });
  }

  Result<Operation> begin(OperationRequest request) override {
    return on_loop<Operation>("begin", [&](Node& node, auto then) {
      node.operations().begin(std::move(request), kWho, std::move(then));
    });
  }

  Result<Operation> operation(const std::string& id) override {
    return on_loop<Operation>(
        "operation", [&](Node& node, auto then) { node.operations().find(id, std::move(then)); });
  }

  Result<OperationPage> operations(std::size_t limit, std::string cursor) override {
    return on_loop<OperationPage>("operations", [&](Node& node, auto then) {
      node.operations().page(limit, std::move(cursor), std::move(then));
    });
  }

  Result<Operation> steer(const std::string& id, OperationStep step,
                          const std::optional<OperationOptions>& options) override {
    std::string start;
    if (options) {
      wire::JsonWriter writer(start);
      write_operation_start(writer, *options, "");
    }
    return on_loop<Operation>("steer", [&](Node& node, auto then) {
      node.operations().step(id, step, std::move(start), kWho, std::move(then));
    });
  }

  Result<AuditPage> audit(std::size_t limit, std::string cursor) override {
    return on_loop<AuditPage>("audit", [&](Node& node, auto then) {
      node.audit().page(limit, std::move(cursor), std::move(then));
    });
  }

  Result<TaskCount> count(const std::string& query, std::string cursor) override {
    return on_loop<TaskCount>("count", [&](Node& node, auto then) {
      auto parsed = triage::Query::parse(query, node.clock().wall_now());
      if (!parsed) return then(std::unexpected(std::move(parsed).error()));
      triage::count(node.reader(), *std::move(parsed), std::move(cursor), std::move(then));
    });
  }

  Result<TaskPage> list(TaskFilter filter) override {
    if (!filter.query.empty()) return search(filter);
    auto list = to_list(std::move(filter));
    if (!list) return std::unexpected(std::move(list).error());
    auto found = with([&](Node& node) { return node.query(*std::move(list)); });
    if (!found) return std::unexpected(std::move(found).error());
    return to_page(std::move(found->tasks), std::move(found->next));
  }

  Result<std::vector<FailureGroup>> groups(std::size_t limit) override {
    auto found = with([&](Node& node) { return node.query(ports::Groups{.limit = limit}); });
    if (!found) return std::unexpected(std::move(found).error());
    return to_page(*std::move(found), system_clock().wall_now()).groups;
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

  Result<TaskPage> search(const TaskFilter& filter) {
    auto found = on_loop<triage::Found>("list", [&](Node& node, auto then) {
      auto query = to_query(filter, node.clock().wall_now());
      if (!query) return then(std::unexpected(std::move(query).error()));
      triage::search(node.reader(),
                     {.query = *std::move(query), .cursor = filter.cursor, .limit = filter.limit},
                     std::move(then));
    });
    if (!found) return std::unexpected(std::move(found).error());
    return to_page(std::move(found->tasks), std::move(found->next));
  }

  // What `ask(node, then)`, called on the node's loop, calls `then` with.
  template <class T, class Ask>
  Result<T> on_loop(const char* operation, Ask ask) {
    return with([&](Node& node) -> Result<T> {
      return node.call<T>(operation, [&node, &ask](auto then) { ask(node, std::move(then)); });
    });
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
