#include "stores/redis/address.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/percent_text.hpp"

namespace holdfast::stores::redis {
namespace {

constexpr std::uint16_t kPort = 6379;
constexpr std::uint16_t kSentinelPort = 26379;
constexpr std::size_t kLongestSpace = 64;

struct Scheme {
  std::string_view text;
  bool tls;
  bool sentinels;
};
constexpr Scheme kSchemes[] = {
    {"redis://", false, false},
    {"rediss://", true, false},
    {"redis+sentinel://", false, true},
    {"rediss+sentinel://", true, true},
};

const Scheme* scheme_of(std::string_view url) noexcept {
  const auto* const found = std::ranges::find_if(
      kSchemes, [&](const Scheme& scheme) { return url.starts_with(scheme.text); });
  return found == std::end(kSchemes) ? nullptr : found;
}

// What is wrong is told without a word of the URL: where its parts are is just what is in doubt,
// and one of them is a password.
std::unexpected<Error> wrong(const std::string& what, bool sentinels) {
  const std::string shape = sentinels
                                ? "redis[s]+sentinel://[user:password@]host[:port],…/master[/db]"
                                : "redis[s]://[user:password@]host[:port][/db]";
  return fail(ErrorCode::invalid_argument, "read the address of Redis",
              what + " (expected " + shape + ")");
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return number;
}

// One URL taken apart, from left to right.
class Reading {
 public:
  explicit Reading(const Scheme& scheme) : sentinels_(scheme.sentinels) {
    address_.tls = scheme.tls;
  }

  Result<Address> read(std::string_view rest) {
    if (rest.find('#') != std::string_view::npos)
      return said("a # in it: as part of a password it is %23");
    // Where an @ stands behind the host, the password has ended too early.
    const auto last_at = rest.rfind('@');
    if (last_at != std::string_view::npos && rest.find_first_of("/?") < last_at)
      return said("a / or ? before an @: in user or password they are %2f and %3f; an @ is %40");
    const auto question = rest.find('?');
    const std::string_view query =
        question == std::string_view::npos ? "" : rest.substr(question + 1);
    rest = rest.substr(0, question);
    const auto slash = rest.find('/');
    std::string_view authority = rest.substr(0, slash);
    const std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
    const auto at = authority.rfind('@');
    Result<void> done = {};
    if (at != std::string_view::npos) {
      done = read_user(authority.substr(0, at));
      authority.remove_prefix(at + 1);
    }
    if (done) done = read_hosts(authority);
    if (done) done = read_path(path);
    if (done) done = read_query(query);
    if (!done) return std::unexpected(done.error());
    return std::move(address_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> said(const std::string& what) const {
    return wrong(what, sentinels_);
  }

  Result<void> read_user(std::string_view part) {
    const auto colon = part.find(':');
    if (colon == std::string_view::npos)
      return said("a user without a password; a password alone is written :password@");
    const auto user = percent_decoded(part.substr(0, colon));
    const auto password = percent_decoded(part.substr(colon + 1));
    if (!user || !password) return said("a % in user or password that is no %xx");
    if (password->empty()) return said("an empty password");
    address_.user = *user;
    address_.password = *password;
    return {};
  }

  Result<void> read_hosts(std::string_view part) {
    for (;;) {
      const auto comma = part.find(',');
      if (auto read = read_host(part.substr(0, comma)); !read) return read;
      if (comma == std::string_view::npos) break;
      part.remove_prefix(comma + 1);
    }
    if (!sentinels_ && address_.hosts.size() > 1)
      return said("several hosts: those of sentinels are redis+sentinel://");
    return {};
  }

  Result<void> read_host(std::string_view part) {
    Address::Host host{.name = {}, .port = sentinels_ ? kSentinelPort : kPort};
    std::string_view port;
    if (part.starts_with('[')) {  // an IPv6 address
      const auto end = part.find(']');
      if (end == std::string_view::npos) return said("a [ without its ]");
      host.name = std::string(part.substr(1, end - 1));
      port = part.substr(end + 1);
      if (!port.empty() && port.front() != ':') return said("something behind the ] of a host");
    } else {
      const auto colon = part.find(':');
      const auto name = percent_decoded(part.substr(0, colon));
      if (!name) return said("a % in the host that is no %xx");
      host.name = *name;
      port = colon == std::string_view::npos ? "" : part.substr(colon);
    }
    if (host.name.empty()) return said("no host");
    if (!port.empty()) {
      const auto number = parse_number<std::uint16_t>(port.substr(1));
      if (!number || *number == 0) return said("no such port");
      host.port = *number;
    }
    address_.hosts.push_back(std::move(host));
    return {};
  }

  Result<void> read_path(std::string_view path) {
    if (sentinels_) {
      const auto slash = path.find('/');
      const auto master = percent_decoded(path.substr(0, slash));
      if (!master) return said("a % in the master's name that is no %xx");
      if (master->empty()) return said("no name of a master, as the sentinels call it");
      address_.master = *master;
      path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
    }
    if (path.empty()) return {};
    const auto number = parse_number<int>(path);
    if (!number || *number < 0) return said("a database that is no number");
    address_.database = *number;
    return {};
  }

  Result<void> read_query(std::string_view query) {
    while (!query.empty()) {
      const auto end = query.find('&');
      if (auto read = read_option(query.substr(0, end)); !read) return read;
      query = end == std::string_view::npos ? "" : query.substr(end + 1);
    }
    return {};
  }

  Result<void> read_option(std::string_view option) {
    const auto equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    const auto value =
        percent_decoded(equals == std::string_view::npos ? "" : option.substr(equals + 1));
    if (!value) return said("a % behind the ? that is no %xx");
    if (name == "space") {
      const bool fits =
          !value->empty() && value->size() <= kLongestSpace && percent_encoded(*value) == *value;
      if (!fits) return said("a space is 1 to 64 of letters, digits, '-', '.', '_' and '~'");
      address_.space = *value;
    } else if (name == "ca") {
      if (!address_.tls) return said("?ca= is for rediss://, which is over TLS");
      if (value->empty()) return said("?ca= names no file");
      address_.ca_file = *value;
    } else {
      return said("behind the ? only space=NAME and ca=FILE are known");
    }
    return {};
  }

  const bool sentinels_;
  Address address_;
};

}  // namespace

std::string Address::text() const {
  const bool sentinels = !master.empty();
  const std::uint16_t usual = sentinels ? kSentinelPort : kPort;
  std::string text = tls ? "rediss" : "redis";
  text += sentinels ? "+sentinel://" : "://";
  if (!user.empty()) text += percent_encoded(user) + '@';
  for (const Host& host : hosts) {
    if (&host != &hosts.front()) text += ',';
    const bool v6 = host.name.find(':') != std::string::npos;
    text += v6 ? '[' + host.name + ']' : percent_encoded(host.name);
    if (host.port != usual) text += ':' + std::to_string(host.port);
  }
  if (sentinels) text += '/' + percent_encoded(master);
  if (database != 0) text += '/' + std::to_string(database);
  char before = '?';
  if (space != Address().space) {
    text += before + ("space=" + percent_encoded(space));
    before = '&';
  }
  if (!ca_file.empty()) text += before + ("ca=" + percent_encoded(ca_file, "/"));
  return text;
}

Result<Address> parse_address(std::string_view url) {
  const Scheme* const scheme = scheme_of(url);
  if (!scheme) {
    return wrong(
        "it begins with none of redis://, rediss://, redis+sentinel://, rediss+sentinel://", false);
  }
  return Reading(*scheme).read(url.substr(scheme->text.size()));
}

bool is_redis_url(std::string_view url) noexcept {
  return scheme_of(url) != nullptr;
}

}  // namespace holdfast::stores::redis
