#include <charconv>
#include <optional>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "core/percent_text.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

constexpr const char* kParseUrlOperation = "read the broker's URL";
constexpr const char* kShape = "amqp[s]://user:password@host:port/vhost";

std::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::invalid_argument, kParseUrlOperation, what + " (expected " + kShape + ")");
}

// "user:password" before the host.
Result<void> read_user(std::string_view part, Location& into) {
  const auto colon = part.find(':');
  const auto user = percent_decoded(part.substr(0, colon));
  const auto password =
      percent_decoded(colon == std::string_view::npos ? "" : part.substr(colon + 1));
  if (!user || !password) return wrong("a % in user or password that is no %xx");
  into.user = *user;
  into.password = *password;
  return {};
}

Result<void> read_host(std::string_view part, Location& into) {
  std::string_view port;
  if (part.starts_with('[')) {  // an IPv6 address
    const auto end = part.find(']');
    if (end == std::string_view::npos) return wrong("a [ without its ]");
    into.host = std::string(part.substr(1, end - 1));
    port = part.substr(end + 1);
  } else {
    const auto colon = part.find(':');
    const auto host = percent_decoded(part.substr(0, colon));
    if (!host) return wrong("a % in the host that is no %xx");
    into.host = *host;
    port = colon == std::string_view::npos ? "" : part.substr(colon);
  }
  if (into.host.empty()) return wrong("no host");
  into.port = into.tls ? 5671 : 5672;
  if (port.empty()) return {};
  port.remove_prefix(1);
  const char* const end = port.data() + port.size();
  const auto [stopped, failed] = std::from_chars(port.data(), end, into.port);
  if (failed != std::errc() || stopped != end || into.port == 0) return wrong("no such port");
  return {};
}

// What follows the host: a vhost, a queue, both or nothing.
Result<void> read_path(std::string_view path, bool names_queue, Location& into) {
  if (names_queue) {
    const auto slash = path.rfind('/');
    const auto queue =
        percent_decoded(slash == std::string_view::npos ? path : path.substr(slash + 1));
    if (!queue) return wrong("a % in the queue that is no %xx");
    if (queue->empty()) return wrong("the last part names no queue: amqp://host/vhost/queue");
    into.queue = *queue;
    path = slash == std::string_view::npos ? "" : path.substr(0, slash);
  }
  const auto vhost = percent_decoded(path);
  if (!vhost) return wrong("a % in the vhost that is no %xx");
  if (path.contains('/')) return wrong("a / in the vhost is written %2f");
  if (!vhost->empty()) into.vhost = *vhost;
  return {};
}

}  // namespace

std::string Location::text() const {
  const bool v6 = host.contains(':');
  const std::uint16_t usual = tls ? 5671 : 5672;
  std::string text = tls ? "amqps://" : "amqp://";
  if (user != "guest") text += percent_encoded(user) + '@';
  text += v6 ? '[' + host + ']' : host;
  if (port != usual) text += ':' + std::to_string(port);
  text += '/' + percent_encoded(vhost);
  if (!queue.empty()) text += '/' + percent_encoded(queue);
  return text;
}

Result<Location> parse_location(std::string_view url, bool names_queue) {
  Location location;
  if (url.starts_with("amqps://")) {
    location.tls = true;
    url.remove_prefix(8);
  } else if (url.starts_with("amqp://")) {
    url.remove_prefix(7);
  } else {
    return wrong("it begins with neither amqp:// nor amqps://");
  }
  if (url.find_first_of("?#") != std::string_view::npos) {
    return wrong("a ? or # in it: as part of a name they are %3f and %23");
  }
  const auto slash = url.find('/');
  std::string_view authority = url.substr(0, slash);
  const std::string_view path = slash == std::string_view::npos ? "" : url.substr(slash + 1);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    if (auto read = read_user(authority.substr(0, at), location); !read)
      return std::unexpected(read.error());
    authority.remove_prefix(at + 1);
  }
  if (auto read = read_host(authority, location); !read) return std::unexpected(read.error());
  if (auto read = read_path(path, names_queue, location); !read)
    return std::unexpected(read.error());
  return location;
}

}  // namespace holdfast::brokers::rabbitmq
