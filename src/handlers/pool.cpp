#include "handlers/pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <holdfast/failure.hpp>

#include "io/lane.hpp"

namespace holdfast::handlers {
namespace {

struct Item {
  std::shared_ptr<ports::Run> run;
  std::shared_ptr<Pool::Work> work;
};

// The one place where what a user's handler throws is caught (T10).
[[nodiscard]] core::Outcome outcome_of(Item& item) noexcept {
  try {
    return (*item.work)(item.run);
  } catch (...) {
    return to_failure(std::current_exception());
  }
}

}  // namespace

// Owned by the pool and by each of its threads: one that is left behind outlives the pool.
struct Pool::Shared {
  enum class Place : std::uint8_t { between, at_work, ended };

  const std::string name;
  const std::shared_ptr<const void> keep;

  std::mutex mutex;
  std::condition_variable work_came;
  std::condition_variable one_ended;
  std::deque<Item> waiting;
  std::size_t sleeping = 0;  // threads that nobody has woken yet

  // Written without the lock, in an order that all threads agree on: who has gone to work before
  // `closing` was set is seen at work by close(), and who has not sees `closing`.
  std::atomic<bool> closing = false;
  std::vector<std::atomic<Place>> places;  // of each thread

  Shared(std::string pool, std::shared_ptr<const void> kept, std::size_t count)
      : name(std::move(pool)), keep(std::move(kept)), places(count) {}

  void run(std::atomic<Place>& place) {
    io::name_this_thread(name);
    while (auto item = next()) {
      core::Outcome outcome = attempt(*item, place);
      item->run->finish(std::move(outcome));
    }
    const std::lock_guard lock(mutex);
    place = Place::ended;
    one_ended.notify_all();
  }

  // Waits for an attempt. Nothing: no more will come.
  [[nodiscard]] std::optional<Item> next() {
    std::unique_lock lock(mutex);
    while (waiting.empty() && !closing) {
      ++sleeping;
      work_came.wait(lock);
    }
    if (closing) return std::nullopt;
    Item item = std::move(waiting.front());
    waiting.pop_front();
    return item;
  }

  [[nodiscard]] core::Outcome attempt(Item& item, std::atomic<Place>& place) noexcept {
    if (closing || !item.run->begin()) return core::HandedBack{};
    place = Place::at_work;
    core::Outcome outcome = closing ? core::HandedBack{} : outcome_of(item);
    place = Place::between;  // before it is told, so that who knows the outcome can close at once
    return outcome;
  }
};

Pool::Pool(std::string name, int threads, std::shared_ptr<const void> keep) {
  const auto count = static_cast<std::size_t>(std::max(threads, 1));
  shared_ = std::make_shared<Shared>(std::move(name), std::move(keep), count);
  threads_.reserve(count);
  for (std::size_t at = 0; at < count; ++at) {
    threads_.emplace_back([shared = shared_, at] { shared->run(shared->places[at]); });
  }
}

Pool::~Pool() {
  close();
}

void Pool::add(std::shared_ptr<ports::Run> run, std::shared_ptr<Work> work) noexcept {
  bool wake = false;
  {
    std::unique_lock lock(shared_->mutex);
    if (shared_->closing) {
      lock.unlock();
      run->finish(core::HandedBack{});
      return;
    }
    shared_->waiting.push_back({std::move(run), std::move(work)});
    wake = shared_->sleeping > 0;
    if (wake) --shared_->sleeping;
  }
  if (wake) shared_->work_came.notify_one();
}

std::size_t Pool::close() noexcept {
  std::deque<Item> unbegun;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->closing = true;
    unbegun.swap(shared_->waiting);
  }
  shared_->work_came.notify_all();
  for (const Item& item : unbegun)
    item.run->finish(core::HandedBack{});

  std::size_t left_behind = 0;
  std::unique_lock lock(shared_->mutex);
  for (std::size_t at = 0; at < threads_.size(); ++at) {
    const std::atomic<Shared::Place>& place = shared_->places[at];
    shared_->one_ended.wait(lock, [&] { return place != Shared::Place::between; });
    if (place == Shared::Place::ended) continue;
    threads_[at].detach();
    ++left_behind;
  }
  lock.unlock();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  threads_.clear();
  return left_behind;
}

}  // namespace holdfast::handlers
