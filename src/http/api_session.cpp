#include "http/api_session.hpp"

#include <fmt/format.h>

#include "http/api_support.hpp"
#include "seeing/watch.hpp"
#include "wire/session_json.hpp"

namespace holdfast::http {
namespace {

// `id`: empty takes the cookie away.
std::string cookie_with(std::string_view id, bool only_over_tls) {
  const auto lasts = std::chrono::duration_cast<std::chrono::seconds>(Sessions::kLongest);
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{}", kSessionCookie, id,
                     id.empty() ? 0 : lasts.count(), only_over_tls ? "; Secure" : "");
}

// Where TLS ends before us, its browser still says so.
bool is_over_tls(const Request& request, const SessionOptions& options) {
  return options.tls || request.header("origin").value_or("").starts_with("https://");
}

Response who(const Request& request, const Gate& gate) {
  return json(200, [&](auto& writer) {
    writer.begin_object().key("login").text(gate.has_tokens() ? "token" : "none");
    if (request.caller.name.empty()) {
      writer.key("name").null().key("role").null();
    } else {
      writer.key("name").text(request.caller.name);
      writer.key("role").text(to_string(request.caller.role));
    }
    writer.key("version").text(seeing::version()).end_object();
  });
}

Response log_in(const Request& request, Gate& gate, const SessionOptions& options) {
  if (!is_json(request)) return not_json();
  const auto read = wire::read_login_request(request.body);
  if (!read) return problem(read.error());
  if (!gate.has_tokens()) return problem(409, "this server has no tokens: nobody needs to log in");
  const auto id = gate.log_in(read->token);
  if (!id) {
    return problem(401, "this token is not known", {{"WWW-Authenticate", "Bearer"}});
  }
  gate.log_out(request);  // as whoever it was before
  return {.status = 204,
          .headers = {{"Set-Cookie", cookie_with(*id, is_over_tls(request, options))}}};
}

}  // namespace

void add_session_routes(Routes& routes, Gate& gate, SessionOptions options) {
  routes.add(
      {.method = "GET",
       .pattern = "/v1/session",
       .summary = "Who the caller is, and whether a token is needed",
       .handle = [&gate](const Request& request, Reply reply) { reply(who(request, gate)); }});
  routes.add({.method = "POST",
              .pattern = "/v1/session",
              .summary = "Log in with a token: for browsers, which get a cookie",
              .own_page_only = true,
              .handle = [&gate, options](const Request& request, Reply reply) {
                reply(log_in(request, gate, options));
              }});
  routes.add({.method = "DELETE",
              .pattern = "/v1/session",
              .summary = "Log out",
              .own_page_only = true,
              .handle = [&gate, options](const Request& request, Reply reply) {
                gate.log_out(request);
                reply(
                    {.status = 204,
                     .headers = {{"Set-Cookie", cookie_with("", is_over_tls(request, options))}}});
              }});
}

}  // namespace holdfast::http
