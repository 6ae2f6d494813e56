#include "http/sessions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/secret_bytes.hpp"

namespace holdfast::http {
namespace {

std::string new_id() {
  std::string id;
  for (const std::uint8_t byte : io::secret_bytes())
    id += fmt::format("{:02x}", byte);
  return id;
}

}  // namespace

std::optional<std::string_view> cookie_in(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    std::string_view pair = header.substr(0, header.find(';'));
    header.remove_prefix(std::min(pair.size() + 1, header.size()));
    pair.remove_prefix(std::min(pair.find_first_not_of(" \t"), pair.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
    const std::string_view value = pair.substr(equals + 1);
    return value.substr(0, value.find_last_not_of(" \t") + 1);
  }
  return std::nullopt;
}

std::optional<std::string> Sessions::begin(std::string_view token, const Tokens& tokens) {
  // Whoever guesses waits as long for its answer, whatever that is.
  std::string id = new_id();
  const Sha256 hash = sha256(id);
  const Sha256 token_hash = sha256(token);
  if (!tokens.caller_of(token_hash)) return std::nullopt;
  make_room();
  sessions_.insert_or_assign(hash, Session{.token = token_hash, .began = clock_->now()});
  return id;
}

void Sessions::make_room() {
  std::erase_if(sessions_, [&](const auto& entry) { return has_ended(entry.second); });
  if (sessions_.size() < kMost) return;
  sessions_.erase(std::ranges::min_element(sessions_, {},
                                           [](const auto& entry) { return entry.second.began; }));
}

std::optional<Caller> Sessions::caller_of(std::string_view id, const Tokens& tokens) const {
  const auto found = sessions_.find(sha256(id));
  if (found == sessions_.end() || has_ended(found->second)) return std::nullopt;
  return tokens.caller_of(found->second.token);
}

void Sessions::end(std::string_view id) {
  sessions_.erase(sha256(id));
}

void Sessions::keep(const Tokens& tokens) {
  std::erase_if(sessions_,
                [&](const auto& entry) { return !tokens.caller_of(entry.second.token); });
}

}  // namespace holdfast::http
