#include <array>

#include "stores/redis/connection.hpp"

namespace holdfast::stores::redis {
namespace {

// Scripts are loaded in a few steps: all at once would be the largest thing that a worker sends.
constexpr std::size_t kLoadBytes = 64 << 10;

// Old servers and those of whoever sells them say so in words of their own.
Trouble not_let_in(std::string_view text) {
  Trouble trouble = said_by_server(text);
  if (trouble.error.code != ErrorCode::internal) return trouble;
  return said_by_server("WRONGPASS " + std::string(text));
}

}  // namespace

OrTrouble<void> load_scripts(Connection& connection, std::span<const Script* const> scripts) {
  Pipeline loads;
  for (std::size_t at = 0; at < scripts.size(); ++at) {
    loads.add({"SCRIPT", "LOAD", scripts[at]->text()});
    if (loads.bytes_from(0).size() < kLoadBytes && at + 1 < scripts.size()) continue;
    auto answers = connection.ask(loads);
    if (!answers) return std::unexpected(std::move(answers.error()));
    for (const OwnedReply& answer : *answers) {
      if (answer.view().is_error()) return std::unexpected(said_by_server(answer.view().text()));
    }
    loads.clear();
  }
  return {};
}

OrTrouble<void> greet(Connection& connection, const SessionOptions& options) {
  const Address& address = options.address;
  Pipeline words;
  if (!address.password.empty()) {
    if (address.user.empty()) {
      words.add({"AUTH", address.password});
    } else {
      words.add({"AUTH", address.user, address.password});
    }
  }
  const std::size_t logins = words.size();
  if (address.database != 0) words.add({"SELECT", std::to_string(address.database)});
  const std::size_t needed = words.size();
  // Only for people: whoever does not allow it is not asked to.
  if (!options.name.empty()) words.add({"CLIENT", "SETNAME", options.name});
  auto answers = connection.ask(words);
  if (!answers) return std::unexpected(std::move(answers.error()));
  for (std::size_t at = 0; at < needed; ++at) {
    const Reply answer = (*answers)[at].view();
    if (!answer.is_error()) continue;
    return std::unexpected(at < logins ? not_let_in(answer.text()) : said_by_server(answer.text()));
  }
  return load_scripts(connection, options.scripts);
}

}  // namespace holdfast::stores::redis
