#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "stores/redis/session.hpp"

namespace holdfast::stores::redis {

// One setting of a server with which tasks could be lost.
struct Risk {
  Level level = Level::warning;
  std::string setting = {};
  std::string value = {};
  std::string can_be_lost = {};
  std::string advice = {};

  bool operator==(const Risk&) const = default;
};

struct ServerSettings {
  std::string info = {};  // the text of INFO
  // CONFIG GET; nothing: it was refused, as those who rent servers out do.
  std::optional<std::map<std::string, std::string, std::less<>>> config = {};
};

// What of them could lose tasks. Fails with invalid_argument where no store can be: on a replica,
// and on a server before 7.0.
[[nodiscard]] Result<std::vector<Risk>> risks_of(const ServerSettings& settings);

// Asks the server, and writes each risk to the log, as one record. Fails as risks_of does, and as
// Session::run: also where the user may not reach the keys and the channels of that space.
[[nodiscard]] Result<void> look_at_server(Session& session, const Logger& log,
                                          std::string_view space);

}  // namespace holdfast::stores::redis
