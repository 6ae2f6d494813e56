#include "stores/redis/sentinel.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::stores::redis {
namespace {

constexpr Duration kMostPatience = std::chrono::seconds(1);

Trouble unknown(const std::string& why) {
  return lost({ErrorCode::unavailable, "ask a sentinel", why});
}

OrTrouble<Address::Host> host_in(Reply answer) {
  if (answer.is_error()) return std::unexpected(said_by_server(answer.text()));
  if (answer.is_nil()) return std::unexpected(unknown("it has no master of that name"));
  Address::Host host{.name = std::string(answer[0].text()), .port = 0};
  const std::string_view port = answer[1].text();
  std::from_chars(port.data(), port.data() + port.size(), host.port);
  if (host.name.empty() || host.port == 0)
    return std::unexpected(unknown("it does not answer as a sentinel does"));
  return host;
}

// Most sentinels have no password, and refuse one that they did not ask for. One that asks gets
// that of the URL.
OrTrouble<OwnedReply> ask_for_master(Connection& connection, const Address& address) {
  Pipeline question;
  question.add(
      std::array<std::string_view, 3>{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.master});
  auto answers = connection.ask(question);
  if (!answers) return std::unexpected(std::move(answers.error()));
  const bool wants_password = answers->front().view().text().starts_with("NOAUTH");
  if (!wants_password || address.password.empty()) return std::move(answers->front());
  SessionOptions login;
  login.address.user = address.user;
  login.address.password = address.password;
  if (auto in = greet(connection, login); !in) return std::unexpected(std::move(in.error()));
  answers = connection.ask(question);
  if (!answers) return std::unexpected(std::move(answers.error()));
  return std::move(answers->front());
}

}  // namespace

OrTrouble<Address::Host> ask_sentinel(const Address::Host& sentinel, const SessionOptions& options,
                                      const StopSignal& stop, const Clock& clock) {
  SessionOptions hasty = options;
  hasty.connect_timeout = std::min(options.connect_timeout, kMostPatience);
  hasty.answer_timeout = std::min(options.answer_timeout, kMostPatience);
  auto connection = Connection::open(sentinel, hasty, stop, clock);
  if (!connection) return std::unexpected(std::move(connection.error()));
  auto answer = ask_for_master(**connection, options.address);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return host_in(answer->view());
}

}  // namespace holdfast::stores::redis
