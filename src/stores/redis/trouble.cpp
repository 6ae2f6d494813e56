#include "stores/redis/trouble.hpp"

#include <algorithm>

namespace holdfast::stores::redis {
namespace {

struct Known {
  std::string_view word;
  Remedy remedy;
  ErrorCode code;
  std::string_view advice;
};

constexpr Known kKnown[] = {
    {"NOSCRIPT", Remedy::load_scripts, ErrorCode::unavailable,
     "it does not keep the scripts that it was given; is something else flushing them?"},
    {"LOADING", Remedy::wait, ErrorCode::unavailable,
     "it reads its data from disk after a start; wait until it has"},
    {"BUSY", Remedy::wait, ErrorCode::unavailable,
     "another script runs there for too long; SCRIPT KILL ends one that has written nothing"},
    {"TRYAGAIN", Remedy::wait, ErrorCode::unavailable, "its cluster is moving our slot"},
    {"ASK", Remedy::wait, ErrorCode::unavailable, "its cluster is moving our slot"},
    {"CLUSTERDOWN", Remedy::wait, ErrorCode::unavailable,
     "its cluster is down or has no node for our slot; see CLUSTER INFO"},
    {"NOREPLICAS", Remedy::wait, ErrorCode::unavailable,
     "it has fewer replicas than min-replicas-to-write asks for"},
    {"MOVED", Remedy::follow, ErrorCode::unavailable,
     "its cluster sends us from node to node; see CLUSTER SLOTS"},
    {"READONLY", Remedy::reconnect, ErrorCode::unavailable,
     "it is a replica; name the master, or its sentinels (redis+sentinel://)"},
    {"MASTERDOWN", Remedy::reconnect, ErrorCode::unavailable,
     "it is a replica that has lost its master; name the master, or its sentinels"},
    {"OOM", Remedy::none, ErrorCode::exhausted,
     "it has no memory left; raise its maxmemory, or let it hold less"},
    {"MISCONF", Remedy::none, ErrorCode::exhausted,
     "it cannot write its own files; look at its log, and for room on its disk"},
    {"WRONGTYPE", Remedy::none, ErrorCode::corrupt,
     "something else is kept where our data should be; does another program use this space?"},
    {"NOAUTH", Remedy::none, ErrorCode::unavailable, "it wants a password, and the URL has none"},
    {"WRONGPASS", Remedy::none, ErrorCode::unavailable, "it does not take this user and password"},
    {"NOPERM", Remedy::none, ErrorCode::unavailable, "this user may not do it; see ACL LIST there"},
    {"DENIED", Remedy::none, ErrorCode::unavailable,
     "it is in protected mode: give it a password, or bind it to this network"},
};

constexpr std::string_view kSays = "the server says: ";

Error error_of(ErrorCode code, std::string_view text, std::string_view advice) {
  std::string message = std::string(kSays) + std::string(text);
  if (!advice.empty()) message += " (" + std::string(advice) + ")";
  return {code, "talk to Redis", std::move(message)};
}

}  // namespace

Failure to_failure(const Trouble& trouble) {
  return {.message = trouble.error.text()};
}

Trouble said_by_server(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" :"));
  const auto* const known = std::ranges::find(kKnown, word, &Known::word);
  if (known != std::end(kKnown)) return {error_of(known->code, text, known->advice), known->remedy};
  // It says so instead of a greeting, and ends the connection.
  if (text.starts_with("ERR max number of clients")) {
    return {error_of(ErrorCode::unavailable, text, "raise its maxclients, or run fewer workers"),
            Remedy::reconnect};
  }
  return {error_of(ErrorCode::internal, text, ""), Remedy::none};
}

bool was_said_by_server(const Error& error) noexcept {
  return error.message.starts_with(kSays);
}

Trouble lost(Error why) {
  // Wrong words of ours do not get better by waiting.
  const Remedy remedy = why.code == ErrorCode::unavailable ? Remedy::reconnect : Remedy::none;
  return {std::move(why), remedy};
}

std::string_view place_of_move(std::string_view text) {
  const auto space = text.rfind(' ');
  return space == std::string_view::npos ? "" : text.substr(space + 1);
}

}  // namespace holdfast::stores::redis
