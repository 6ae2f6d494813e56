// What a recovery could reach at most: one loop on bare librabbitmq that consumes, publishes each
// message again with confirms, and acknowledges what is confirmed. It checks nothing, and would
// lose messages that no queue takes. bench/recover.py measures it beside `holdfast recover` and the
// shovel.
//   bare_recovery PORT FROM TO COUNT [--mandatory] [--headers N]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <poll.h>

namespace {

constexpr amqp_channel_t kChannel = 1;
constexpr std::uint16_t kPrefetch = 2000;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "bare_recovery: %s\n", what);
  std::exit(1);
}

void check(bool ok, const char* what) {
  if (!ok) give_up(what);
}

bool is_good(const amqp_rpc_reply_t& reply) {
  return reply.reply_type == AMQP_RESPONSE_NORMAL;
}

amqp_connection_state_t connect_to(int port) {
  amqp_connection_state_t connection = amqp_new_connection();
  amqp_socket_t* socket = amqp_tcp_socket_new(connection);
  check(amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK, "cannot connect");
  check(
      is_good(amqp_login(connection, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest")),
      "cannot log in");
  amqp_channel_open(connection, kChannel);
  check(is_good(amqp_get_rpc_reply(connection)), "cannot open a channel");
  return connection;
}

struct Settings {
  int port = 0;
  std::string from;
  std::string to;
  std::uint64_t count = 0;
  bool mandatory = false;
  int added_headers = 0;
};

class Bare {
 public:
  explicit Bare(Settings settings)
      : settings_(std::move(settings)),
        in_(connect_to(settings_.port)),
        out_(connect_to(settings_.port)) {
    amqp_basic_qos(in_, kChannel, 0, kPrefetch, 0);
    amqp_basic_consume(in_, kChannel, amqp_cstring_bytes(settings_.from.c_str()), amqp_empty_bytes,
                       0, 0, 0, amqp_empty_table);
    check(is_good(amqp_get_rpc_reply(in_)), "cannot consume");
    amqp_confirm_select(out_, kChannel);
    check(is_good(amqp_get_rpc_reply(out_)), "cannot ask for confirms");
  }
  ~Bare() {
    amqp_destroy_connection(in_);
    amqp_destroy_connection(out_);
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void run() {
    while (acknowledged_ < settings_.count) {
      bool worked = false;
      for (int batch = 0; batch < 200 && consume_one(); ++batch)
        worked = true;
      while (read_confirm())
        worked = true;
      if (!worked) wait();
    }
  }

 private:
  bool consume_one() {
    amqp_envelope_t envelope;
    timeval none{};
    amqp_maybe_release_buffers(in_);
    const auto reply = amqp_consume_message(in_, &envelope, &none, 0);
    if (!is_good(reply)) {
      check(reply.library_error == AMQP_STATUS_TIMEOUT, "the connection for consuming is lost");
      return false;
    }
    publish(envelope.message);
    deliveries_.push_back(envelope.delivery_tag);
    amqp_destroy_envelope(&envelope);
    return true;
  }

  void publish(const amqp_message_t& message) {
    amqp_basic_properties_t properties = message.properties;
    std::vector<amqp_table_entry_t> headers(
        properties.headers.entries, properties.headers.entries + properties.headers.num_entries);
    for (int number = 0; number < settings_.added_headers; ++number) {
      amqp_table_entry_t entry{};
      entry.key = amqp_cstring_bytes("x-holdfast-recovered");
      entry.value.kind = AMQP_FIELD_KIND_UTF8;
      entry.value.value.bytes =
          amqp_cstring_bytes("1, 20261116T031245Z-9f3a1c2b, rejected in app.work");
      headers.push_back(entry);
    }
    properties.headers = {.num_entries = static_cast<int>(headers.size()),
                          .entries = headers.data()};
    if (!headers.empty()) properties._flags |= AMQP_BASIC_HEADERS_FLAG;
    const int sent = amqp_basic_publish(out_, kChannel, amqp_empty_bytes,
                                        amqp_cstring_bytes(settings_.to.c_str()),
                                        settings_.mandatory ? 1 : 0, 0, &properties, message.body);
    check(sent == AMQP_STATUS_OK, "cannot publish");
  }

  bool read_confirm() {
    amqp_frame_t frame;
    timeval none{};
    amqp_maybe_release_buffers(out_);
    const int status = amqp_simple_wait_frame_noblock(out_, &frame, &none);
    if (status == AMQP_STATUS_TIMEOUT) return false;
    check(status == AMQP_STATUS_OK, "the connection for publishing is lost");
    if (frame.frame_type != AMQP_FRAME_METHOD) return true;
    check(frame.payload.method.id == AMQP_BASIC_ACK_METHOD, "the broker did not confirm");
    const auto* ack = static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
    confirmed(ack->delivery_tag, ack->multiple != 0);
    return true;
  }

  // Confirms of one queue come in order.
  void confirmed(std::uint64_t number, bool multiple) {
    check(multiple || number == acknowledged_ + 1, "confirms came out of order");
    const std::uint64_t until = deliveries_[number - acknowledged_ - 1];
    deliveries_.erase(deliveries_.begin(),
                      deliveries_.begin() + static_cast<std::ptrdiff_t>(number - acknowledged_));
    acknowledged_ = number;
    check(amqp_basic_ack(in_, kChannel, until, 1) == AMQP_STATUS_OK, "cannot acknowledge");
  }

  void wait() {
    pollfd both[] = {{.fd = amqp_get_sockfd(in_), .events = POLLIN, .revents = 0},
                     {.fd = amqp_get_sockfd(out_), .events = POLLIN, .revents = 0}};
    check(poll(both, 2, 30'000) > 0, "nothing happens for 30 s");
  }

  const Settings settings_;
  amqp_connection_state_t in_;
  amqp_connection_state_t out_;
  std::deque<std::uint64_t> deliveries_;  // published, and not confirmed
  std::uint64_t acknowledged_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) give_up("usage: bare_recovery PORT FROM TO COUNT [--mandatory] [--headers N]");
  Settings settings{.port = std::atoi(argv[1]),
                    .from = argv[2],
                    .to = argv[3],
                    .count = std::strtoull(argv[4], nullptr, 10)};
  for (int at = 5; at < argc; ++at) {
    const std::string_view option = argv[at];
    if (option == "--mandatory") settings.mandatory = true;
    if (option == "--headers" && at + 1 < argc) settings.added_headers = std::atoi(argv[++at]);
  }
  Bare(std::move(settings)).run();
  return 0;
}
