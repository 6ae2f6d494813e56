#include "brokers/sqs/shelf.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::brokers::sqs {

std::optional<Shelf::Number> Shelf::put(std::string message_id, std::string receipt,
                                        SteadyTime now) {
  const auto known = by_message_.find(message_id);
  const bool is_new = known == by_message_.end();
  const Number number = is_new ? ++last_ : known->second;
  Slot& slot = slots_[number];
  const bool was_held = !is_new && slot.is_held;
  slot = {.message_id = std::move(message_id),
          .receipt = std::move(receipt),
          .received = now,
          .until = saturating_add(now, visibility_),
          .is_held = was_held};
  if (!is_new) return std::nullopt;
  by_message_.emplace(slot.message_id, number);
  ++counted_;
  return number;
}

std::optional<Shelf::Slot> Shelf::take(Number number) {
  auto found = slots_.extract(number);
  if (!found) return std::nullopt;
  Slot slot = std::move(found.mapped());
  by_message_.erase(slot.message_id);
  if (!slot.is_held) --counted_;
  return slot;
}

void Shelf::hold(Number number) {
  const auto found = slots_.find(number);
  if (found == slots_.end() || std::exchange(found->second.is_held, true)) return;
  --counted_;
}

std::vector<Shelf::Slot> Shelf::take_all() {
  std::vector<Slot> all;
  all.reserve(slots_.size());
  for (auto& [number, slot] : slots_)
    all.push_back(std::move(slot));
  slots_.clear();
  by_message_.clear();
  counted_ = 0;
  return all;
}

std::vector<Shelf::Wish> Shelf::wishes(SteadyTime now) {
  std::vector<Wish> all;
  for (auto& [number, slot] : slots_) {
    // Whoever asks does so a few times within this half.
    const bool is_time = slot.until - now <= visibility_ * 5 / 8;
    if (!is_time || slot.is_expired || slot.is_asked_for) continue;
    const Duration left = saturating_add(slot.received, kLongest) - now;
    const Duration visibility =
        std::min(visibility_, Duration(std::chrono::floor<std::chrono::seconds>(left)));
    if (visibility < std::chrono::seconds(1)) continue;  // it runs out
    slot.is_asked_for = true;
    all.push_back({number, slot.receipt, visibility});
  }
  return all;
}

Shelf::Slot* Shelf::find(const Wish& wish) {
  const auto found = slots_.find(wish.number);
  // By another receipt it is another delivery.
  return found != slots_.end() && found->second.receipt == wish.receipt ? &found->second : nullptr;
}

void Shelf::granted(const Wish& wish, SteadyTime asked) {
  Slot* const slot = find(wish);
  if (!slot) return;
  slot->is_asked_for = false;
  slot->is_expired = false;
  slot->until = std::max(slot->until, saturating_add(asked, wish.visibility));
}

void Shelf::refused(const Wish& wish, bool is_final) {
  Slot* const slot = find(wish);
  if (!slot) return;
  slot->is_asked_for = false;
  if (is_final && !std::exchange(slot->is_expired, true)) ++refused_;
}

std::size_t Shelf::expire(SteadyTime now) {
  std::size_t count = std::exchange(refused_, 0);
  for (auto& [number, slot] : slots_) {
    if (slot.is_expired || slot.until > now) continue;
    slot.is_expired = true;
    ++count;
  }
  return count;
}

}  // namespace holdfast::brokers::sqs
