#include "recovery/summary.hpp"

namespace holdfast::recovery {

void Counts::add(std::string_view name, std::uint64_t count) {
  if (count == 0) return;
  total_ += count;
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    found->second += count;
  } else if (by_name_.size() < kMostNames) {
    by_name_.emplace(name, count);
  } else {
    others_ += count;
  }
}

void Counts::add(const Counts& other) {
  for (const auto& [name, count] : other.by_name_)
    add(name, count);
  others_ += other.others_;
  total_ += other.others_;
}

void Counts::clear() {
  by_name_.clear();
  others_ = 0;
  total_ = 0;
}

std::string_view to_string(Ended ended) noexcept {
  switch (ended) {
    case Ended::empty: return "empty";
    case Ended::caught_up: return "caught up";
    case Ended::limit: return "limit";
    case Ended::canary: return "canary";
    case Ended::idle: return "idle";
    case Ended::total: return "total";
    case Ended::stall: return "stall";
    case Ended::asked: return "asked";
    case Ended::failed: return "failed";
  }
  return "failed";
}

std::string_view sentence_of(Ended ended) noexcept {
  switch (ended) {
    case Ended::empty: return "every message was handled";
    case Ended::caught_up:
      return "everything found at the start was handled; newer messages are left";
    case Ended::limit: return "as many as were asked for (--limit)";
    case Ended::canary: return "its canary has failed, and the rest stays (--canary)";
    case Ended::idle: return "no message came for too long (--idle)";
    case Ended::total: return "its time is over (--total)";
    case Ended::stall: return "no progress for too long (--stall)";
    case Ended::asked: return "it was asked to end";
    case Ended::failed: return "it could not go on";
  }
  return "";
}

std::uint64_t Summary::counted() const {
  return recovered.total() + discarded + planned + would_fail + kept();
}

std::uint64_t Summary::seen() const {
  return planned + would_fail + skipped.total() + passed;
}

bool Summary::is_part() const {
  return dry && ended == Ended::limit && (!found || seen() < *found);
}

bool Summary::all_done() const {
  if (ended == Ended::failed || ended == Ended::canary || error) return false;
  // Half a plan is none.
  if (vanished > 0) return false;
  if (dry) {
    if (ended != Ended::limit && found && seen() < *found) return false;
    return would_fail == 0 && unreadable.total() == 0 &&
           (ended == Ended::empty || ended == Ended::caught_up || ended == Ended::limit);
  }
  if (kept() > (parks_all ? parked : 0)) return false;
  if (ended == Ended::limit && !cut_short) return true;
  // What the filter leaves is meant to be left.
  return left.has_value() && *left <= passed;
}

}  // namespace holdfast::recovery
