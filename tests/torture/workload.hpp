#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/testing/fake_clock.hpp>

#include "ports/store.hpp"
#include "torture/seeded_random.hpp"

namespace holdfast::torture {

// Uses a store as an engine would, one batch after the other, and writes down what was promised:
// for each task where it stands, or where it may stand if an answer left that open. From a seed,
// so that a run can be repeated. Threads: one at a time.
class Workload {
 public:
  explicit Workload(std::uint64_t seed) : random_(seed), ids_(random_) {}

  // How a batch was answered.
  enum class Answer : std::uint8_t {
    done,
    refused,  // with an error that says: nothing has changed
    broken,   // with one that says: it may have happened; no further batch will be taken
  };

  // A process begins: what the one before it had claimed is handed back.
  Answer begin_life(ports::Store& store);
  // Submits, claims, settles, cancels, replays or purges.
  Answer step(ports::Store& store);

  // Compares the store with what was promised, and says each difference for people. Where answers
  // had left something open, what is there counts from now on.
  [[nodiscard]] std::vector<std::string> breaches(ports::Store& store);

  [[nodiscard]] std::size_t promised() const noexcept { return tasks_.size(); }

 private:
  // Where a task stands; nothing: it is not there.
  struct Standing {
    core::State state{};
    core::Token token;

    bool operator==(const Standing&) const = default;
  };
  using Place = std::optional<Standing>;
  struct Promise {
    std::string payload;
    std::vector<Place> places;  // any of these
  };

  ports::Submit submission();
  ports::Claim claim();
  ports::Change settlements();
  std::optional<ports::Change::One> by_a_person(ports::Store& store);
  ports::Change::One change(const ports::TaskRecord& record, const core::Transition& transition);

  Answer carry_out(ports::Store& store, std::vector<ports::Request> batch);
  void note(const ports::Submit& verb, const ports::Submit::Answer& answer);
  void note(const ports::Claim& verb, const ports::Claim::Answer& answer);
  void note(const ports::Change& verb, const ports::Change::Answer& answer);
  void note(const ports::Purge& verb, const ports::Purge::Answer& answer);
  void doubt(const ports::Submit& verb);
  void doubt(const ports::Claim& verb);
  void doubt(const ports::Change& verb);
  void doubt(const ports::Purge& verb);
  void may_be(const TaskId& id, Place place);

  [[nodiscard]] static std::string text(const Place& place);
  void compare(ports::Store& store, std::vector<std::string>& found);
  void look_for_invented(ports::Store& store, std::vector<std::string>& found) const;

  SeededRandom random_;
  UuidSource ids_;
  testing::FakeClock clock_;
  std::map<TaskId, Promise> tasks_;
  std::vector<ports::TaskRecord> held_;
  std::vector<std::string> surprises_;  // answers that cannot be
  int life_ = 0;
};

}  // namespace holdfast::torture
