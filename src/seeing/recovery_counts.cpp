#include "seeing/recovery_counts.hpp"

#include <utility>

namespace holdfast::seeing {

std::string_view RecoveryCounts::to_string(Fate fate) noexcept {
  switch (fate) {
    case Fate::recovered: return "recovered";
    case Fate::failed: return "failed";
    case Fate::skipped: return "skipped";
  }
  return "";
}

void RecoveryCounts::expect(const std::map<std::string, std::string>& queues_by_name,
                            std::span<const std::string_view> outcomes) {
  std::map<std::string, Of> next;
  for (const auto& [name, queue] : queues_by_name) {
    const auto before = all_.find(name);
    // Of another queue, it is another recovery.
    const bool same = before != all_.end() && before->second.queue == queue;
    Of& of =
        next.emplace(name, same ? std::move(before->second) : Of{.queue = queue}).first->second;
    for (const std::string_view outcome : outcomes)
      of.ended.try_emplace(std::string(outcome));
  }
  all_ = std::move(next);
}

void RecoveryCounts::started(const std::string& name) {
  const auto found = all_.find(name);
  if (found != all_.end()) ++found->second.started;
}

void RecoveryCounts::ended(const std::string& name, std::string_view outcome,
                           const std::array<std::uint64_t, kFates>& messages) {
  const auto found = all_.find(name);
  if (found == all_.end()) return;
  ++found->second.ended[std::string(outcome)];
  for (std::size_t i = 0; i < kFates; ++i)
    found->second.messages[i] += messages[i];
}

}  // namespace holdfast::seeing
