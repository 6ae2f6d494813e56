// holdfast top: everything at a glance, as it happens.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/task_output.hpp"
#include "cli/text_columns.hpp"
#include "cli/top_frame.hpp"
#include "cli/top_source.hpp"
#include "cli/verbs.hpp"
#include "core/units.hpp"
#include "io/lane.hpp"
#include "io/terminal.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTopExamples = R"(Examples:
  holdfast top                           the server that has holdfast.db open
  holdfast top --server https://tasks.example.org
  holdfast top --every 500ms             look more often
  holdfast top --once                    one look, as text; also into a pipe
  holdfast top --json | jq '.queues[] | select(.paused).name'

Keys: arrows or j k select, Tab goes to the groups of dead letters and back,
p and r pause and resume a queue, R replays a group (it says how many, and
asks), s sorts, / filters, ? says all of them, q quits.

Pausing and replaying need a token of the role operate (HOLDFAST_API_TOKEN).
A file that no server has open is looked into every time: it shows counts and
groups, and no rates.

Exit codes: 0 done; 1 nothing could be seen; 2 the command line is wrong.)";

// A sequence of keys that has begun goes on within this, or was none.
constexpr Duration kSequenceTime = 40ms;

struct TopOptions {
  Target target;
  std::string every = "2s";
  bool once = false;
  bool json = false;
};

// Looks and acts on a thread of its own, so that keys are answered meanwhile.
class Errands {
 public:
  struct News {
    std::optional<Result<Snapshot>> snapshot = {};
    std::optional<View::Notice> notice = {};
  };

  Errands(TopSource& source, io::Terminal& terminal) : source_(source), terminal_(terminal) {
    thread_ = std::thread([this] { run(); });
  }
  ~Errands() {
    source_.close();
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  // At once, or when what is under way is done.
  void look() {
    const std::lock_guard lock(mutex_);
    looks_ = true;
    wake_.notify_one();
  }
  void act(Action action) {
    const std::lock_guard lock(mutex_);
    actions_.push_back(std::move(action));
    wake_.notify_one();
  }
  [[nodiscard]] News take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
  }

 private:
  void run() {
    io::name_this_thread("hf-top");
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return is_closing_ || looks_ || !actions_.empty(); });
      if (is_closing_) return;
      if (!actions_.empty()) {
        const Action action = std::move(actions_.front());
        actions_.pop_front();
        lock.unlock();
        auto done =
            source_.act(action, [this](std::string text) { tell({std::move(text), false}); });
        tell(done ? View::Notice{*std::move(done), false}
                  : View::Notice{done.error().text(), true});
        lock.lock();
        looks_ = true;
        continue;
      }
      looks_ = false;
      lock.unlock();
      auto snapshot = source_.look();
      lock.lock();
      news_.snapshot = std::move(snapshot);
      terminal_.wake();
    }
  }
  void tell(View::Notice notice) {
    const std::lock_guard lock(mutex_);
    news_.notice = std::move(notice);
    terminal_.wake();
  }

  TopSource& source_;
  io::Terminal& terminal_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool looks_ = false;
  bool is_closing_ = false;
  std::deque<Action> actions_;
  News news_;
  std::thread thread_;  // last: it uses all of the above
};

FrameSize size_of(const io::Terminal& terminal) {
  const auto [columns, rows] = terminal.size();
  return {.columns = static_cast<std::size_t>(columns), .rows = static_cast<std::size_t>(rows)};
}

class Screen {
 public:
  Screen(io::Terminal& terminal, Errands& errands, Snapshot first, Duration every, bool colour)
      : terminal_(terminal),
        errands_(errands),
        snapshot_(std::move(first)),
        every_(every),
        painter_(colour) {
    renew(view_, snapshot_);
  }

  // Until somebody has had enough.
  void run() {
    const Clock& clock = system_clock();
    SteadyTime look_at = clock.now() + every_;
    while (true) {
      show();
      const Duration left = std::max<Duration>(look_at - clock.now(), Duration::zero());
      const auto input = terminal_.wait(keys_.waits() ? std::min(left, kSequenceTime) : left);
      if (input.ended) return;
      if (input.resized) painter_.forget();
      keys_.add(input.keys);
      for (const Key& key : keys_.take(input.keys.empty())) {
        const Pressed pressed = press(view_, snapshot_, key);
        if (pressed.quits) return;
        if (pressed.action) errands_.act(*pressed.action);
        if (pressed.looks) look_at = clock.now();
      }
      if (take_news()) look_at = clock.now() + every_;
      if (clock.now() < look_at) continue;
      errands_.look();
      look_at = clock.now() + every_;
    }
  }

 private:
  void show() {
    const FrameSize size = size_of(terminal_);
    const std::string bytes = painter_.paint(draw(view_, snapshot_, size), size);
    if (!bytes.empty()) terminal_.write(bytes);
  }
  bool take_news() {
    Errands::News news = errands_.take();
    if (news.notice) view_.notice = *std::move(news.notice);
    if (!news.snapshot) return false;
    if (*news.snapshot) {
      snapshot_ = **std::move(news.snapshot);
      renew(view_, snapshot_);
    } else {
      view_.trouble = news.snapshot->error().text();
    }
    return true;
  }

  io::Terminal& terminal_;
  Errands& errands_;
  Snapshot snapshot_;
  const Duration every_;
  View view_;
  KeyReader keys_;
  Painter painter_;
};

int top(const TopOptions& options, Io& io) {
  const auto every = parse_duration(options.every);
  if (!every || *every < 100ms || *every > 1h) {
    io.err << "holdfast top: --every: " << options.every << " is not from 100ms to 1h\n";
    return kUsage;
  }
  TopSource source(options.target);
  auto first = source.look();
  if (!first) return complain(io, "top", first.error());
  if (options.json) {
    io.out << json_line([&](wire::JsonWriter& writer) { write(writer, *first); });
    return kDone;
  }
  if (!options.once && io.in_is_terminal) {
    if (auto terminal = io::Terminal::open()) {
      Errands errands(source, *terminal);
      Screen(*terminal, errands, *std::move(first), *every, io.colour).run();
      terminal->close();  // what is still being asked for is waited for on the usual screen
      return kDone;
    }
  }
  io.out << plain_text(draw(View(), *first, {.columns = kColumns, .rows = 0}));
  return kDone;
}

}  // namespace

void add_top(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("top", "Watch queues and dead letters, and act on them");
  const auto options = std::make_shared<TopOptions>();
  verb->add_option("--every", options->every, "How often to look; 2s unless given")
      ->option_text("DURATION");
  verb->add_flag("--once", options->once, "One look, as text");
  verb->add_flag("--json", options->json, "One look, as JSON");
  add_target(*verb, options->target);
  verb->footer(kTopExamples);
  verb->callback([options, &io, &exit_code] { exit_code = top(*options, io); });
}

}  // namespace holdfast::cli
