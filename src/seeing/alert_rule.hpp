#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/time.hpp>

#include "seeing/history.hpp"
#include "seeing/tally.hpp"

namespace holdfast::seeing {

// What people are told of when it goes wrong (T9).
enum class AlertKind : std::uint8_t { dead_letters, retry_rate, timeout_rate, backlog_age };
inline constexpr std::size_t kAlertKinds = 4;

[[nodiscard]] std::string_view to_string(AlertKind kind) noexcept;  // "dead_letters"

struct Alert {
  AlertKind kind = AlertKind::dead_letters;
  bool resolved = false;
  double value = 0;        // new dead letters, a share from 0 to 1, or seconds
  double threshold = 0;    // of the same unit
  Duration over{};         // that it was counted over; zero for an age
  WallTime since{};        // when it began to be wrong
  std::string queue = {};  // of an age: which one has waited longest

  // For people, in one line.
  [[nodiscard]] std::string text() const;
  // {"alert":"retry_rate","state":"firing", …}
  [[nodiscard]] std::string json() const;

  bool operator==(const Alert&) const = default;
};

// What is sent to a webhook: {"type":"holdfast.alert","timestamp":…,"server":…,"data":{the alert}}.
// `server`: how people reach it; empty: nobody has said.
[[nodiscard]] std::string alert_message(const Alert& alert, WallTime now, std::string_view server);

// One of the things that are looked at, wrong or not.
struct AlertCheck {
  AlertKind kind = AlertKind::dead_letters;
  double value = 0;                      // as of an alert
  std::optional<double> threshold = {};  // nothing: nobody is to be told
  bool firing = false;

  bool operator==(const AlertCheck&) const = default;
};
using AlertChecks = std::array<AlertCheck, kAlertKinds>;  // index: AlertKind

struct AlertThresholds {
  Duration over = std::chrono::minutes(5);
  std::uint64_t dead_letters = 1;  // so many are wrong; 0: none is
  double retry_rate = 0.2;         // what is more is wrong; 0: nothing is
  double timeout_rate = 0.05;      // likewise
  std::uint64_t min_attempts = 20;
  std::optional<Duration> backlog_age = std::chrono::minutes(10);  // what is older is wrong
  Duration quiet = std::chrono::minutes(15);
};

// Looks at totals from time to time, and says what is to be told: that something is wrong, again
// after each quiet period for as long as it is, and once that it is over. What is wrong again
// within the quiet period of its last alert is told when that ends, if it still is. No input, no
// output, no clock.
class AlertRule {
 public:
  explicit AlertRule(AlertThresholds thresholds);

  struct Seen {
    Totals totals;           // since the start
    Duration oldest{};       // how long the task that is due longest has waited
    std::string queue = {};  // where it does
  };
  // What later looks are compared with; without it, the first look is.
  void begin(const Totals& totals, SteadyTime now);
  [[nodiscard]] std::vector<Alert> look(const Seen& seen, SteadyTime now, WallTime wall_now);

  // What is wrong now, told or not.
  [[nodiscard]] std::vector<Alert> firing() const;
  // Where everything stood at the last look; zeros before the first.
  [[nodiscard]] const AlertChecks& checks() const noexcept { return checks_; }
  // What is wrong by the old thresholds and not by these is told as over at the next look.
  void set(AlertThresholds thresholds);

 private:
  struct State {
    std::optional<Alert> firing = {};     // what is wrong, as it was seen last
    std::optional<SteadyTime> told = {};  // that it is wrong
    bool open = false;                    // told, and not told that it is over
  };

  [[nodiscard]] AlertChecks check(const Seen& seen, SteadyTime now) const;
  [[nodiscard]] std::optional<Alert> alert_of(const AlertCheck& check, const Seen& seen) const;

  AlertThresholds thresholds_;
  std::optional<History<Totals>> samples_;
  std::array<State, kAlertKinds> states_;
  AlertChecks checks_;
};

}  // namespace holdfast::seeing
