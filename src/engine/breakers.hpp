#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/floor.hpp"

namespace holdfast::engine {

// One breaker for each dependency (N4): what it does not let through waits, and spends no attempt.
class Breakers {
 public:
  using Opened = std::function<void(const Breaker&)>;

  // `opened` hears, later on the loop, of each breaker that has opened.
  Breakers(Floor& floor, Opened opened) : floor_(floor), opened_(std::move(opened)) {}

  // Made when it is first named.
  [[nodiscard]] Breaker& of(const std::string& dependency);
  [[nodiscard]] Breaker* find(const std::string& dependency) const;
  [[nodiscard]] std::vector<const Breaker*> all() const;

  // How a task that was not let through is put off. The waits differ a little, so that a thousand
  // of them do not come back as one.
  [[nodiscard]] core::BreakerOpen put_off(const Breaker& breaker);

 private:
  Floor& floor_;
  const Opened opened_;
  std::map<std::string, std::unique_ptr<Breaker>> breakers_;
};

}  // namespace holdfast::engine
