#include "brokers/rabbitmq/connection.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <poll.h>

namespace holdfast::brokers::rabbitmq {
namespace {

using std::chrono::seconds;

constexpr const char* kConnectOperation = "connect to the broker";

amqp_table_entry_t entry(std::string_view name, amqp_field_value_t value) {
  return {bytes_of(name), value};
}
amqp_field_value_t yes() {
  amqp_field_value_t value{};
  value.kind = AMQP_FIELD_KIND_BOOLEAN;
  value.value.boolean = 1;
  return value;
}
amqp_field_value_t words(std::string_view text) {
  amqp_field_value_t value{};
  value.kind = AMQP_FIELD_KIND_UTF8;
  value.value.bytes = bytes_of(text);
  return value;
}

// Of words with a space between them.
bool names_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::string_view one = words.substr(0, words.find(' '));
    if (one == word) return true;
    words.remove_prefix(std::min(words.size(), one.size() + 1));
  }
  return false;
}

}  // namespace

bool is_external(const Options& options) noexcept {
  return options.at.tls && !options.cert_file.empty() && !options.at.names_user;
}

Result<void> check_files(const Options& options) {
  if (!options.at.tls) return {};
  return io::check_tls_files(
      {.authorities = options.ca_file, .certificate = options.cert_file, .key = options.key_file});
}

Error said_by_broker(std::string operation, int code, std::string_view text) {
  auto kind = ErrorCode::unavailable;
  // A queue whose node is away is not found either: "home node 'a' of durable queue 'q' in vhost
  // '/' is down or inaccessible".
  const bool is_away = text.contains("is down or inaccessible");
  if ((code == AMQP_NOT_FOUND && !is_away) || code == AMQP_NO_ROUTE) kind = ErrorCode::not_found;
  if (code == AMQP_PRECONDITION_FAILED || code == AMQP_RESOURCE_LOCKED) kind = ErrorCode::conflict;
  if (code == AMQP_ACCESS_REFUSED || code == AMQP_NOT_ALLOWED || code == AMQP_CONTENT_TOO_LARGE) {
    kind = ErrorCode::invalid_argument;
  }
  return {kind, std::move(operation),
          "the broker says: " + std::to_string(code) + " " + std::string(text)};
}

Connection::Connection(const Options& options, Host at, std::string name, const Clock& clock,
                       Listener& listener)
    : options_(options),
      at_(std::move(at)),
      name_(std::move(name)),
      clock_(clock),
      listener_(listener) {}

Result<void> Connection::begin() {
  give_up_at_ = saturating_add(clock_.now(), options_.connect_timeout);
  auto wire = io::TcpWire::begin(
      {.host = at_.name,
       .port = at_.port,
       .tls = options_.at.tls,
       .ca_file = options_.ca_file,
       .peer = {.name = "the broker",
                .tls_advice = ": use amqp://, or the port that takes TLS (usually 5671)"},
       .cert_file = options_.cert_file,
       .key_file = options_.key_file});
  if (!wire) return std::unexpected(wire.error());
  wire_.emplace(std::move(*wire));
  last_read_ = last_written_ = clock_.now();
  return {};
}

short Connection::events() {
  const short all = wire_->events(!out_.unsent().empty());
  return reads() ? all : static_cast<short>(all & ~POLLIN);
}

SteadyTime Connection::next_time() const noexcept {
  if (state_ == State::leaving || state_ == State::over) return SteadyTime::max();
  if (state_ != State::up) return give_up_at_;
  if (reads() && has_frames_) return {};  // at once
  if (heartbeat_ == Duration::zero()) return SteadyTime::max();
  return std::min(last_read_ + 2 * heartbeat_, last_written_ + heartbeat_ / 2);
}

Result<void> Connection::turn() {
  auto turned = take_turn();
  // With TLS 1.3 a broker refuses a certificate after all else is agreed, and its reason may be
  // lost.
  const bool may_be_refused = !turned && options_.at.tls && state_ == State::greeting;
  if (!may_be_refused || turned.error().message.contains("client certificate")) return turned;
  Error error = std::move(turned).error();
  error.message += options_.cert_file.empty() ? " (it may ask for a client certificate)"
                                              : " (it may not trust the client certificate)";
  return std::unexpected(std::move(error));
}

Result<void> Connection::take_turn() {
  if (state_ == State::connecting) {
    auto connected = wire_->connected();
    if (!connected) return std::unexpected(connected.error());
    if (*connected) {
      state_ = State::greeting;
      out_.protocol_header();
    }
  } else if (auto done = read(); !done) {
    return done;
  }
  if (auto alive = keep_alive(clock_.now()); !alive) return alive;
  return write();
}

Result<void> Connection::read() {
  for (bool may_be_more = true; state_ != State::over;) {
    if (auto taken = take_frames(); !taken) return taken;
    if (!reads()) last_read_ = clock_.now();  // that nothing is heard is our doing
    if (!reads() || !may_be_more || state_ == State::over) return {};
    const auto room = in_.room();
    auto came = wire_->read(room);
    if (!came) {
      if (state_ == State::leaving) {
        state_ = State::over;
        return {};
      }
      return std::unexpected(came.error());
    }
    if (*came == 0) return {};
    last_read_ = clock_.now();
    in_.filled(*came);
    // Most likely that was all, and poll knows of what follows; but not of what TLS has decrypted.
    may_be_more = *came == room.size() || wire_->is_layered();
  }
  return {};
}

Result<void> Connection::take_frames() {
  has_frames_ = false;
  while (state_ != State::over) {
    if (!reads()) {
      has_frames_ = true;  // perhaps: then it looks once for nothing
      return {};
    }
    auto frame = in_.next();
    if (!frame) return std::unexpected(frame.error());
    if (!*frame) return {};
    if (auto taken = take(**frame); !taken) return taken;
  }
  return {};
}

Result<void> Connection::write() {
  if (state_ == State::connecting) return {};
  for (auto bytes = out_.unsent(); !bytes.empty(); bytes = out_.unsent()) {
    auto taken = wire_->write(bytes);
    if (!taken) return std::unexpected(taken.error());
    if (*taken == 0) {
      if (!stuck_since_) stuck_since_ = clock_.now();
      return {};
    }
    last_written_ = clock_.now();
    stuck_since_.reset();
    out_.sent(*taken);
  }
  stuck_since_.reset();
  // TLS may have kept some of it.
  auto rest = wire_->write({});
  return rest ? Result<void>() : std::unexpected(rest.error());
}

Result<void> Connection::take(const Frame& frame) {
  switch (frame.type) {
    case AMQP_FRAME_METHOD: {
      auto method = methods_.method(frame.payload);
      if (!method) return std::unexpected(method.error());
      if (frame.channel == 0) return take_own(*method);
      return listener_.on_method(frame.channel, *method);
    }
    case AMQP_FRAME_HEADER: {
      auto content = methods_.content(frame.payload);
      if (!content) return std::unexpected(content.error());
      return listener_.on_content(frame.channel, *content);
    }
    case AMQP_FRAME_BODY: return listener_.on_body(frame.channel, frame.payload);
    default: return {};  // a heartbeat: that it came is all it says
  }
}

Result<void> Connection::take_own(const MethodReader::Method& method) {
  switch (method.id) {
    case AMQP_CONNECTION_START_METHOD:
      if (state_ != State::greeting) break;
      state_ = State::tuning;
      note_version(method.as<amqp_connection_start_t>());
      return answer_start(method.as<amqp_connection_start_t>());
    case AMQP_CONNECTION_TUNE_METHOD:
      if (state_ != State::tuning) break;
      state_ = State::opening;
      answer_tune(method.as<amqp_connection_tune_t>());
      return {};
    case AMQP_CONNECTION_OPEN_OK_METHOD:
      if (state_ != State::opening) break;
      state_ = State::up;
      listener_.on_up();
      return {};
    case AMQP_CONNECTION_CLOSE_METHOD:
      out_.method(0, AMQP_CONNECTION_CLOSE_OK_METHOD, amqp_connection_close_ok_t{});
      (void)write();  // good manners: it is over either way
      return std::unexpected(closed_by_broker(method.as<amqp_connection_close_t>()));
    case AMQP_CONNECTION_CLOSE_OK_METHOD: state_ = State::over; return {};
    case AMQP_CONNECTION_BLOCKED_METHOD:
    case AMQP_CONNECTION_UNBLOCKED_METHOD: return listener_.on_method(0, method);
    default: break;
  }
  return fail(ErrorCode::unavailable, kConnectOperation,
              std::string("the broker says what nobody asked: ") + amqp_method_name(method.id));
}

void Connection::note_version(const amqp_connection_start_t& start) {
  const amqp_table_t& properties = start.server_properties;
  for (int at = 0; at < properties.num_entries; ++at) {
    const amqp_table_entry_t& one = properties.entries[at];
    if (text_of(one.key) != "version" || one.value.kind != AMQP_FIELD_KIND_UTF8) continue;
    const std::string_view text = text_of(one.value.value.bytes);
    std::from_chars(text.data(), text.data() + text.size(), broker_version_);
  }
}

Result<void> Connection::answer_start(const amqp_connection_start_t& start) {
  const bool external = is_external(options_);
  const std::string_view mechanism = external ? "EXTERNAL" : "PLAIN";
  if (external && !names_word(text_of(start.mechanisms), mechanism)) {
    return fail(
        ErrorCode::invalid_argument, kConnectOperation,
        "the broker does not take a certificate for a user: enable its plugin "
        "rabbitmq_auth_mechanism_ssl and the mechanism EXTERNAL, or name a user in the URL");
  }
  amqp_table_entry_t capabilities[] = {
      entry("connection.blocked", yes()), entry("consumer_cancel_notify", yes()),
      entry("publisher_confirms", yes()), entry("basic.nack", yes()),
      entry("authentication_failure_close", yes())};
  amqp_field_value_t capability_table{};
  capability_table.kind = AMQP_FIELD_KIND_TABLE;
  capability_table.value.table = {static_cast<int>(std::size(capabilities)), capabilities};
  amqp_table_entry_t properties[] = {entry("product", words("Holdfast")),
                                     entry("connection_name", words(name_)),
                                     entry("capabilities", capability_table)};
  std::string response;
  if (!external) response += '\0' + options_.at.user + '\0' + options_.at.password;
  out_.method(0, AMQP_CONNECTION_START_OK_METHOD,
              amqp_connection_start_ok_t{
                  .client_properties = {static_cast<int>(std::size(properties)), properties},
                  .mechanism = bytes_of(mechanism),
                  .response = bytes_of(response),
                  .locale = bytes_of("en_US")});
  return {};
}

void Connection::answer_tune(const amqp_connection_tune_t& tune) {
  const auto least = [](auto theirs, auto ours) { return theirs ? std::min(theirs, ours) : ours; };
  channel_most_ = least(tune.channel_max, std::uint16_t{2047});
  const auto frame_most = least(tune.frame_max, static_cast<std::uint32_t>(kFrameMost));
  out_.set_frame_most(frame_most);
  const auto wish = std::chrono::ceil<seconds>(std::max(options_.heartbeat, Duration::zero()));
  heartbeat_ = std::min(wish, seconds(65535));
  out_.method(
      0, AMQP_CONNECTION_TUNE_OK_METHOD,
      amqp_connection_tune_ok_t{.channel_max = channel_most_,
                                .frame_max = frame_most,
                                .heartbeat = static_cast<std::uint16_t>(heartbeat_ / seconds(1))});
  out_.method(
      0, AMQP_CONNECTION_OPEN_METHOD,
      amqp_connection_open_t{
          .virtual_host = bytes_of(options_.at.vhost), .capabilities = bytes_of(""), .insist = 0});
}

Error Connection::closed_by_broker(const amqp_connection_close_t& close) const {
  Error error = said_by_broker(state_ == State::up ? "talk to the broker" : kConnectOperation,
                               close.reply_code, text_of(close.reply_text));
  if (state_ == State::up) {
    error.code = ErrorCode::unavailable;
  } else if (close.reply_code == AMQP_ACCESS_REFUSED) {
    error.message += is_external(options_)
                         ? " (check that there is a user of the name in the certificate)"
                         : " (check user and password; \"guest\" may connect only from the same "
                           "machine)";
  } else if (close.reply_code == AMQP_NOT_ALLOWED) {
    error.message += " (check the vhost in the URL, where / is written %2f, and its permissions)";
  }
  return error;
}

Result<void> Connection::keep_alive(SteadyTime now) {
  if (state_ == State::leaving || state_ == State::over) return {};  // who leaves bounds it
  if (state_ != State::up) {
    if (now < give_up_at_) return {};
    return fail(ErrorCode::timeout, kConnectOperation, "no answer in time");
  }
  if (heartbeat_ == Duration::zero()) return {};
  if (now >= last_read_ + 2 * heartbeat_) {
    return fail(ErrorCode::timeout, "talk to the broker", "nothing was heard of it for too long");
  }
  if (now >= last_written_ + heartbeat_ / 2 && out_.unsent().empty()) {
    out_.heartbeat();
  } else if (now >= last_written_ + heartbeat_ / 2) {
    last_written_ = now;  // it takes nothing: there is no use in more
  }
  return {};
}

void Connection::say_goodbye() {
  out_.method(0, AMQP_CONNECTION_CLOSE_METHOD,
              amqp_connection_close_t{
                  .reply_code = 200, .reply_text = bytes_of("bye"), .class_id = 0, .method_id = 0});
  state_ = State::leaving;
}

}  // namespace holdfast::brokers::rabbitmq
