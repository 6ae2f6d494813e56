#include "engine/floor.hpp"

namespace holdfast::engine {

Floor::Floor(Parts given_parts, Options given_options)
    : parts(std::move(given_parts)), options(std::move(given_options)) {}

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
  const std::size_t index = place ? place->index : types_.size() - 1;
  place = std::make_unique<TaskType>(
      TaskType{.name = std::move(name), .options = std::move(type_options), .index = index});
  return *place;
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
