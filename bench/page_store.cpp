// Makes the file of an embedded store as bench/pages.py wants it: many tasks of all states in
// several queues, among them dead letters in many groups, as though they had come in over the last
// 20 hours.
//   page_store FILE TASKS GROUPS
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/rules.hpp"
#include "stores/sqlite/open.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBatch = 1000;
constexpr std::size_t kQueues = 20;
constexpr std::size_t kTypes = 5;        // of each queue
constexpr std::size_t kRareEvery = 500;  // one task in so many batches is of a type that is rare
constexpr std::size_t kRunning = 1500;
constexpr Duration kSpan = 20h;

// What becomes of the tasks of one batch, by their places in it.
enum class Fate : std::uint8_t { succeeded, dead, pending, retrying, failed, canceled };
constexpr std::array<std::pair<Fate, std::size_t>, 6> kFates = {{{Fate::succeeded, 400},
                                                                 {Fate::dead, 300},
                                                                 {Fate::pending, 250},
                                                                 {Fate::retrying, 20},
                                                                 {Fate::failed, 20},
                                                                 {Fate::canceled, 10}}};

Fate fate_of(std::size_t place) {
  for (const auto& [fate, count] : kFates) {
    if (place < count) return fate;
    place -= count;
  }
  return Fate::pending;
}

template <class T>
T value_of(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "page_store: %s\n", result.error().text().c_str());
  std::exit(1);
}

class Filler {
 public:
  Filler(const std::string& path, std::size_t tasks, std::size_t groups)
      : store_(value_of(stores::sqlite::open({.path = path, .synchronous = "off"}))),
        batches_(tasks / kBatch),
        groups_(groups) {}

  void fill() {
    for (std::size_t batch = 0; batch < batches_; ++batch) {
      now_ = began_ + kSpan / batches_ * batch;
      settle(batch, claimed(batch, submitted(batch)));
    }
    now_ = system_clock().wall_now();
    run();
  }

 private:
  template <class Verb>
  typename Verb::Answer ask(Verb verb) {
    return value_of(ports::ask(*store_.writer, std::move(verb)));
  }

  static std::string queue(std::size_t batch) {
    return fmt::format("queue-{:02}", batch % kQueues);
  }

  // The ids, in the order of their fates.
  std::vector<TaskId> submitted(std::size_t batch) {
    ports::Submit submit;
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < kBatch; ++i) {
      ports::NewTask task;
      task.id = TaskId(uuids_.next(now_));
      task.type = batch % kRareEvery == 0 && i % (kBatch / 2) == 0
                      ? "rare"
                      : fmt::format("type-{:02}.{}", batch % kQueues, i % kTypes);
      task.queue = queue(batch);
      task.payload = fmt::format(R"({{"user":{{"id":{}}},"order":"A-{}","text":"{}"}})", i,
                                 batch * kBatch + i, std::string(150, 'x'));
      task.created = task.due = now_;
      ids.push_back(task.id);
      submit.tasks.push_back(std::move(task));
    }
    ask(std::move(submit));
    return ids;
  }

  // Those that are to be settled. One that is to stay pending stays out of it.
  std::vector<ports::TaskRecord> claimed(std::size_t batch, const std::vector<TaskId>& ids) {
    std::vector<TaskId> wanted;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (fate_of(i) != Fate::pending) wanted.push_back(ids[i]);
    return ask(ports::Claim{.queue = queue(batch),
                            .max = wanted.size(),
                            .owner = "page_store",
                            .now = now_,
                            .only = wanted})
        .tasks;
  }

  void settle(std::size_t batch, const std::vector<ports::TaskRecord>& tasks) {
    ports::Change change;
    std::size_t place = 0;
    for (const ports::TaskRecord& record : tasks) {
      while (fate_of(place) == Fate::pending)
        ++place;
      change.changes.push_back(settled(record, fate_of(place++), batch));
    }
    ask(std::move(change));
  }

  ports::Change::One settled(const ports::TaskRecord& record, Fate fate, std::size_t batch) {
    ports::Change::One one;
    one.id = record.id;
    one.token = record.task.token;
    if (fate == Fate::canceled) {
      one.transition = value_of(core::cancel(record.task, now_ + 1s));
      return one;
    }
    core::Outcome outcome = core::Success{};
    Verdict verdict;
    if (fate == Fate::succeeded) {
      one.result = R"({"done":true})";
    } else {
      // Every other dead letter is of one of a few groups that are large.
      const std::size_t group = ++failures_ % 2 == 0 ? failures_ / 2 % 20 : failures_ / 2 % groups_;
      one.fingerprint = Fingerprint(0x9e3779b97f4a7c15U * (group + 1));
      outcome = Failure{
          .message = fmt::format("connect to db-{}.internal: connection refused after {} tries, "
                                 "while handing over batch {} to the warehouse",
                                 group, failures_ % 7, batch)};
      if (fate == Fate::failed) verdict.kind = VerdictKind::give_up;
    }
    const core::TaskPolicy policy{.attempts = fate == Fate::retrying ? 4 : 1,
                                  .wait = retry::fixed(23h)};
    one.transition =
        value_of(core::decide(record.task, outcome, verdict, policy, now_ + 1s, system_random()));
    return one;
  }

  // By workers elsewhere, so that a server that is started leaves them alone.
  void run() {
    for (std::size_t worker = 0; worker < kQueues; ++worker) {
      ask(ports::Claim{.queue = queue(worker),
                       .max = kRunning / kQueues,
                       .owner = fmt::format("{}worker-{:02}", ports::kAway, worker),
                       .lease = 7 * 24h,
                       .now = now_});
    }
  }

  ports::OpenStore store_;
  const std::size_t batches_;
  const std::size_t groups_;
  const WallTime began_ = system_clock().wall_now() - kSpan;
  WallTime now_{};
  UuidSource uuids_{system_random()};
  std::size_t failures_ = 0;
};

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: page_store FILE TASKS GROUPS\n", stderr);
    return 2;
  }
  holdfast::Filler(argv[1], std::stoul(argv[2]), std::stoul(argv[3])).fill();
  return 0;
}
