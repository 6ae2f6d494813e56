#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/failure.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/verdict.hpp>

namespace holdfast {

// HTTP status codes from `first` to `last`, both included. A single code converts by itself.
struct StatusRange {
  int first = 0;
  int last = 0;

  constexpr StatusRange() = default;
  constexpr StatusRange(int code) : first(code), last(code) {}  // NOLINT: meant to convert
  constexpr StatusRange(int from, int to) : first(from), last(to) {}

  [[nodiscard]] constexpr bool contains(int code) const noexcept {
    return first <= code && code <= last;
  }
  bool operator==(const StatusRange&) const = default;
};

// If a failure looks like this, then its verdict is that. Every kind of condition that is given
// must hold; of several values of one kind, any does. A rule without a condition is an error.
struct Rule {
  std::string name =
      {};  // "mine.quota"; unique among the rules; empty: named by its place, "rule 3"
  // RE2 syntax, found anywhere in the message, upper and lower case alike. Bytes are bytes: a
  // message need not be UTF-8, and `.` is one byte. Empty: no condition on the message.
  std::string pattern = {};
  std::vector<StatusRange> http_status = {};
  std::vector<int> exit_codes = {};
  std::vector<int> os_errors = {};  // errno
  std::optional<FailureKind> kind = {};
  VerdictKind verdict = VerdictKind::retry;
  std::optional<Duration> wait = {};  // for throttle only: the least wait
  std::string reason = {};            // for people: what this failure means

  bool operator==(const Rule&) const = default;
};

// What a classification rests on. Of a rule with several conditions, the first of these that it
// has.
enum class Basis : std::uint8_t { pattern, http_status, exit_code, os_error, kind, fallback };

[[nodiscard]] std::string_view to_string(Basis basis) noexcept;  // "HTTP status"

// The word for a verdict in logs and stored error texts: RETRYABLE (retry, throttle), NON_RETRYABLE
// (give up), AMBIGUOUS, SUCCESS.
[[nodiscard]] std::string_view category(VerdictKind verdict) noexcept;

struct Classification {
  Verdict verdict;
  int rule = -1;  // its place in Classifier::rules(); -1: no rule matched
  Basis basis = Basis::fallback;

  bool operator==(const Classification&) const = default;
};

// A classification with all that a person may ask about it. Owns its texts.
struct Explanation {
  Verdict verdict;
  Basis basis = Basis::fallback;
  std::string_view category;  // "NON_RETRYABLE"
  std::string rule;           // its name; empty: no rule matched
  std::string reason;
  std::string matched;  // what the pattern matched, at most 200 bytes of it; or the status, code …
  std::optional<std::size_t> offset;  // where in the message; only for a pattern

  // One line: `[NON_RETRYABLE] Pattern match: insufficient funds (ethereum.insufficient-funds: …)`.
  [[nodiscard]] std::string text() const;
};

// Says of a failure whether trying again can help.
//
// The first rule in order that matches wins, though all patterns are matched in one pass over the
// message: the cost does not grow with their number. What no rule knows is retried. A Retry-After
// of the failure is honoured: it becomes the wait of a throttle, in place of the rule's own, and
// what was to be retried becomes a throttle, since the other side asked for time.
//
// Of a message over 64 KiB only the first and the last 32 KiB are looked at, in place; there, `^`,
// `$` and `\b` also hold at the inner edges.
//
// An immutable value: cheap to copy, safe to share between threads. It keeps a cache of what its
// patterns have met, of at most 64 MiB.
class Classifier {
 public:
  Classifier();  // without rules: everything is retried

  // Fails with invalid_argument for a bad pattern, a rule without a condition, an unknown verdict,
  // a range that ends before it begins, a wait that is negative or not of a throttle, and a name
  // used twice. The message names the rule (counted from 1) and the place in its pattern: `rule 3
  // "nonce": bad pattern at offset 4: missing ): (too low`.
  [[nodiscard]] static Result<Classifier> make(std::vector<Rule> rules);

  // Throws nothing but std::bad_alloc, like all members.
  [[nodiscard]] Classification classify(const FailureView& failure) const;

  // The same, and logs it: event `classify`; warning for what is not retried, info for what is.
  [[nodiscard]] Classification classify(const FailureView& failure, const Logger& log) const;

  [[nodiscard]] Explanation explain(const FailureView& failure) const;

  // So that a classifier can stand wherever a function from a failure to a verdict is wanted.
  [[nodiscard]] Verdict operator()(const FailureView& failure) const {
    return classify(failure).verdict;
  }

  [[nodiscard]] std::span<const Rule> rules() const noexcept;

 private:
  struct Compiled;
  explicit Classifier(std::shared_ptr<const Compiled> compiled);

  std::shared_ptr<const Compiled> compiled_;
};

// One list of rules after the other: `combine({my_rules, presets::http(), my_last_resort})`.
[[nodiscard]] std::vector<Rule> combine(std::initializer_list<std::vector<Rule>> lists);

// Rules for errors that everyone meets. Their names start with the preset's: `http.throttled`.
// Put the special before the general: an HTTP 500 that carries "execution reverted" gives up only
// where ethereum() comes before http().
namespace presets {

struct EthereumOptions {
  // Of "nonce too low" and "nonce already used". Ambiguous, since the transaction that used the
  // nonce may be our own from an earlier attempt; give_up where each nonce is sent only once.
  VerdictKind used_nonce = VerdictKind::ambiguous;
};

[[nodiscard]] std::vector<Rule> network();  // connections, names, TLS, timeouts
[[nodiscard]] std::vector<Rule> http();     // statuses, and texts that name them; gRPC codes
[[nodiscard]] std::vector<Rule> ethereum(EthereumOptions options = {});  // JSON-RPC nodes, wallets
[[nodiscard]] std::vector<Rule> aws();       // error codes of AWS and what speaks its protocols
[[nodiscard]] std::vector<Rule> database();  // PostgreSQL, MySQL, SQLite, Redis and relatives

// All of them, the special before the general: ethereum, aws, database, http, network.
[[nodiscard]] std::vector<Rule> all();

// The names that `named` knows.
[[nodiscard]] std::span<const std::string_view> names() noexcept;

// A preset by its name, "all" included. An unknown name is an error that offers the nearest.
[[nodiscard]] Result<std::vector<Rule>> named(std::string_view name);

}  // namespace presets
}  // namespace holdfast
