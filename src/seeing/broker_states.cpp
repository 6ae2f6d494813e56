#include "seeing/broker_states.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::seeing {
namespace {

constexpr std::size_t index_of(ports::BrokerWay way) {
  return static_cast<std::size_t>(way);
}

void add_to(BrokerSeen& seen, const BrokerState& state) {
  seen.about = state.about();
  seen.is_connected = seen.is_connected && state.is_connected();
  const auto& missing = state.missing();
  if (missing && (!seen.missing || missing->since < seen.missing->since)) seen.missing = missing;
  const auto blocked = state.blocked_since();
  if (blocked) seen.blocked_since = std::min(seen.blocked_since.value_or(*blocked), *blocked);
  seen.lost += state.lost();
  std::ranges::copy(state.carried, std::back_inserter(seen.carried));
  std::ranges::copy(state.recoveries, std::back_inserter(seen.recoveries));
}

}  // namespace

void BrokerState::connected(ports::BrokerWay way) noexcept {
  ways_[index_of(way)] = Way::up;
  // That it could not be published to was before: the next attempt will tell.
  Way& publishing = ways_[index_of(ports::BrokerWay::publish)];
  if (way == ports::BrokerWay::consume && publishing == Way::down) publishing = Way::idle;
  look({});
}

void BrokerState::disconnected(ports::BrokerWay way, const Error& why, bool was_up) noexcept {
  if (was_up) ++lost_;
  // To publish connects when there is something to publish, and not before.
  const bool may_rest = was_up && way == ports::BrokerWay::publish;
  ways_[index_of(way)] = may_rest ? Way::idle : Way::down;
  if (way == ports::BrokerWay::publish) blocked_since_.reset();
  look(why.message);
}

void BrokerState::look(const std::string& why) {
  if (std::ranges::find(ways_, Way::down) == ways_.end()) {
    missing_.reset();
  } else if (!missing_) {
    missing_ = Trouble{.since = clock_.wall_now(), .why = why};
  } else if (!why.empty()) {
    missing_->why = why;
  }
}

void BrokerState::blocked(bool is_blocked) noexcept {
  if (!is_blocked) return blocked_since_.reset();
  if (!blocked_since_) blocked_since_ = clock_.wall_now();
}

bool BrokerState::is_connected() const noexcept {
  return !missing_ && std::ranges::find(ways_, Way::up) != ways_.end();
}

std::shared_ptr<BrokerState> BrokerStates::add(BrokerState::About about) {
  std::erase_if(all_, [](const auto& one) { return one.expired(); });
  auto state = std::make_shared<BrokerState>(clock_, std::move(about));
  all_.push_back(state);
  return state;
}

std::vector<BrokerSeen> BrokerStates::all() const {
  std::map<std::string, BrokerSeen> by_place;
  for (const auto& one : all_) {
    if (const auto state = one.lock()) add_to(by_place[state->about().place], *state);
  }
  std::vector<BrokerSeen> all;
  all.reserve(by_place.size());
  for (auto& [place, seen] : by_place)
    all.push_back(std::move(seen));
  return all;
}

void BrokerStates::set_depth(const std::string& place, const std::string& queue,
                             std::optional<std::uint64_t> messages) {
  const std::pair key(place, queue);
  if (!messages) {
    depths_.erase(key);
    return;
  }
  depths_.insert_or_assign(key, Reading{.messages = *messages, .at = clock_.now()});
}

std::vector<BrokerStates::Depth> BrokerStates::depths() const {
  std::vector<Depth> shown;
  for (const auto& [key, reading] : depths_) {
    if (clock_.now() - reading.at > kDepthLasts) continue;
    shown.push_back({.place = key.first, .queue = key.second, .messages = reading.messages});
  }
  return shown;
}

}  // namespace holdfast::seeing
