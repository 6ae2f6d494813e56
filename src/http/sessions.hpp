#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>

#include "http/tokens.hpp"

namespace holdfast::http {

inline constexpr std::string_view kSessionCookie = "holdfast_session";

// What a request's header of cookies says of one; nothing: it has none.
[[nodiscard]] std::optional<std::string_view> cookie_in(std::string_view header,
                                                        std::string_view name);

// Browsers that have logged in with a token. A browser keeps no token: it has the id of a session,
// 256 bits that nobody can guess, of which we keep the hash. A session stands for its token, so it
// may do what that may, and nothing once that is gone. In memory: a new start ends them all.
//
// Threads: the loop's.
class Sessions {
 public:
  static constexpr Duration kLongest = std::chrono::hours(12);
  static constexpr std::size_t kMost = 500;  // the oldest makes room for one more

  // The clock must outlive it.
  explicit Sessions(Clock& clock) : clock_(&clock) {}

  // Of whoever has that token: its id, for a cookie. Nothing: nobody has it.
  [[nodiscard]] std::optional<std::string> begin(std::string_view token, const Tokens& tokens);
  // Nothing: there is no such session, or no such token any more.
  [[nodiscard]] std::optional<Caller> caller_of(std::string_view id, const Tokens& tokens) const;
  void end(std::string_view id);
  // Ends those whose token is not among these.
  void keep(const Tokens& tokens);

  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }

 private:
  struct Session {
    Sha256 token{};  // its hash
    SteadyTime began{};
  };

  [[nodiscard]] bool has_ended(const Session& session) const {
    return clock_->now() - session.began >= kLongest;
  }
  void make_room();

  Clock* clock_;
  // By the hash of their ids: to find one tells nothing of an id that is not known.
  std::map<Sha256, Session> sessions_;
};

}  // namespace holdfast::http
