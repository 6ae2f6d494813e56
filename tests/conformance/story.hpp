// Random verbs for a store, which mean something: they are made from what a model of it holds.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <holdfast/testing/fake_random.hpp>

#include "ports/store.hpp"
#include "stores/memory/memory_store.hpp"

namespace holdfast::conformance {

// One choice of a generator, as numbers that each mean something whatever their value: so what
// fails can be shrunk, number by number.
struct Step {
  std::uint32_t kind = 0;
  std::uint32_t which = 0;
  std::uint32_t how = 0;
  std::uint32_t time = 0;

  bool operator==(const Step&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Step& step);

// Tells what to ask next. Times are whole microseconds, and go back now and then, as clocks do.
class Story {
 public:
  explicit Story(const stores::MemoryStore& model) : model_(&model) {}

  [[nodiscard]] ports::Request next(const Step& step);

 private:
  [[nodiscard]] ports::Submit submit(const Step& step);
  [[nodiscard]] ports::Claim claim(const Step& step) const;
  [[nodiscard]] ports::Claim claim_only(const Step& step);
  ports::Carried carried(const Step& step);
  ports::Renew renew(const Step& step);
  [[nodiscard]] ports::Change change(const Step& step);
  [[nodiscard]] ports::Purge purge(const Step& step) const;
  [[nodiscard]] ports::Configure configure(const Step& step) const;
  [[nodiscard]] static ports::Groups groups(const Step& step);
  [[nodiscard]] static ports::Jot jot(const Step& step);
  [[nodiscard]] static ports::Notes notes(const Step& step);
  // As it is now; or as it once was, which is what a late settlement looks at.
  [[nodiscard]] ports::TaskRecord some_task(const Step& step);
  [[nodiscard]] core::Transition some_transition(const core::Task& task, std::uint32_t how);

  const stores::MemoryStore* model_;
  WallTime now_{std::chrono::hours(24 * 365 * 54)};
  std::vector<ports::TaskRecord> past_;
  std::uint64_t ids_ = 0;
  testing::FakeRandom random_;
};

// The answer of a request, as text in which only what the port promises makes a difference.
[[nodiscard]] std::string text_of_answer(const ports::Request& request);

// All that `store` holds, the same way.
[[nodiscard]] std::string text_of_everything(ports::Store& store);

}  // namespace holdfast::conformance
