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

OrTrouble<std::unique_ptr<Connection>> connect(const Address::Host& sentinel,
                                               const SessionOptions& options,
                                               const StopSignal& stop, const Clock& clock) {
  SessionOptions hasty = options;
  hasty.connect_timeout = std::min(options.connect_timeout, kMostPatience);
  hasty.answer_timeout = std::min(options.answer_timeout, kMostPatience);
  return Connection::open(sentinel, hasty, stop, clock);
}

// Most sentinels have no password, and refuse one that they did not ask for. One that asks gets
// that of the URL.
OrTrouble<OwnedReply> ask(Connection& connection, const Address& address,
                          std::span<const std::string_view> words) {
  Pipeline question;
  question.add(words);
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
  auto connection = connect(sentinel, options, stop, clock);
  if (!connection) return std::unexpected(std::move(connection.error()));
  const std::string_view words[] = {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options.address.master};
  auto answer = ask(**connection, options.address, words);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return host_in(answer->view());
}

void SwitchWatch::listen_at(const Address::Host& sentinel) {
  auto subscribed = subscribe(sentinel);
  connection_ = subscribed ? std::move(*subscribed) : nullptr;
}

OrTrouble<std::unique_ptr<Connection>> SwitchWatch::subscribe(const Address::Host& sentinel) {
  auto connection = connect(sentinel, options_, stop_, clock_);
  if (!connection) return connection;
  const std::string_view words[] = {"SUBSCRIBE", "+switch-master"};
  auto answer = ask(**connection, options_.address, words);
  if (!answer) return std::unexpected(std::move(answer.error()));
  if (answer->view().is_error()) return std::unexpected(said_by_server(answer->view().text()));
  return connection;
}

bool SwitchWatch::has_switched() {
  bool switched = false;
  while (connection_) {
    auto heard = connection_->hear(Duration::zero());
    if (!heard) {
      connection_.reset();
    } else if (!*heard) {
      break;
    } else {
      // "<name> <old host> <old port> <new host> <new port>"
      const std::string_view what = (*heard)->view()[2].text();
      switched = switched || what.starts_with(options_.address.master + " ");
    }
  }
  return switched;
}

}  // namespace holdfast::stores::redis
