#include "http/gate.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "http/problem.hpp"

namespace holdfast::http {
namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

bool is_param(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

bool matches(std::string_view pattern, std::string_view path,
             std::map<std::string, std::string, std::less<>>& params) {
  const auto wanted = segments_of(pattern);
  const auto given = segments_of(path);
  if (wanted.size() != given.size()) return false;
  params.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto decoded = percent_decoded(given[i], false);
    if (!decoded) return false;
    if (is_param(wanted[i])) {
      if (decoded->empty()) return false;
      params.emplace(wanted[i].substr(1, wanted[i].size() - 2), *decoded);
    } else if (*decoded != wanted[i]) {
      return false;
    }
  }
  return true;
}

bool is_safe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

// Without its port.
std::string_view name_of(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_own_name(std::string_view name) {
  constexpr std::array<std::string_view, 3> kOwn = {"localhost", "127.0.0.1", "[::1]"};
  return std::ranges::find(kOwn, name) != kOwn.end();
}

// "https://a.example:8443" → "a.example:8443"
std::string_view host_of(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view() : origin.substr(scheme + 3);
}

bool comes_from_elsewhere(const Request& request) {
  if (const auto site = request.header("sec-fetch-site")) {
    if (*site == "cross-site" || *site == "same-site") return true;
  }
  const auto origin = request.header("origin");
  return origin && host_of(*origin) != request.header("host").value_or("");
}

// Said by the browser, not only not denied: one that says neither is too old to be trusted with a
// cookie, or is none.
bool comes_from_own_page(const Request& request) {
  if (comes_from_elsewhere(request)) return false;
  return request.header("origin") || request.header("sec-fetch-site") == "same-origin";
}

std::optional<std::string_view> session_in(const Request& request) {
  const auto cookies = request.header("cookie");
  return cookies ? cookie_in(*cookies, kSessionCookie) : std::nullopt;
}

}  // namespace

void Routes::add(Route route) {
  routes_.push_back(std::make_shared<const Route>(std::move(route)));
}

void Routes::set_configured(std::vector<Route> routes) {
  configured_.clear();
  for (Route& route : routes)
    configured_.push_back(std::make_shared<const Route>(std::move(route)));
}

std::vector<Routes::Shared> Routes::all() const {
  std::vector<Shared> all = routes_;
  all.insert(all.end(), configured_.begin(), configured_.end());
  return all;
}

Routes::Match Routes::find(std::string_view method, std::string_view path) const {
  Match match;
  if (!path.starts_with('/')) return match;
  const std::string_view looked_for = method == "HEAD" ? "GET" : method;
  for (const std::vector<Shared>* const some : {&routes_, &configured_}) {
    for (const Shared& route : *some) {
      std::map<std::string, std::string, std::less<>> params;
      if (!matches(route->pattern, path, params)) continue;
      if (route->method == looked_for) {
        match.route = route;
        match.params = std::move(params);
        return match;
      }
      match.allowed += (match.allowed.empty() ? "" : ", ") + route->method;
    }
  }
  return match;
}

std::expected<Gate::Admitted, Response> Gate::admit(Head head) const {
  Request request{.method = std::move(head.method), .headers = std::move(head.headers)};
  const std::string_view target = head.target;
  const std::size_t mark = target.find('?');
  request.path = std::string(target.substr(0, mark));
  auto query = parse_query(mark == std::string_view::npos ? "" : target.substr(mark + 1));
  if (!query) return std::unexpected(problem(400, "the query is not well formed"));
  request.query = std::move(*query);

  Routes::Match match = routes_.find(request.method, request.path);
  if (!match.route && !match.allowed.empty()) {
    return std::unexpected(problem(405, request.method + " is not possible here: " + match.allowed,
                                   {{"Allow", match.allowed}}));
  }
  if (!match.route) return std::unexpected(problem(404, "there is nothing at " + request.path));
  request.params = std::move(match.params);

  const bool is_change = !is_safe(request.method);
  if (is_change && comes_from_elsewhere(request)) {
    return std::unexpected(problem(403, "a page of another origin may not change anything here"));
  }
  auto identified = identify(request, *match.route);
  if (!identified) return std::unexpected(std::move(identified).error());
  request.caller = std::move(identified->caller);
  if (identified->by_cookie) {
    request.is_still_in = [this, id = std::string(session_in(request).value_or(""))] {
      return sessions_.caller_of(id, tokens_).has_value();
    };
  }
  const bool is_for_own_page = identified->by_cookie || match.route->own_page_only;
  if (is_change && is_for_own_page && !comes_from_own_page(request)) {
    return std::unexpected(
        problem(403, "only a page of this server may do so: its browser says so with \"Origin\""));
  }
  return Admitted{match.route, std::move(request)};
}

void Gate::set_tokens(Tokens tokens) {
  tokens_ = std::move(tokens);
  sessions_.keep(tokens_);
}

void Gate::log_out(const Request& request) {
  if (const auto id = session_in(request)) sessions_.end(*id);
}

std::expected<Gate::Identified, Response> Gate::identify(const Request& request,
                                                         const Route& route) const {
  for (const char* name : {"token", "access_token", "api_key"}) {
    if (request.parameter(name)) {
      return std::unexpected(problem(
          400, "a token in the address ends up in logs: send it as \"Authorization: Bearer …\""));
    }
  }
  if (tokens_.empty()) {
    if (!is_own_name(lower(name_of(request.header("host").value_or(""))))) {
      return std::unexpected(
          problem(421,
                  "without tokens only localhost is served: ask for it by that name, or configure "
                  "tokens"));
    }
    return Identified{.caller = {.name = "local", .role = Role::operate}};
  }
  auto known_as = known(request);
  if (!route.role) return std::move(known_as).value_or(Identified{});
  if (!known_as) return known_as;
  const Caller& caller = known_as->caller;
  if (!includes(caller.role, *route.role)) {
    return std::unexpected(problem(403,
                                   "token \"" + caller.name + "\" may " +
                                       std::string(to_string(caller.role)) + "; this needs " +
                                       std::string(to_string(*route.role)),
                                   {{"WWW-Authenticate", "Bearer error=\"insufficient_scope\""}}));
  }
  return known_as;
}

// A token in the header comes first: whoever sends one means it. A cookie is sent by a browser,
// also for pages of others that are of the same site (another port of this machine, say).
std::expected<Gate::Identified, Response> Gate::known(const Request& request) const {
  const auto given = request.header("authorization");
  const auto session = session_in(request);
  if (!given && session && !comes_from_elsewhere(request)) {
    if (auto caller = sessions_.caller_of(*session, tokens_)) {
      return Identified{.caller = *std::move(caller), .by_cookie = true};
    }
    return std::unexpected(
        problem(401, "this session is over: log in again", {{"WWW-Authenticate", "Bearer"}}));
  }
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view value = given.value_or("");
  if (lower(value.substr(0, kScheme.size())) != kScheme) {
    return std::unexpected(problem(401, "a token is needed: send \"Authorization: Bearer …\"",
                                   {{"WWW-Authenticate", "Bearer"}}));
  }
  auto caller = tokens_.caller_of(value.substr(kScheme.size()));
  if (!caller) {
    return std::unexpected(problem(401, "this token is not known",
                                   {{"WWW-Authenticate", "Bearer error=\"invalid_token\""}}));
  }
  return Identified{.caller = *std::move(caller)};
}

}  // namespace holdfast::http
