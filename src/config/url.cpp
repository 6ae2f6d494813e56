#include "config/url.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "config/address.hpp"

namespace holdfast::config {
namespace {

constexpr bool is_host_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_port(std::string_view digits) {
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc() && end == digits.data() + digits.size() && port > 0 && port < 65536;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

// "host", "host:port", "[::1]:port".
std::expected<std::string, std::string> parse_host(std::string_view authority) {
  const auto refuse = [](std::string what) { return std::unexpected(std::move(what)); };
  if (authority.find('@') != authority.npos) {
    return refuse(
        "a user or a password does not belong into a URL: put it into a header, from env: "
        "or file:");
  }
  const bool brackets = authority.starts_with('[');
  const std::size_t end = brackets ? authority.find(']') : authority.find(':');
  if (brackets && end == authority.npos) return refuse("the bracket of the host is not closed");
  const std::string_view host = brackets ? authority.substr(1, end - 1) : authority.substr(0, end);
  const std::string_view port =
      end == authority.npos ? "" : authority.substr(brackets ? end + 1 : end);
  const bool good = brackets ? host.find(':') != host.npos && parse_network(host).has_value() &&
                                   host.find('/') == host.npos
                             : !host.empty() && std::ranges::all_of(host, is_host_letter);
  if (!good) return refuse("the host is missing, or cannot be one");
  if (!port.empty() && (!port.starts_with(':') || !is_port(port.substr(1)))) {
    return refuse("the port is a number from 1 to 65535");
  }
  return lower(host);
}

}  // namespace

namespace {

// sqs://region or sqs://region/queue.
std::expected<Url, std::string> parse_sqs_url(std::string_view text, std::string source,
                                              BrokerPart part) {
  const auto refuse = [](std::string_view what) { return std::unexpected(std::string(what)); };
  const std::string_view rest = text.substr(std::string_view("sqs://").size());
  const std::string_view region = rest.substr(0, rest.find('/'));
  const std::string_view queue = rest.substr(std::min(rest.size(), region.size() + 1));
  const auto is_letter = [](char c) { return is_host_letter(c) || c == '_'; };
  if (region.empty() || !std::ranges::all_of(region, is_host_letter)) {
    return refuse("a queue at SQS is sqs://region/queue, as in sqs://eu-west-1/orders");
  }
  const std::string_view base =
      queue.ends_with(".fifo") ? queue.substr(0, queue.size() - 5) : queue;
  if (queue.size() > 80 || base.find('.') != base.npos || !std::ranges::all_of(base, is_letter)) {
    return refuse(
        "the name of a queue at SQS has letters, digits, - and _, at most 80, and .fifo at its end "
        "if it is one");
  }
  if (part == BrokerPart::queue && base.empty()) {
    return refuse("the URL of a queue at SQS ends with its name: sqs://region/queue");
  }
  return Url{Secret(std::string(text), std::move(source)), lower(region), std::string(text)};
}

}  // namespace

Url plain_url(const std::string& text) {
  return Url{Secret(text, ""), "", text};
}

namespace {

constexpr std::string_view kSentinel = "+sentinel";

// "host:port", or several of sentinels; nothing, or what is wrong. `first` gets the first host.
std::string trouble_with_redis_hosts(std::string_view hosts, bool sentinels, std::string& first) {
  for (bool more = true; more;) {
    const std::size_t comma = hosts.find(',');
    more = comma != hosts.npos;
    if (more && !sentinels) return "several hosts are those of sentinels: redis+sentinel://";
    auto host = parse_host(hosts.substr(0, comma));
    if (!host) return std::move(host).error();
    if (first.empty()) first = *std::move(host);
    hosts = more ? hosts.substr(comma + 1) : "";
  }
  return {};
}

// "/db", or of sentinels "/master/db".
std::string trouble_with_redis_path(std::string_view path, bool sentinels) {
  if (sentinels) {
    const std::string_view master = path.substr(std::min<std::size_t>(path.size(), 1));
    const std::size_t slash = master.find('/');
    if (master.substr(0, slash).empty()) {
      return "behind the sentinels comes the name of their master: "
             "redis+sentinel://host,host/master";
    }
    path = slash == master.npos ? "" : master.substr(slash);
  }
  const std::string_view database = path.substr(std::min<std::size_t>(path.size(), 1));
  const bool is_number = std::ranges::all_of(database, [](char c) { return c >= '0' && c <= '9'; });
  return is_number && database.size() < 7 ? "" : "behind the host comes the number of a database";
}

std::string trouble_with_redis_query(std::string_view query, bool tls) {
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query = query.substr(std::min(query.size(), option.size() + 1));
    if (option.starts_with("space=")) continue;
    if (!option.starts_with("ca=")) {
      return "behind the ? only space=NAME and ca=FILE are known; in a password it is %3f";
    }
    if (!tls) return "?ca= is for rediss://, which is over TLS";
    if (!option.starts_with("ca=/")) return "the file of ?ca= is named from the root: ?ca=/PATH";
  }
  return {};
}

}  // namespace

bool is_redis_url(std::string_view text) {
  std::string_view scheme = text.substr(0, text.find("://"));
  if (scheme.size() == text.size()) return false;
  if (scheme.ends_with(kSentinel)) scheme.remove_suffix(kSentinel.size());
  return scheme == "redis" || scheme == "rediss";
}

std::expected<Url, std::string> parse_redis_url(std::string_view text, std::string source) {
  const auto refuse = [](std::string what) { return std::unexpected(std::move(what)); };
  if (!is_redis_url(text)) return refuse("a store on Redis begins with redis:// or rediss://");
  if (std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) {
    return refuse(
        "a URL has no spaces and no letters beyond ASCII: write them as %20 and the like");
  }
  if (text.find('#') != text.npos) return refuse("a # in a password is written %23");
  const std::string_view scheme = text.substr(0, text.find("://"));
  const bool sentinels = scheme.ends_with(kSentinel);
  const std::string_view rest = text.substr(scheme.size() + 3);
  const std::size_t question = std::min(rest.find('?'), rest.size());
  const std::string_view query = rest.substr(std::min(question + 1, rest.size()));
  const std::string_view authority = rest.substr(0, std::min(rest.find('/'), question));
  const std::string_view path = rest.substr(authority.size(), question - authority.size());
  const std::size_t at = authority.rfind('@');
  const std::string_view who = at == authority.npos ? "" : authority.substr(0, at);
  const std::string_view hosts = at == authority.npos ? authority : authority.substr(at + 1);
  if (at != authority.npos && (who.find(':') == who.npos || who.ends_with(':'))) {
    return refuse("a password is written user:password@host, or :password@host without a user");
  }
  std::string host;
  std::string trouble = trouble_with_redis_hosts(hosts, sentinels, host);
  if (trouble.empty()) trouble = trouble_with_redis_path(path, sentinels);
  if (trouble.empty()) trouble = trouble_with_redis_query(query, scheme.starts_with("rediss"));
  if (!trouble.empty()) return refuse(std::move(trouble));
  std::string shown = fmt::format("{}://{}{}", scheme, at == authority.npos ? "" : "***@",
                                  rest.substr(at == authority.npos ? 0 : at + 1));
  return Url{Secret(std::string(text), std::move(source)), std::move(host), std::move(shown)};
}

std::expected<Url, std::string> parse_broker_url(std::string_view text, std::string source,
                                                 BrokerPart part) {
  const auto refuse = [](std::string_view what) { return std::unexpected(std::string(what)); };
  const std::string scheme = lower(text.substr(0, text.find("://")));
  if (scheme == "sqs") return parse_sqs_url(text, std::move(source), part);
  if (text.find("://") == text.npos || (scheme != "amqp" && scheme != "amqps")) {
    return refuse("a broker's URL begins with amqp://, amqps:// or sqs://");
  }
  if (std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) {
    return refuse(
        "a URL has no spaces and no letters beyond ASCII: write them as %20 and the like");
  }
  if (text.find_first_of("?#") != text.npos) {
    return refuse(
        "a broker's URL ends with its virtual host: amqp://user:password@host:5672/vhost");
  }
  const std::string_view rest = text.substr(scheme.size() + 3);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  const std::string_view path = rest.substr(authority.size());
  if (part == BrokerPart::queue && std::ranges::count(path, '/') != 2) {
    return refuse(
        "the URL of a queue ends with its virtual host and its name: "
        "amqp://user:password@host:5672/vhost/queue, where %2f is the virtual host \"/\"");
  }
  if (part == BrokerPart::host && path.size() > 1 && path.find('/', 1) != path.npos) {
    return refuse("a virtual host with a slash in it is written %2f, and no queue follows it");
  }
  const std::size_t at = authority.rfind('@');
  const std::string_view place = at == authority.npos ? authority : authority.substr(at + 1);
  std::string host;
  for (const auto part : std::views::split(place, ',')) {
    auto one = parse_host(std::string_view(part));
    if (!one) return std::unexpected(std::move(one).error());
    if (host.empty()) host = *std::move(one);
  }
  if (host.empty()) return refuse("a broker's URL names a host");
  std::string shown = scheme + "://" + (at == authority.npos ? "" : "***@") + std::string(place);
  shown += path;
  return Url{Secret(std::string(text), std::move(source)), std::move(host), std::move(shown)};
}

std::expected<Url, std::string> parse_url(std::string_view text, std::string source) {
  const auto refuse = [](std::string_view what) { return std::unexpected(std::string(what)); };
  const std::string scheme = lower(text.substr(0, text.find("://")));
  if (text.find("://") == text.npos || (scheme != "http" && scheme != "https")) {
    return refuse("a URL begins with https:// or http://");
  }
  if (std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) {
    return refuse(
        "a URL has no spaces and no letters beyond ASCII: write them as %20 and the like");
  }
  if (text.find('#') != text.npos) return refuse("a URL to call has no fragment (#…)");
  const std::string_view rest = text.substr(scheme.size() + 3);
  const std::size_t end = rest.find_first_of("/?");
  auto host = parse_host(rest.substr(0, end));
  if (!host) return std::unexpected(std::move(host).error());

  const std::size_t query = text.find('?');
  const std::size_t open = source.empty() ? query : scheme.size() + 3 + std::min(end, rest.size());
  std::string shown(text.substr(0, open));
  if (!source.empty()) shown += "/***";
  if (source.empty() && query != text.npos) shown += "?***";
  return Url{Secret(std::string(text), std::move(source)), *std::move(host), std::move(shown)};
}

}  // namespace holdfast::config
