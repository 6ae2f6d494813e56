#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/clock.hpp>

#include "http/message.hpp"
#include "http/sessions.hpp"
#include "http/tokens.hpp"

namespace holdfast::http {

struct Route {
  std::string method = {};
  std::string pattern = {};       // "/v1/tasks/{id}"
  std::optional<Role> role = {};  // that is needed; nothing: anyone may
  std::string summary = {};       // for people, in one line
  // Only a page of this very server may ask for it, whatever else a caller brings; not for GET.
  bool own_page_only = false;
  std::function<void(Request, Reply)> handle = {};
};

// Every route there is: those of the API itself, and those that the configuration adds, which may
// change while requests are on their way. Patterns of one path may differ in their methods only;
// where they do not, the API's own are found first.
class Routes {
 public:
  using Shared = std::shared_ptr<const Route>;

  void add(Route route);
  // Those of the configuration, in place of the ones before.
  void set_configured(std::vector<Route> routes);

  [[nodiscard]] std::vector<Shared> all() const;

  struct Match {
    Shared route = nullptr;  // nothing: no such path, or none with this method
    std::map<std::string, std::string, std::less<>> params = {};
    std::string allowed = {};  // the methods of a path that has not this one: "GET, POST"
  };
  [[nodiscard]] Match find(std::string_view method, std::string_view path) const;

 private:
  std::vector<Shared> routes_;
  std::vector<Shared> configured_;
};

// What is known of a request before its body.
struct Head {
  std::string method = {};
  std::string target = {};
  Fields headers = {};  // names in lower case
};

// Who may come in, and where to: everything that is decided before a body is read. No input, no
// output.
//
// Without tokens everybody who reaches the port may do everything. That is for loopback alone, so
// the name that was asked for must be one of this machine's own: a page of somebody else's, whose
// name was made to point here, is refused. With tokens, each call needs one, in its header and
// nowhere else; or the cookie of a browser that has logged in with one, on its own page. What a
// browser sends for a page of another origin may not change anything, whatever it brings; with a
// cookie, it must be said that it is sent for our own.
//
// The clock must outlive it.
class Gate {
 public:
  Gate(const Routes& routes, Tokens tokens, Clock& clock = system_clock())
      : routes_(routes), tokens_(std::move(tokens)), sessions_(clock) {}

  struct Admitted {
    Routes::Shared route;
    Request request;  // all but its body
  };
  [[nodiscard]] std::expected<Admitted, Response> admit(Head head) const;

  // Sessions of tokens that are not among them end.
  void set_tokens(Tokens tokens);
  [[nodiscard]] bool has_tokens() const noexcept { return !tokens_.empty(); }

  // The id of a new session of whoever has this token; nothing: nobody has it.
  [[nodiscard]] std::optional<std::string> log_in(std::string_view token) {
    return sessions_.begin(token, tokens_);
  }
  // Ends the session that a request has come with, if there is one.
  void log_out(const Request& request);

 private:
  struct Identified {
    Caller caller = {};
    bool by_cookie = false;
  };
  // Who it is; an error if it claims to be somebody and is not, or is nobody where a route has a
  // role.
  [[nodiscard]] std::expected<Identified, Response> identify(const Request& request,
                                                             const Route& route) const;
  [[nodiscard]] std::expected<Identified, Response> known(const Request& request) const;

  const Routes& routes_;
  Tokens tokens_;
  Sessions sessions_;
};

}  // namespace holdfast::http
