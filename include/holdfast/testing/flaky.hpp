#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace holdfast::testing {

// A function that does as it is told, call by call:
//
//   Flaky<int> fetch;
//   fetch.throws(std::runtime_error("connection reset"), 2).returns(42);
//
//   Flaky<std::expected<int, std::string>> read;
//   read.fails("timed out").returns(42);
//
// The last step is repeated for ever. A call without any step throws std::logic_error. Copies do
// not share their count, so hand it on by reference (Policy::call does).
template <class R>
class Flaky {
 public:
  template <class Exception>
  Flaky& throws(Exception exception, int times = 1) {
    return add([exception]() -> R { throw exception; }, times);
  }

  // For R = std::expected: an error value.
  template <class E>
  Flaky& fails(E error, int times = 1) {
    return add([error]() -> R { return std::unexpected(error); }, times);
  }

  template <class V>
  Flaky& returns(V value, int times = 1) {
    return add([value]() -> R { return value; }, times);
  }

  // For R = void, and for whatever else a test needs.
  Flaky& does(std::function<R()> step, int times = 1) { return add(std::move(step), times); }

  R operator()() {
    if (steps_.empty()) throw std::logic_error("Flaky: called without a script");
    const std::size_t step = calls_++;
    return steps_[step < steps_.size() ? step : steps_.size() - 1]();
  }

  [[nodiscard]] int calls() const noexcept { return static_cast<int>(calls_); }

 private:
  Flaky& add(std::function<R()> step, int times) {
    for (int i = 0; i < times; ++i)
      steps_.push_back(step);
    return *this;
  }

  std::vector<std::function<R()>> steps_;
  std::size_t calls_ = 0;
};

}  // namespace holdfast::testing
