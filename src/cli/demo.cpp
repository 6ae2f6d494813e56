// holdfast demo: the retry library at work, on the real clock, in a few seconds.
#include "cli/demo.hpp"

#include <algorithm>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <holdfast/classify.hpp>
#include <holdfast/retry.hpp>

#include "cli/verbs.hpp"
#include "core/log_format.hpp"
#include "core/units.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kColumns = 80;

// What the library logs, on the verb's own output as it happens: whole as JSON, or for people the
// seconds since the beginning, the message and, where there is room, the error.
class DemoSink final : public LogSink {
 public:
  DemoSink(Io& io, bool json, WallTime began) : io_(io), json_(json), began_(began) {}

  void write(const LogRecord& record) noexcept override {
    std::string line;
    if (json_) {
      append_json_line(line, record);
    } else {
      append_for_people(line, record);
    }
    io_.out << line << std::flush;
  }

 private:
  void append_for_people(std::string& line, const LogRecord& record) const {
    const double seconds = std::chrono::duration<double>(record.time - began_).count();
    line = fmt::format("  {:4.1f}s  {}", seconds, record.message);
    const auto error = std::ranges::find(record.fields, "error", &Field::name);
    if (error != record.fields.end()) {
      const auto text = std::get<std::string_view>(error->value());
      if (line.size() + 2 + text.size() <= kColumns) line += fmt::format(": {}", text);
    }
    if (io_.colour) line = fmt::format("{}{}\033[0m", colour_of(record.level), line);
    line += '\n';
  }

  static std::string_view colour_of(Level level) {
    if (level >= Level::error) return "\033[31m";
    return level == Level::warning ? "\033[33m" : "\033[32m";
  }

  Io& io_;
  const bool json_;
  const WallTime began_;
};

class Demo {
 public:
  Demo(Io& io, bool json, Clock& clock, Random& random)
      : io_(io),
        json_(json),
        clock_(clock),
        random_(random),
        sink_(io, json, clock.wall_now()),
        log_(sink_, clock) {}

  void run() {
    flaky_call();
    hopeless_call();
    open_breaker();
  }

 private:
  void flaky_call() {
    const auto policy = base("fetch price")
                            .stop(retry::attempts(5) | retry::elapsed(10s))
                            .wait(retry::exponential({.first = 400ms, .factor = 2, .cap = 2s}));
    act("A call that fails for a while, and recovers");
    say(fmt::format("Policy: 5 attempts in 10s, waits of {}", policy.waits().text()));
    int calls = 0;
    const int price = policy.call([&] {
      if (++calls < 3) throw std::runtime_error("connection reset by peer");
      return 42;
    });
    say(fmt::format("The caller got {} and saw no error.", price));
  }

  void hopeless_call() {
    const auto policy = base("send transaction")
                            .stop(retry::attempts(5))
                            .classify_with(Classifier::make(presets::all()).value());
    act("A call that cannot recover: the classifier knows, so nobody waits");
    try {
      policy.call([] { throw std::runtime_error("insufficient funds for gas * price + value"); });
    } catch (const std::runtime_error& error) {
      say(fmt::format("The caller got it at once: {}", error.what()));
    }
  }

  void open_breaker() {
    auto breaker = std::make_shared<Breaker>(
        Breaker::Options{.name = "payments",
                         .consecutive_failures = 3,
                         .open_for = retry::fixed(1500ms),
                         .on_change = [this](const Breaker::Change& change) { report(change); }},
        clock_, random_);
    const auto policy = base("charge card").wait(retry::fixed(200ms)).breaker(breaker);
    act("A dependency that is down: the breaker opens, probes, and closes again");
    bool down = true;
    const auto charge = [&] {
      if (down) throw std::runtime_error("503 Service Unavailable");
    };
    try {
      policy.call(charge);
    } catch (const std::runtime_error& error) {
      say(fmt::format("The first caller got: {}", error.what()));
    }
    try {
      policy.call(charge);
    } catch (const BreakerOpen& open) {
      say(fmt::format("The second: {}", open.what()));
    }
    down = false;
    clock_.sleep_for(breaker->retry_in() + 10ms);
    policy.call(charge);
    say("The third went through.");
  }

  retry::Policy base(std::string name) const {
    return retry::Policy(clock_, random_).named(std::move(name)).log_to(log_);
  }

  void report(const Breaker::Change& change) const {
    log_.log(Level::info, "breaker.change",
             fmt::format("breaker {}: {} → {} ({})", change.breaker, to_string(change.from),
                         to_string(change.to), change.reason),
             {{"breaker", change.breaker}, {"reason", change.reason}});
  }

  void act(const std::string& title) {
    ++act_;
    if (json_) return log_.log(Level::info, "demo.act", title, {{"act", act_}});
    const auto [on, off] = io_.colour ? std::pair("\033[1m", "\033[0m") : std::pair("", "");
    io_.out << fmt::format("\n{}{}. {}{}\n", on, act_, title, off) << std::flush;
  }

  void say(const std::string& text) const {
    if (json_) return log_.log(Level::info, "demo.result", text, {{"act", act_}});
    io_.out << "   " << text << '\n' << std::flush;
  }

  Io& io_;
  const bool json_;
  Clock& clock_;
  Random& random_;
  DemoSink sink_;
  Logger log_;
  int act_ = 0;
};

}  // namespace

int run_demo(Io& io, bool json, Clock& clock, Random& random) {
  const SteadyTime began = clock.now();
  Demo(io, json, clock, random).run();
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - began);
  if (!json) {
    io.out << fmt::format("\nDone in {}. The guide: docs/retry.md\n", format_duration(took));
  }
  if (io.out.flush()) return kDone;
  io.err << "holdfast demo: cannot write to standard output\n";
  return kFailed;
}

void add_demo(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("demo", "Show the retry library at work, in seconds");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Log records as JSON lines");
  verb->footer("\nExample:\n  holdfast demo");
  verb->callback([&io, &exit_code, json] {
    exit_code = run_demo(io, *json, system_clock(), system_random());
  });
}

}  // namespace holdfast::cli
