#include "torture/hasty_store.hpp"

namespace holdfast::torture {

using namespace ports;

namespace {

void promise(Asked<Submit>& asked) {
  Submit::Answer answer;
  for (const NewTask& task : asked.verb.tasks)
    answer.emplace_back(Submit::Accepted{.id = task.id});
  asked.answer = std::move(answer);
}

void promise(Asked<Change>& asked) {
  asked.answer = Change::Answer(asked.verb.changes.size(), Change::Done::applied);
}

}  // namespace

void HastyStore::pay() {
  batches_ = 0;
  if (owed_.empty()) return;
  store_->carry_out(owed_);
  owed_.clear();
}

void HastyStore::carry_out(std::span<Request> batch) {
  if (++batches_ >= batches_late_) pay();
  const auto answer = [&]<class Verb>(Asked<Verb>& asked) {
    if constexpr (requires { promise(asked); }) {
      owed_.emplace_back(asked);
      promise(asked);
    } else {
      asked.answer = ask(*store_, asked.verb);
    }
  };
  for (Request& request : batch)
    std::visit(answer, request);
}

}  // namespace holdfast::torture
