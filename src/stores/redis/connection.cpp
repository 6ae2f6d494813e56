#include "stores/redis/connection.hpp"

#include <new>
#include <utility>

#include <hiredis/hiredis.h>

namespace holdfast::stores::redis {
namespace {

// Few answers are larger. The reader moves what it has not read yet with every answer that it
// gives, so more at once would cost more than it saves.
constexpr std::size_t kReceivedAtOnce = std::size_t{32} * 1024;

}  // namespace

OrTrouble<std::unique_ptr<Connection>> Connection::open(const Address::Host& host,
                                                        const SessionOptions& options,
                                                        const StopSignal& stop,
                                                        const Clock& clock) {
  io::TcpWire::To to{
      .host = host.name,
      .port = host.port,
      .tls = options.address.tls,
      .ca_file = options.address.ca_file,
      .peer = {.name = "Redis",
               .tls_advice = ": use redis://, or the port that takes TLS (tls-port there)"}};
  auto stream = Stream::connect(std::move(to), options.connect_timeout, stop, clock);
  if (!stream) return std::unexpected(lost(std::move(stream.error())));
  return std::make_unique<Connection>(std::move(*stream), host, options.answer_timeout);
}

Connection::Connection(Stream stream, Address::Host host, Duration silence)
    : stream_(std::move(stream)),
      host_(std::move(host)),
      silence_(silence),
      reader_(redisReaderCreate()),
      received_(kReceivedAtOnce) {
  if (!reader_) throw std::bad_alloc();
}

void Connection::FreeReader::operator()(redisReader* reader) const noexcept {
  redisReaderFree(reader);
}

OrTrouble<void> Connection::ask(std::string_view commands, std::size_t answers,
                                const Answered& answered) {
  bool asked = false;
  for (;;) {
    while (answers > 0) {
      auto answer = next_answer();
      if (!answer) return std::unexpected(std::move(answer.error()));
      if (!*answer) break;
      if (!asked) return std::unexpected(out_of_step());
      answered(std::move(**answer));
      --answers;
    }
    if (answers == 0) {
      if (!commands.empty()) return std::unexpected(out_of_step());
      return {};
    }
    asked = true;
    auto moved = stream_.move(commands, received_, silence_);
    if (!moved) return std::unexpected(lost(std::move(moved.error())));
    if (moved->nothing()) return std::unexpected(silent());
    commands.remove_prefix(moved->sent);
    feed(moved->received);
  }
}

OrTrouble<std::vector<OwnedReply>> Connection::ask(const Pipeline& commands) {
  std::vector<OwnedReply> answers;
  auto asked = ask(commands.bytes_from(0), commands.size(),
                   [&](OwnedReply reply) { answers.push_back(std::move(reply)); });
  if (!asked) return std::unexpected(std::move(asked.error()));
  return answers;
}

OrTrouble<void> Connection::tell(std::string_view commands) {
  while (!commands.empty()) {
    auto moved = stream_.move(commands, received_, silence_);
    if (!moved) return std::unexpected(lost(std::move(moved.error())));
    if (moved->nothing()) return std::unexpected(silent());
    commands.remove_prefix(moved->sent);
    feed(moved->received);
  }
  return {};
}

OrTrouble<std::optional<OwnedReply>> Connection::hear(Duration at_most) {
  for (;;) {
    auto answer = next_answer();
    if (!answer || *answer) return answer;
    auto moved = stream_.move({}, received_, at_most);
    if (!moved) return std::unexpected(lost(std::move(moved.error())));
    if (moved->nothing()) return std::optional<OwnedReply>();
    feed(moved->received);
  }
}

OrTrouble<std::optional<OwnedReply>> Connection::next_answer() {
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    return std::unexpected(lost(
        {ErrorCode::unavailable, "talk to Redis",
         "what answers at " + host_.text() + " does not speak as Redis does: " + reader_->errstr}));
  }
  if (!reply) return std::optional<OwnedReply>();
  return std::optional(OwnedReply(static_cast<redisReply*>(reply)));
}

void Connection::feed(std::size_t received) {
  if (received == 0) return;
  if (redisReaderFeed(reader_.get(), received_.data(), received) != REDIS_OK)
    throw std::bad_alloc();
}

// What it says next would be taken for the answer to something else.
Trouble Connection::out_of_step() const {
  return lost({ErrorCode::unavailable, "talk to Redis",
               host_.text() + " has answered what it was not asked"});
}

Trouble Connection::silent() const {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(silence_).count();
  return lost({ErrorCode::unavailable, "talk to Redis",
               host_.text() + " was silent for " + std::to_string(ms) + " ms"});
}

}  // namespace holdfast::stores::redis
