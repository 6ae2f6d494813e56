#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::seeing {

// What became of messages by the recoveries that run on a schedule, since the start. What a run
// keeps in its queue, the next one counts again. Names are those of the configuration. Threads: the
// loop's.
class RecoveryCounts {
 public:
  enum class Fate : std::uint8_t { recovered, failed, skipped };
  static constexpr std::size_t kFates = 3;
  [[nodiscard]] static std::string_view to_string(Fate fate) noexcept;

  struct Of {
    std::string queue = {};
    std::uint64_t started = 0;
    std::map<std::string, std::uint64_t> ended = {};  // by outcome
    std::array<std::uint64_t, kFates> messages{};     // index: Fate
  };

  // Those there are from now on, and how their runs may end: counts of others are forgotten, and
  // all of these are there, with zeros.
  void expect(const std::map<std::string, std::string>& queues_by_name,
              std::span<const std::string_view> outcomes);
  void started(const std::string& name);
  void ended(const std::string& name, std::string_view outcome,
             const std::array<std::uint64_t, kFates>& messages);

  [[nodiscard]] const std::map<std::string, Of>& all() const noexcept { return all_; }

 private:
  std::map<std::string, Of> all_;
};

}  // namespace holdfast::seeing
