#include "handlers/async_function.hpp"

#include <utility>

#include <holdfast/failure.hpp>

namespace holdfast::handlers {

void Turns::wait(Begin begin) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (under_way_ >= most_) {
      waiting_.push_back(std::move(begin));
      return;
    }
    ++under_way_;
  }
  begin();
}

void Turns::end() {
  Begin next;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      --under_way_;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next();
}

void Turns::close() {
  std::deque<Begin> dropped;  // outside of the lock: they may end attempts
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(waiting_);
}

void AllTurns::close() const {
  common->close();
  for (const auto& [queue, turns] : of_queue)
    turns->close();
}

Turns& AllTurns::of(const std::string& queue) const {
  const auto own = of_queue.find(queue);
  return own == of_queue.end() ? *common : *own->second;
}

// Outlives the handler as long as an attempt is under way.
struct AsyncFunction::Shared : std::enable_shared_from_this<Shared> {
  detail::AsyncHandler function;
  const std::shared_ptr<const AllTurns> turns;
  const Clock& clock;
  const std::shared_ptr<const void> ground;

  Shared(detail::AsyncHandler handler, std::shared_ptr<const AllTurns> all, const Clock& time,
         std::shared_ptr<const void> below)
      : function(std::move(handler)),
        turns(std::move(all)),
        clock(time),
        ground(std::move(below)) {}

  // The end of an attempt; also if it is dropped without a word, as when its context is destroyed.
  struct Ending {
    std::shared_ptr<const void> ground;  // goes after the run
    std::shared_ptr<ports::Run> run;
    std::shared_ptr<const AllTurns> turns;

    Ending(std::shared_ptr<ports::Run> attempt, const Shared& shared)
        : ground(shared.ground), run(std::move(attempt)), turns(shared.turns) {}
    Ending(Ending&&) = default;
    Ending& operator=(Ending&&) = delete;
    ~Ending() {
      if (run) finish(Failure{.message = "the coroutine was destroyed before its end"});
    }

    void operator()(HandlerResult result) {
      if (!run) return;
      if (result) {
        finish(core::Success{*std::move(result)});
      } else {
        finish(std::move(result).error());
      }
    }

    void finish(core::Outcome outcome) {
      Turns& own = turns->of(run->task().queue);
      std::exchange(run, nullptr)->finish(std::move(outcome));
      own.end();
    }
  };

  void begin(std::shared_ptr<ports::Run> run) {
    Ending ending(run, *this);
    if (!run->begin()) return ending.finish(core::HandedBack{});
    function(std::make_shared<Job>(std::move(run), clock), std::move(ending));
  }
};

AsyncFunction::AsyncFunction(detail::AsyncHandler function, std::shared_ptr<const AllTurns> turns,
                             const Clock& clock, std::shared_ptr<const void> ground)
    : shared_(std::make_shared<Shared>(std::move(function), std::move(turns), clock,
                                       std::move(ground))) {}

void AsyncFunction::start(std::shared_ptr<ports::Run> run) noexcept {
  Turns& turns = shared_->turns->of(run->task().queue);
  turns.wait([shared = shared_, run = std::move(run)]() mutable { shared->begin(std::move(run)); });
}

}  // namespace holdfast::handlers
