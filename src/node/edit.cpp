#include "node/edit.hpp"

#include <memory>
#include <utility>

#include "node/task_words.hpp"

namespace holdfast::node {
namespace {

struct Editing {
  Node& node;
  TaskId id;
  Client::Edit edit;
  std::string who;
  std::move_only_function<void(Result<TaskId>)> then;
};
using Shared = std::shared_ptr<Editing>;

Result<ports::NewTask> copy_of(ports::TaskRecord record, Client::Edit edit) {
  const core::State state = record.task.state;
  if (state != core::State::dead && state != core::State::failed) {
    return fail(ErrorCode::conflict, "edit",
                "the task is " + std::string(to_string(state)) + ", not dead or failed");
  }
  ports::NewTask copy{.type = edit.type.empty() ? record.type : std::move(edit.type),
                      .queue = edit.queue.empty() ? record.queue : std::move(edit.queue),
                      .payload = edit.payload ? *std::move(edit.payload) : record.payload,
                      .priority = record.priority,
                      .limits = record.limits,
                      .trace = std::move(record.trace),
                      .retry_on_failure = record.retry_on_failure};
  if (copy.payload == record.payload && copy.queue == record.queue && copy.type == record.type) {
    return fail(ErrorCode::invalid_argument, "edit",
                "nothing is different: replay it to run it again as it is");
  }
  if (copy.payload.size() > ports::kMostPayloadBytes) {
    return fail(ErrorCode::invalid_argument, "edit", "payload: is too large");
  }
  copy.key = edit_key(record.id, copy);
  return copy;
}

// Only now: had it come first, and the rest not at all, the task would be lost.
void discard_original(const Shared& editing, TaskId copy) {
  editing->node.ask_engine<core::Transition>(
      [&](engine::Engine& engine, auto then) {
        engine.discard(editing->id, std::move(then), edit_signature(editing->who, copy));
      },
      [editing, copy](const Result<core::Transition>& discarded) {
        if (!discarded) {
          return editing->then(fail(discarded.error().code, "edit",
                                    "the copy " + copy.text() +
                                        " is handed in, but the original could not be discarded: " +
                                        discarded.error().message));
        }
        editing->then(copy);
      });
}

void hand_in(const Shared& editing, ports::NewTask copy) {
  std::vector<ports::NewTask> tasks;
  tasks.push_back(std::move(copy));
  editing->node.ask_engine<ports::Submit::Answer>(
      [tasks = std::move(tasks)](engine::Engine& engine, auto then) mutable {
        engine.submit(std::move(tasks), std::move(then));
      },
      [editing](Result<ports::Submit::Answer> accepted) {
        if (!accepted) return editing->then(std::unexpected(std::move(accepted).error()));
        auto& one = accepted->front();
        if (!one) return editing->then(std::unexpected(std::move(one).error()));
        discard_original(editing, one->id);
      });
}

}  // namespace

void edit_task(Node& node, TaskId id, Client::Edit edit, std::string who,
               std::move_only_function<void(Result<TaskId>)> then) {
  auto editing = std::make_shared<Editing>(
      Editing{node, id, std::move(edit), std::move(who), std::move(then)});
  ports::lane_ask(node.reader(), ports::Find{id}, [editing](Result<ports::Find::Answer> found) {
    if (!found) return editing->then(std::unexpected(std::move(found).error()));
    if (!*found) {
      return editing->then(
          fail(ErrorCode::not_found, "edit", "there is no task " + editing->id.text()));
    }
    auto copy = copy_of(**std::move(found), std::move(editing->edit));
    if (!copy) return editing->then(std::unexpected(std::move(copy).error()));
    hand_in(editing, *std::move(copy));
  });
}

}  // namespace holdfast::node
