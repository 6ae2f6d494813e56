#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "recovery/letter.hpp"
#include "recovery/summary.hpp"
#include "wire/sample_json.hpp"

namespace holdfast::server {

// Makes a sample of the messages that a dry run looks at. Threads: one at a time.
class QueueSampler {
 public:
  static constexpr std::size_t kMostMessages = 50;  // that are shown whole
  static constexpr std::size_t kMostBodyBytes = 2048;
  static constexpr std::size_t kMostHeaders = 50;
  static constexpr std::size_t kMostHeaderBytes = 512;

  void note(const recovery::Letter& letter);
  // Most first.
  [[nodiscard]] wire::QueueSample sample() const;

 private:
  std::uint64_t seen_ = 0;
  std::optional<WallTime> oldest_;
  recovery::Counts types_;
  recovery::Counts reasons_;
  recovery::Counts origins_;
  std::map<std::string, wire::SampledError> errors_;
  std::vector<wire::SampledMessage> messages_;
};

}  // namespace holdfast::server
