#include "stores/redis/session.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <holdfast/retry.hpp>

#include "stores/redis/connection.hpp"
#include "stores/redis/patience.hpp"
#include "stores/redis/way.hpp"

namespace holdfast::stores::redis {
namespace {

// Of what is put right at once: scripts that were forgotten, a slot that has moved. More often than
// this in a row it is not right afterwards.
constexpr int kMostRepairs = 5;

// A pipeline on its way to being answered.
class Work {
 public:
  explicit Work(const Pipeline& pipeline)
      : pipeline_(pipeline), answers_(pipeline.size()), open_(pipeline.size()) {
    std::iota(open_.begin(), open_.end(), std::size_t{0});
  }

  [[nodiscard]] bool done() const noexcept { return open_.empty(); }

  // What is not answered yet goes out; what then is not answered well stays open.
  OrTrouble<Remedy> ask(Connection& connection) {
    Remedy remedy = Remedy::none;
    std::vector<std::size_t> still_open;
    std::size_t answered = 0;
    auto asked = connection.ask(unanswered(), open_.size(), [&](OwnedReply reply) {
      const std::size_t index = open_[answered++];
      if (!reply.view().is_error()) {
        answers_[index] = std::move(reply);
        return;
      }
      Trouble trouble = said_by_server(reply.view().text());
      answers_[index] = std::unexpected(trouble.error);
      if (trouble.remedy == Remedy::none) return;
      still_open.push_back(index);
      if (trouble.remedy == Remedy::follow) moved_to_ = place_of_move(reply.view().text());
      if (trouble.remedy < remedy) return;
      remedy = trouble.remedy;
      worst_ = std::move(trouble.error);
    });
    still_open.insert(still_open.end(), open_.begin() + static_cast<std::ptrdiff_t>(answered),
                      open_.end());
    open_ = std::move(still_open);
    if (!asked) {
      worst_ = asked.error().error;
      return std::unexpected(std::move(asked.error()));
    }
    return remedy;
  }

  // Of the errors that came last, the one that tells most.
  [[nodiscard]] const Error& worst() const noexcept { return worst_; }
  [[nodiscard]] const std::string& moved_to() const noexcept { return moved_to_; }

  // What is open stays so.
  std::vector<Result<OwnedReply>> give_up(const Error& why) && {
    for (const std::size_t index : open_)
      answers_[index] = std::unexpected(why);
    return std::move(answers_);
  }
  std::vector<Result<OwnedReply>> take() && { return std::move(answers_); }

 private:
  // As they are in the pipeline if they stand there side by side, as they mostly do.
  std::string_view unanswered() {
    if (pipeline_.size() - open_.front() == open_.size())
      return pipeline_.bytes_from(open_.front());
    scattered_.clear();
    for (const std::size_t index : open_)
      scattered_ += pipeline_.bytes_of(index);
    return scattered_;
  }

  const Pipeline& pipeline_;
  std::vector<Result<OwnedReply>> answers_;
  std::vector<std::size_t> open_;  // indices, ascending
  Error worst_;
  std::string moved_to_;
  std::string scattered_;
};

}  // namespace

struct Session::Inner {
  Inner(SessionOptions given, Clock& its_clock)
      : options(std::move(given)),
        clock(its_clock),
        way(options, stop, clock),
        policy(patience({.what = "talk to Redis",
                         .at = options.address.text(),
                         .log = options.log,
                         .clock = &clock,
                         .stop = &stop})
                   .stop(retry::attempts(options.retries + 1) | retry::requested(stop.token()))) {}

  // One attempt: all that is open, and at once again what could be put right.
  OrTrouble<void> attempt(Work& work) {
    for (int turn = 0; turn < kMostRepairs; ++turn) {
      if (auto ready = make_ready(); !ready) return ready;
      auto asked = work.ask(*connection);
      if (!asked) {
        drop();
        if (work.done()) return {};  // it said the last word, and left
        return std::unexpected(std::move(asked.error()));
      }
      last_used = clock.now();
      if (work.done()) return {};
      if (auto better = put_right(*asked, work); !better) return better;
    }
    return std::unexpected(Trouble{work.worst(), Remedy::wait});
  }

  // Fails with what only waiting can help.
  OrTrouble<void> put_right(Remedy remedy, const Work& work) {
    switch (remedy) {
      case Remedy::load_scripts: {
        auto loaded = load_scripts(*connection, options.scripts);
        if (!loaded) drop();
        return loaded;
      }
      case Remedy::follow:
        if (!way.follow(work.moved_to(), connection->host())) break;
        drop();
        return {};
      case Remedy::reconnect: drop(); break;
      case Remedy::wait:
      case Remedy::none: break;
    }
    return std::unexpected(Trouble{work.worst(), remedy});
  }

  // A connection that is there and, as far as we know, alive.
  OrTrouble<void> make_ready() {
    if (stop.given()) {
      return std::unexpected(
          Trouble{{ErrorCode::unavailable, "talk to Redis", "it was told to stop"}, Remedy::none});
    }
    if (connection && way.leads_elsewhere(connection->host())) drop();
    if (connection && clock.now() - last_used >= options.check_after && !is_alive()) drop();
    if (connection) return {};
    auto made = way.connect();
    if (!made) return std::unexpected(std::move(made.error()));
    connection = std::move(*made);
    connected_at = last_used = clock.now();
    return {};
  }

  bool is_alive() {
    Pipeline ping;
    const std::string_view word = "PING";
    ping.add({&word, 1});
    const auto answers = connection->ask(ping);
    return answers && !answers->front().view().is_error();
  }

  void drop() {
    if (connection) connection->abandon();
    connection.reset();
  }

  const SessionOptions options;
  Clock& clock;
  StopSignal stop;
  Way way;
  const retry::Policy policy;
  std::unique_ptr<Connection> connection;
  SteadyTime connected_at{};
  SteadyTime last_used{};
};

Session::Session(SessionOptions options, Clock& clock)
    : inner_(std::make_unique<Inner>(std::move(options), clock)) {}

Session::~Session() = default;

std::vector<Result<OwnedReply>> Session::run(const Pipeline& pipeline) {
  if (pipeline.empty()) return {};
  Work work(pipeline);
  auto done = inner_->policy.call([&] { return inner_->attempt(work); });
  if (!done) return std::move(work).give_up(done.error().error);
  return std::move(work).take();
}

Duration Session::connected_for() const {
  if (!inner_->connection) return Duration::zero();
  return inner_->clock.now() - inner_->connected_at;
}

void Session::stop() noexcept {
  inner_->stop.give();
}

}  // namespace holdfast::stores::redis
