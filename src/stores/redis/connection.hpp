#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/clock.hpp>

#include "stores/redis/reply.hpp"
#include "stores/redis/session.hpp"
#include "stores/redis/stream.hpp"
#include "stores/redis/trouble.hpp"

struct redisReader;

namespace holdfast::stores::redis {

template <class T>
using OrTrouble = std::expected<T, Trouble>;

// One connection to one server, from the greeting on. What fails leaves it useless: it is not known
// then what the next answer would belong to. Threads: one, and it blocks.
class Connection {
 public:
  using Answered = std::function<void(OwnedReply)>;

  // To one host, with nothing said yet. `stop` must outlive it.
  [[nodiscard]] static OrTrouble<std::unique_ptr<Connection>> open(const Address::Host& host,
                                                                   const SessionOptions& options,
                                                                   const StopSignal& stop,
                                                                   const Clock& clock);

  // Sends them all, and hands over so many answers, each as soon as it is there. Those that were
  // handed over before it failed are good.
  [[nodiscard]] OrTrouble<void> ask(std::string_view commands, std::size_t answers,
                                    const Answered& answered);
  // The same for few.
  [[nodiscard]] OrTrouble<std::vector<OwnedReply>> ask(const Pipeline& commands);

  // Sends them, and waits for no answer: hear() has what is said to them.
  [[nodiscard]] OrTrouble<void> tell(std::string_view commands);
  // What the server says next, asked or not; nothing: it was silent for so long.
  [[nodiscard]] OrTrouble<std::optional<OwnedReply>> hear(Duration at_most);

  // It ends without its commands: a network that comes back late must not deliver what has been
  // sent again elsewhere, and perhaps been followed by other commands.
  void abandon() noexcept { stream_.abandon(); }

  [[nodiscard]] const Address::Host& host() const noexcept { return host_; }

  Connection(Stream stream, Address::Host host, Duration silence);  // as open() does

 private:
  struct FreeReader {
    void operator()(redisReader* reader) const noexcept;
  };

  // The next whole answer of what has come; nothing: more must come first.
  [[nodiscard]] OrTrouble<std::optional<OwnedReply>> next_answer();
  [[nodiscard]] Trouble silent() const;
  [[nodiscard]] Trouble out_of_step() const;
  void feed(std::size_t received);

  Stream stream_;
  Address::Host host_;
  Duration silence_;
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::vector<char> received_;
};

// Says who we are, which database and which scripts: what every connection begins with. An error of
// the server is a Trouble that names no password.
[[nodiscard]] OrTrouble<void> greet(Connection& connection, const SessionOptions& options);
[[nodiscard]] OrTrouble<void> load_scripts(Connection& connection,
                                           std::span<const Script* const> scripts);

}  // namespace holdfast::stores::redis
