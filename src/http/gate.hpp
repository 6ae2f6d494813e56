#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "http/tokens.hpp"

namespace holdfast::http {

struct Route {
  std::string method = {};
  std::string pattern = {};       // "/v1/tasks/{id}"
  std::optional<Role> role = {};  // that is needed; nothing: anyone may
  std::string summary = {};       // for people, in one line
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
// nowhere else. What a browser sends for a page of another origin may not change anything, whatever
// it brings.
class Gate {
 public:
  Gate(const Routes& routes, Tokens tokens) : routes_(routes), tokens_(std::move(tokens)) {}

  struct Admitted {
    Routes::Shared route;
    Request request;  // all but its body
  };
  [[nodiscard]] std::expected<Admitted, Response> admit(Head head) const;

  void set_tokens(Tokens tokens) { tokens_ = std::move(tokens); }

 private:
  [[nodiscard]] std::expected<Caller, Response> caller_of(const Request& request,
                                                          const Route& route) const;

  const Routes& routes_;
  Tokens tokens_;
};

}  // namespace holdfast::http
