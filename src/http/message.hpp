#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests and answers as routes see them: values, whatever carries them.
namespace holdfast::http {

// What a caller may do: hand in tasks; look at everything; claim tasks and work on them. Who may
// operate may do all of it.
enum class Role : std::uint8_t { submit, read, work, operate };

[[nodiscard]] std::string_view to_string(Role role) noexcept;
[[nodiscard]] constexpr bool includes(Role has, Role needed) noexcept {
  return has == Role::operate || has == needed;
}

struct Caller {
  std::string name = {};  // of its token; "local" where no token is needed
  Role role = Role::submit;
};

using Fields = std::vector<std::pair<std::string, std::string>>;

// Calls what was given to it once the caller has gone without waiting for its answer.
class Gone {
 public:
  void call(std::function<void()> work) { work_ = std::move(work); }
  void tell() {
    if (auto work = std::exchange(work_, nullptr)) work();
  }

 private:
  std::function<void()> work_;
};

struct Request {
  std::string method = {};
  std::string path = {};  // as it was sent, without the query
  Fields query = {};
  Fields headers = {};  // names in lower case
  std::string body = {};
  std::map<std::string, std::string, std::less<>> params = {};  // of the route's pattern
  Caller caller = {};
  std::shared_ptr<Gone> gone = {};

  // The first of that name; nothing: there is none.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";  // of the body
  Fields headers = {};
};

[[nodiscard]] std::string_view reason_of(int status) noexcept;

// Answers a request: exactly once, on the loop.
using Reply = std::move_only_function<void(Response)>;

// "a%20b" → "a b"; nothing: it is malformed, or holds a zero byte.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);
// "a=1&b=2"
[[nodiscard]] std::optional<Fields> parse_query(std::string_view query);

}  // namespace holdfast::http
