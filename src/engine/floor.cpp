#include "engine/floor.hpp"

#include <algorithm>
#include <chrono>

#include "engine/carrier.hpp"

namespace holdfast::engine {
namespace {

// A role that comes round every nothing would never let another one in.
Options sound(Options options) {
  const auto at_least = [](Duration& span, Duration least) { span = std::max(span, least); };
  at_least(options.lease, std::chrono::milliseconds(3));
  at_least(options.sweep_every, std::chrono::milliseconds(1));
  at_least(options.look_every, std::chrono::milliseconds(1));
  at_least(options.janitor_every, std::chrono::milliseconds(1));
  at_least(options.shutdown_grace, Duration::zero());
  at_least(options.stop_grace, Duration::zero());
  options.most_claimed = std::max<std::size_t>(options.most_claimed, 1);
  return options;
}

}  // namespace

Floor::Floor(Parts given_parts, Options given_options)
    : parts(given_parts), options(sound(std::move(given_options))) {}

void Floor::note(const Error& error) {
  if (error.code != ErrorCode::corrupt || broken()) return;
  stats.broken = error;
  parts.log.log(Level::critical, "store.corrupt",
                "the store is corrupt: nothing is claimed or settled any more",
                {{"error", error.text()}});
  if (options.on_broken) options.on_broken(error);
}

TaskType& Floor::add_type(std::string name, TypeOptions type_options) {
  auto& place = types_[name];
  if (place) retired_.push_back(std::move(place));
  place = std::make_unique<TaskType>(TaskType{
      .name = std::move(name), .options = std::move(type_options), .index = next_index_++});
  return *place;
}

void Floor::remove_type(std::string_view name) {
  const auto found = types_.find(name);
  if (found == types_.end()) return;
  retired_.push_back(std::move(found->second));
  types_.erase(found);
}

void Floor::complete(ports::NewTask& task) const {
  if (task.created == WallTime{}) task.created = wall_now();
  if (task.due == WallTime{}) task.due = task.created;
  const TaskType* type = find_type(task.type);
  if (task.deadline || !type || !type->options.deadline) return;
  task.deadline = saturating_add(task.created, *type->options.deadline);
}

void Floor::tell(const Moved& moved) const {
  if (options.observer) options.observer->moved(moved);
  if (carriers.empty()) return;
  if (Carrier* const carrier = carrier_of(moved.task.queue)) carrier->moved(moved);
}

const TaskType* Floor::find_type(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second.get();
}

const TaskType& Floor::type_or_default(std::string_view name) const {
  const TaskType* type = find_type(name);
  return type ? *type : unknown_;
}

}  // namespace holdfast::engine
