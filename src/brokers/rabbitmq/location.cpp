#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <utility>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "core/percent_text.hpp"

namespace holdfast::brokers::rabbitmq {
namespace {

constexpr const char* kParseUrlOperation = "read the broker's URL";
constexpr std::uint16_t kPort = 5672;
constexpr std::uint16_t kTlsPort = 5671;
constexpr const char* kShape = "amqp[s]://user:password@host:port,host:port/vhost";

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
  into.names_user = true;
  return {};
}

Result<Host> read_host(std::string_view part, bool tls) {
  Host host{.name = {}, .port = static_cast<std::uint16_t>(tls ? kTlsPort : kPort)};
  std::string_view port;
  if (part.starts_with('[')) {  // an IPv6 address
    const auto end = part.find(']');
    if (end == std::string_view::npos) return wrong("a [ without its ]");
    host.name = std::string(part.substr(1, end - 1));
    port = part.substr(end + 1);
  } else {
    const auto colon = part.find(':');
    const auto name = percent_decoded(part.substr(0, colon));
    if (!name) return wrong("a % in the host that is no %xx");
    host.name = *name;
    port = colon == std::string_view::npos ? "" : part.substr(colon);
  }
  if (host.name.empty()) return wrong("no host");
  if (port.empty()) return host;
  port.remove_prefix(1);
  const char* const end = port.data() + port.size();
  const auto [stopped, failed] = std::from_chars(port.data(), end, host.port);
  if (failed != std::errc() || stopped != end || host.port == 0) return wrong("no such port");
  return host;
}

// "host:port,host:port".
Result<void> read_hosts(std::string_view hosts, Location& into) {
  std::vector<Host> all;
  for (const auto part : std::views::split(hosts, ',')) {
    auto host = read_host(std::string_view(part), into.tls);
    if (!host) return std::unexpected(host.error());
    if (std::ranges::find(all, *host) != all.end()) return wrong("a host that is named twice");
    all.push_back(*std::move(host));
  }
  if (all.empty()) return wrong("no host");
  into.host = all.front().name;
  into.port = all.front().port;
  into.others.assign(all.begin() + 1, all.end());
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

std::string Host::text() const {
  return (name.contains(':') ? '[' + name + ']' : name) + ':' + std::to_string(port);
}

std::vector<Host> Location::hosts() const {
  std::vector<Host> all = {{.name = host, .port = port}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::string Location::text() const {
  std::string text = tls ? "amqps://" : "amqp://";
  if (user != "guest") text += percent_encoded(user) + '@';
  const std::string usual_port = ':' + std::to_string(tls ? kTlsPort : kPort);
  bool is_first = true;
  for (const Host& one : hosts()) {
    std::string shown = one.text();
    if (shown.ends_with(usual_port)) shown.resize(shown.size() - usual_port.size());
    text += (std::exchange(is_first, false) ? "" : ",") + shown;
  }
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
  if (auto read = read_hosts(authority, location); !read) return std::unexpected(read.error());
  if (auto read = read_path(path, names_queue, location); !read)
    return std::unexpected(read.error());
  return location;
}

}  // namespace holdfast::brokers::rabbitmq
