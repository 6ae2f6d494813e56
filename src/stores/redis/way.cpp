#include "stores/redis/way.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::stores::redis {
namespace {

// Nodes of a cluster that is well send us on once.
constexpr int kMostRedirects = 5;

constexpr Duration kLookEvery = std::chrono::milliseconds(50);
// Sentinels that do not answer hold up what the master could do meanwhile.
constexpr Duration kWatchAgainAfter = std::chrono::seconds(30);

// That the sentinels' master knows of it too: for a moment after a failover it may not be so.
OrTrouble<void> expect_master(Connection& connection) {
  Pipeline role;
  const std::string_view word = "ROLE";
  role.add({&word, 1});
  auto answers = connection.ask(role);
  if (!answers) return std::unexpected(std::move(answers.error()));
  const Reply answer = answers->front().view();
  if (answer.is_error()) return std::unexpected(said_by_server(answer.text()));
  if (answer[0].text() == "master") return {};
  return std::unexpected(lost({ErrorCode::unavailable, "connect to Redis",
                               "what the sentinels call the master, " + connection.host().text() +
                                   ", is a replica; a failover may be under way"}));
}

}  // namespace

Way::Way(const SessionOptions& options, const StopSignal& stop, const Clock& clock)
    : options_(options), stop_(stop), clock_(clock), watch_(options, stop, clock) {
  if (!options.address.master.empty()) sentinels_ = options.address.hosts;
}

OrTrouble<std::unique_ptr<Connection>> Way::connect() {
  if (const auto detour = std::exchange(detour_, std::nullopt)) {
    auto made = connect_to(*detour);
    if (made) detour_ = detour;
    return made;
  }
  if (!sentinels_.empty()) return connect_to_master();
  return connect_to(options_.address.hosts.front());
}

OrTrouble<std::unique_ptr<Connection>> Way::connect_to_owner_of(std::string_view key) {
  const std::string_view words[] = {"EXISTS", key};
  Pipeline exists;
  exists.add(words);
  for (int turn = 0; turn < kMostRedirects; ++turn) {
    auto made = connect();
    if (!made) return made;
    auto answers = (*made)->ask(exists);
    if (!answers) return std::unexpected(std::move(answers.error()));
    const Reply answer = answers->front().view();
    if (!answer.is_error()) return made;
    Trouble trouble = said_by_server(answer.text());
    const bool sent_on =
        trouble.remedy == Remedy::follow && follow(place_of_move(answer.text()), (*made)->host());
    if (!sent_on) return std::unexpected(std::move(trouble));
  }
  return std::unexpected(lost({ErrorCode::unavailable, "connect to Redis",
                               "its cluster sends us from node to node; see CLUSTER SLOTS"}));
}

bool Way::follow(std::string_view place, const Address::Host& said_by) {
  auto host = host_of_place(place);
  if (!host) return false;
  if (host->name.empty()) host->name = said_by.name;
  detour_ = std::move(host);
  return true;
}

OrTrouble<std::unique_ptr<Connection>> Way::connect_to(const Address::Host& host) {
  auto made = Connection::open(host, options_, stop_, clock_);
  if (!made) return made;
  if (auto greeted = greet(**made, options_); !greeted)
    return std::unexpected(std::move(greeted.error()));
  return made;
}

OrTrouble<std::unique_ptr<Connection>> Way::connect_to_master() {
  const auto master = ask_sentinels();
  if (!master) return std::unexpected(master.error());
  auto made = connect_to(*master);
  if (!made) return made;
  if (auto is_one = expect_master(**made); !is_one)
    return std::unexpected(std::move(is_one.error()));
  return made;
}

bool Way::leads_elsewhere(const Address::Host& master) {
  if (sentinels_.empty()) return false;
  const SteadyTime now = clock_.now();
  if (now < look_at_) return false;
  look_at_ = saturating_add(now, kLookEvery);
  if (watch_.has_switched()) return true;
  if (watch_.listens() || now < watch_at_) return false;
  const auto told = ask_sentinels();
  return told && *told != master;
}

// Listens first: what changes after the answer is heard.
OrTrouble<Address::Host> Way::ask_sentinels() {
  watch_at_ = saturating_add(clock_.now(), kWatchAgainAfter);
  std::string why;
  for (std::size_t at = 0; at < sentinels_.size(); ++at) {
    watch_.listen_at(sentinels_[at]);
    auto master = ask_sentinel(sentinels_[at], options_, stop_, clock_);
    if (master) {
      const auto known = sentinels_.begin() + static_cast<std::ptrdiff_t>(at);
      std::rotate(sentinels_.begin(), known, known + 1);
      return master;
    }
    if (stop_.given()) return master;
    why += "; " + sentinels_[at].text() + ": " + master.error().error.message;
  }
  return std::unexpected(
      lost({ErrorCode::unavailable, "ask the sentinels",
            "none of them knows where '" + options_.address.master + "' is" + why}));
}

std::optional<Address::Host> host_of_place(std::string_view place) {
  const auto colon = place.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Address::Host host{.name = std::string(place.substr(0, colon)), .port = 0};
  const std::string_view port = place.substr(colon + 1);
  const char* const end = port.data() + port.size();
  const auto [stopped, failed] = std::from_chars(port.data(), end, host.port);
  if (failed != std::errc() || stopped != end || host.port == 0) return std::nullopt;
  return host;
}

}  // namespace holdfast::stores::redis
