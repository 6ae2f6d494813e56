#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <holdfast/time.hpp>

#include "engine/engine.hpp"
#include "engine/live_run.hpp"
#include "engine/task_type.hpp"
#include "ports/store_lane.hpp"

namespace holdfast::engine {

class Carrier;

// How long a stop waits for the last answers of the store and the broker.
inline constexpr Duration kCloseWait = std::chrono::seconds(5);
// A queue that has just given nothing is not asked sooner, whatever it says is due.
inline constexpr Duration kLeastClaimWait = std::chrono::milliseconds(1);
// So many tasks are removed from the store at once.
inline constexpr std::size_t kPurgeSlice = 500;

// The ground that all roles of one engine stand on. Threads: the loop's.
class Floor {
 public:
  Floor(Parts parts, Options options);
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  const Parts parts;
  const Options options;
  LiveRuns runs;
  Stats stats;
  std::size_t places_asked = 0;  // of claims under way, of all queues
  bool shutting_down = false;
  // To be called when a run has ended or the store has answered: there may be more to do.
  std::function<void()> on_progress = [] {};

  [[nodiscard]] bool broken() const noexcept { return stats.broken.has_value(); }
  // Looks at an error of the store; the first that says it is corrupt breaks the engine.
  void note(const Error& error);

  // In place of one of the same name, if there is one.
  TaskType& add_type(std::string name, TypeOptions options);
  void remove_type(std::string_view name);
  [[nodiscard]] const TaskType* find_type(std::string_view name) const;
  // Of a type that nobody handles: the default policy, and no handler.
  [[nodiscard]] const TaskType& type_or_default(std::string_view name) const;
  [[nodiscard]] std::size_t type_count() const noexcept { return types_.size(); }
  // TaskType::index is always below it, of those that were replaced too.
  [[nodiscard]] std::size_t index_count() const noexcept { return next_index_; }
  template <class Look>
  void for_each_type(Look look) const {
    for (const auto& [name, type] : types_)
      look(*type);
  }

  // What a task that is handed in does not say: when, and until when.
  void complete(ports::NewTask& task) const;

  // Of the queues that a broker carries. They live as long as the floor.
  std::map<std::string, Carrier*, std::less<>> carriers;
  [[nodiscard]] Carrier* carrier_of(std::string_view queue) const {
    const auto found = carriers.find(queue);
    return found == carriers.end() ? nullptr : found->second;
  }

  // Whether somebody says when a queue that gave nothing may have something.
  [[nodiscard]] bool has_news() const noexcept { return parts.news != nullptr; }
  // How often it is looked at anyway.
  [[nodiscard]] Duration look_every() const noexcept {
    return has_news() ? options.look_every : options.sweep_every;
  }

  // The store has carried it out.
  void tell(const Moved& moved) const;

  // Asks a lane; `then(ports::Asked<Verb>&)` gets the verb back with its answer, unless the engine
  // is gone by then.
  template <class Verb, class Then>
  void ask(ports::StoreLane& lane, Verb verb, Then then) {
    lane.ask(ports::Asked<Verb>{std::move(verb)},
             [this, alive = std::weak_ptr(alive_),
              then = std::move(then)](ports::Request request) mutable {
               if (alive.expired()) return;
               auto& asked = std::get<ports::Asked<Verb>>(request);
               if (!asked.answer) note(asked.answer.error());
               then(asked);
             });
  }

  // Work that does nothing once the engine is gone.
  template <class Work>
  [[nodiscard]] auto guarded(Work work) {
    return [alive = std::weak_ptr(alive_), work = std::move(work)](auto&&... arguments) mutable {
      if (!alive.expired()) work(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  [[nodiscard]] WallTime wall_now() const noexcept { return parts.clock.wall_now(); }
  [[nodiscard]] SteadyTime now() const noexcept { return parts.clock.now(); }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  std::unordered_map<std::string, std::unique_ptr<TaskType>, TextHash, std::equal_to<>> types_;
  // Replaced or removed. Runs may still hold them, and there are only as many as people have made
  // changes, so they are kept.
  std::vector<std::unique_ptr<TaskType>> retired_;
  std::size_t next_index_ = 1;  // 0 is that of the unknown
  TaskType unknown_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::engine
