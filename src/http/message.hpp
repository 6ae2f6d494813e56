#pragma once

#include <cstddef>
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
  // Of its token; "local" where no token is needed; empty where nobody asked who it is.
  std::string name = {};
  Role role = Role::submit;
};

using Fields = std::vector<std::pair<std::string, std::string>>;

// Calls what was given to it once the caller has gone without waiting for its answer.
class Gone {
 public:
  void call(std::function<void()> work) { work_ = std::move(work); }
  // Somebody waits to hear of it.
  [[nodiscard]] bool is_awaited() const noexcept { return work_ != nullptr; }
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
  // Of a caller with a session: whether it lasts. For answers that go on. Threads: the loop's.
  std::function<bool()> is_still_in = {};

  // The first of that name; nothing: there is none.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const;
};

// A body that comes bit by bit, for as long as somebody reads it. Nothing of it is kept for a
// reader that is slow: it is asked for more only once the last has been sent. Threads: the loop's.
class BodySource {
 public:
  virtual ~BodySource() = default;

  // Appends what there is to `out`: about `most` bytes, and nothing if there is nothing now. False:
  // that was the last of it.
  virtual bool take(std::string& out, std::size_t most) = 0;

  // Whoever sends it is told with `more` that there is something to take again; not from within
  // take().
  void on_more(std::function<void()> more) { more_ = std::move(more); }

 protected:
  void tell_more() const {
    if (more_) more_();
  }

 private:
  std::function<void()> more_;
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";  // of the body
  Fields headers = {};
  std::shared_ptr<BodySource> source = {};  // in place of the body
};

[[nodiscard]] std::string_view reason_of(int status) noexcept;

// Answers a request: exactly once, on the loop.
using Reply = std::move_only_function<void(Response)>;

// "Bearer" → "bearer": letters of ASCII only.
[[nodiscard]] std::string lower(std::string_view text);

// "a%20b" → "a b"; nothing: it is malformed, or holds a zero byte.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);
// "a=1&b=2"
[[nodiscard]] std::optional<Fields> parse_query(std::string_view query);

}  // namespace holdfast::http
