// Whether the embedded store costs the same with a million waiting tasks as with a thousand. What
// is compared is CPU time; syncing the disk costs the same whatever is in the file.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include "core/rules.hpp"
#include "stores/sqlite/open.hpp"

namespace holdfast {
namespace {

using core::State;

constexpr const char* kQueue = "default";
constexpr const char* kOther = "dying";
constexpr std::size_t kPage = 100;

std::unexpected<Error> stop(const Error& error) {
  std::fprintf(stderr, "store_bench: %s\n", error.text().c_str());
  std::exit(1);
}

// A store with so many waiting tasks, made once and kept for all cases.
class Filled {
 public:
  explicit Filled(std::size_t waiting) {
    std::string name = "/var/tmp/holdfast-bench-XXXXXX";
    if (!::mkdtemp(name.data())) stop({ErrorCode::unavailable, "mkdtemp", name});
    folder_ = name;
    auto opened = stores::sqlite::open({.path = folder_ + "/store.db"});
    if (!opened) stop(opened.error());
    store_ = *std::move(opened);
    for (std::size_t done = 0; done < waiting; done += 1000)
      submit(1000, kQueue);
    die(waiting / 10);
  }
  ~Filled() {
    store_ = {};
    for (const char* end : {"", "-wal", "-shm", ".lock"})
      std::remove((folder_ + "/store.db" + end).c_str());
    std::remove(folder_.c_str());
  }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;

  // Takes a page of tasks and puts them back: the queue is as long as before.
  void claim_and_hand_back() {
    auto claimed = ask(claim(kQueue, kPage));
    ports::Change change;
    for (const ports::TaskRecord& record : claimed.tasks)
      change.changes.push_back(settle(record, core::HandedBack{}));
    ask(std::move(change));
  }

  template <class Verb>
  typename Verb::Answer ask(Verb verb) {
    auto answer = ports::ask(*store_.writer, std::move(verb));
    if (!answer) stop(answer.error());
    return *std::move(answer);
  }
  template <class Verb>
  typename Verb::Answer query(Verb verb) {
    auto answer = ports::ask(*store_.reader, std::move(verb));
    if (!answer) stop(answer.error());
    return *std::move(answer);
  }

 private:
  void submit(std::size_t count, const char* queue) {
    ports::Submit submit;
    for (std::size_t i = 0; i < count; ++i) {
      ports::NewTask task;
      task.id = TaskId(ids_.next(now()));
      task.type = "nothing";
      task.queue = queue;
      task.payload.assign(200, 'x');
      task.created = task.due = now();
      submit.tasks.push_back(std::move(task));
    }
    ask(std::move(submit));
  }

  // Dead letters in 50 groups.
  void die(std::size_t count) {
    for (std::size_t done = 0; done < count; done += 100) {
      submit(100, kOther);
      ports::Change change;
      for (const ports::TaskRecord& record : ask(claim(kOther, 100)).tasks) {
        auto one = settle(record, Failure{.message = "connection reset by peer"});
        one.fingerprint = Fingerprint(++deaths_ % 50);
        change.changes.push_back(std::move(one));
      }
      ask(std::move(change));
    }
  }

  [[nodiscard]] static WallTime now() { return system_clock().wall_now(); }
  [[nodiscard]] static ports::Claim claim(const char* queue, std::size_t max) {
    return {.queue = queue, .max = max, .owner = "bench", .now = now()};
  }
  [[nodiscard]] static ports::Change::One settle(const ports::TaskRecord& record,
                                                 const core::Outcome& outcome) {
    const core::TaskPolicy once{.attempts = 1};
    ports::Change::One one;
    one.id = record.id;
    one.token = record.task.token;
    one.transition = core::decide(record.task, outcome, {}, once, now(), system_random()).value();
    return one;
  }

  std::string folder_;
  ports::OpenStore store_;
  UuidSource ids_{system_random()};
  std::uint64_t deaths_ = 0;
};

Filled& filled(std::int64_t waiting) {
  static std::array<std::unique_ptr<Filled>, 2> stores;
  auto& store = stores[waiting > 1000 ? 1 : 0];
  if (!store) store = std::make_unique<Filled>(static_cast<std::size_t>(waiting));
  return *store;
}

void claim_and_hand_back(benchmark::State& state) {
  Filled& store = filled(state.range(0));
  for (auto _ : state)
    store.claim_and_hand_back();
}
BENCHMARK(claim_and_hand_back)->Name("Store/claim and hand back")->Arg(1000)->Arg(1'000'000);

void list_pending(benchmark::State& state) {
  Filled& store = filled(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        store.query(ports::List{.filter = {.state = State::pending}, .limit = kPage}));
}
BENCHMARK(list_pending)->Name("Store/list pending")->Arg(1000)->Arg(1'000'000);

void list_dead(benchmark::State& state) {
  Filled& store = filled(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        store.query(ports::List{.filter = {.state = State::dead}, .limit = kPage}));
}
BENCHMARK(list_dead)->Name("Store/list dead")->Arg(1000)->Arg(1'000'000);

void groups(benchmark::State& state) {
  Filled& store = filled(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(store.query(ports::Groups()));
}
BENCHMARK(groups)->Name("Store/groups")->Arg(1000)->Arg(1'000'000);

void counts(benchmark::State& state) {
  Filled& store = filled(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(store.query(ports::Count()));
}
BENCHMARK(counts)->Name("Store/count")->Arg(1000)->Arg(1'000'000);

}  // namespace
}  // namespace holdfast
