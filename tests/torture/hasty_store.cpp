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
  if (owed_.empty()) return;
  store_->carry_out(owed_);
  owed_.clear();
}

void HastyStore::carry_out(std::span<Request> batch) {
  pay();
  // Only the end of a batch can be put off: what comes before it must be seen by the rest.
  std::size_t now = batch.size();
  while (now > 0 && (std::holds_alternative<Asked<Submit>>(batch[now - 1]) ||
                     std::holds_alternative<Asked<Change>>(batch[now - 1])))
    --now;
  if (now > 0) store_->carry_out(batch.first(now));
  for (Request& request : batch.subspan(now)) {
    owed_.push_back(request);
    std::visit(
        [](auto& asked) {
          if constexpr (requires { promise(asked); }) promise(asked);
        },
        request);
  }
}

}  // namespace holdfast::torture
