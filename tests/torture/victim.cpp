// A worker and its producers, to be killed at any moment:
//   torture_victim URL FOLDER LIFE SEED produce|drain [LEASE_SECONDS]
//   torture_victim URL FOLDER LIFE SEED fill TASKS
// Keeps its tasks in the store of that URL, and says in FOLDER/ledger.LIFE.* what it is about to do
// and what it was told. `produce` goes on until it is killed, though not for ever; `drain` hands in
// nothing new, and ends when everything has come to an end; `fill` hands in, and runs nothing.
//
// FOLDER/again names submissions of an earlier life that were never answered: they are handed in
// again, with their keys. torture.py reads the ledgers and judges.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <thread>

#include <unistd.h>

#include <holdfast/client.hpp>
#include <holdfast/worker.hpp>

#include "torture/ledger.hpp"
#include "torture/seeded_random.hpp"

using namespace std::chrono_literals;

namespace holdfast::torture {
namespace {

constexpr int kThreads = 4;  // judge.py knows it too
constexpr int kProducers = 3;
constexpr int kMostCalls = 2000;    // of each producer, in one life
constexpr int kCallsAfterEnd = 20;  // that a producer tries on a broken store
constexpr std::size_t kLargestBatch = 8;
constexpr std::size_t kBatchOfFill = 500;
// On a server that several victims share more would be handed in than they can bring to an end, and
// more tasks that kill.
constexpr std::uint64_t kLongestPauseMs = 100;

struct Life {
  std::string url;
  std::string folder;
  std::string number;
  std::uint64_t seed = 0;
  std::string mode;
  long many = 0;  // seconds of the lease, or tasks; 0: as usual

  [[nodiscard]] std::string ledger(const std::string& who) const {
    return folder + "/ledger." + number + "." + who;
  }
};

// What tasks do, by their type.
class Handlers {
 public:
  explicit Handlers(const Life& life) : life_(life) {}

  void add_to(Worker& worker) {
    const HandlerOptions usual{.attempts = 3, .crashes = 1000, .wait = retry::fixed(20ms)};
    // Claimed again in one step with its settlement.
    const HandlerOptions at_once{.attempts = 3, .crashes = 1000, .wait = retry::fixed(0ms)};
    worker.on("ok", [this](Job& job) { return run(job, [](Job&) {}); }, usual);
    worker.on(
        "slow",
        [this](Job& job) { return run(job, [](Job&) { system_clock().sleep_for(100ms); }); },
        usual);
    worker.on(
        "flaky",
        [this](Job& job) {
          return run(job, [](Job& own) {
            if (own.attempt() == 1) throw std::runtime_error("the first attempt fails");
          });
        },
        usual);
    worker.on(
        "bad",
        [this](Job& job) {
          return run(job, [](Job&) { throw std::runtime_error("every attempt fails"); });
        },
        at_once);
    worker.on(
        "hopeless",
        [this](Job& job) {
          return run(job, [](Job&) { throw Failure{.message = "no", .http_status = 422}; });
        },
        usual);
    // Ends its process each time, so it must be put aside (N7).
    worker.on("killer",
              [this](Job& job) { return run(job, [](Job&) { ::kill(::getpid(), SIGKILL); }); },
              {.attempts = 3, .crashes = 3, .wait = retry::fixed(20ms)});
  }

 private:
  template <class Work>
  std::string run(Job& job, Work work) {
    Ledger& ledger = of_this_thread();
    const std::string attempt = job.id().text() + " " + std::to_string(job.token());
    ledger.line("begin " + attempt);
    try {
      work(job);
    } catch (...) {
      ledger.line("end " + attempt + " bad");
      throw;
    }
    ledger.line("end " + attempt + " good");
    return "result of " + job.payload();
  }

  Ledger& of_this_thread() {
    thread_local Ledger ledger(life_.ledger("handler" + std::to_string(++threads_)));
    return ledger;
  }

  const Life& life_;
  std::atomic<int> threads_ = 0;
};

// Ids that were accepted in this life, for the observer.
class Accepted {
 public:
  void add(const TaskId& id) {
    const std::lock_guard lock(mutex_);
    ids_.push_back(id);
  }
  [[nodiscard]] std::vector<TaskId> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ids_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<TaskId> ids_;
};

class Producer {
 public:
  Producer(const Life& life, Client& client, Accepted& accepted, int number)
      : client_(client),
        accepted_(accepted),
        name_(life.number + "." + std::to_string(number)),
        pauses_(life.url.starts_with("redis")),
        random_(life.seed * 100 + static_cast<std::uint64_t>(number)),
        ledger_(life.ledger("producer" + std::to_string(number))) {}

  void run() {
    for (int call = 0; call < kMostCalls && refused_ < kCallsAfterEnd; ++call) {
      std::vector<Submission> batch(random_.chance(0.7) ? 1 : 1 + random_.below(kLargestBatch));
      for (Submission& one : batch) {
        const std::string label = name_ + "." + std::to_string(++count_);
        one = {.type = type(), .payload = label, .key = random_.chance(0.5) ? label : ""};
      }
      submit(batch);
      if (pauses_) {
        const auto pause = static_cast<std::int64_t>(random_.below(kLongestPauseMs));
        system_clock().sleep_for(std::chrono::milliseconds(pause));
      }
    }
  }

  // Nothing but work that ends well. False: not all of it was taken.
  bool fill(std::size_t many) {
    while (many > 0 && refused_ == 0) {
      std::vector<Submission> batch(std::min(many, kBatchOfFill));
      many -= batch.size();
      for (Submission& one : batch) {
        const std::string label = name_ + "." + std::to_string(++count_);
        one = {.type = "ok", .payload = label, .key = label};
      }
      submit(batch);
    }
    return refused_ == 0;
  }

  void submit(const std::vector<Submission>& batch) {
    for (const Submission& one : batch)
      ledger_.add("submit " + one.payload + " " + one.type + " " + (one.key.empty() ? "-" : "key"));
    ledger_.sync();
    const auto answers = client_.submit(batch);
    if (!answers) {
      ++refused_;
      for (const Submission& one : batch)
        refuse(one, answers.error());
      return ledger_.sync();
    }
    for (std::size_t n = 0; n < batch.size(); ++n) {
      const Result<TaskId>& id = (*answers)[n];
      if (!id) {
        refuse(batch[n], id.error());
        continue;
      }
      ledger_.add("accepted " + batch[n].payload + " " + id->text());
      accepted_.add(*id);
    }
    ledger_.sync();
  }

 private:
  void refuse(const Submission& one, const Error& error) {
    ledger_.add("refused " + one.payload + " " + std::string(to_string(error.code)));
  }

  std::string type() {
    const std::uint64_t dice = random_.below(1000);
    if (dice < 1) return "killer";
    if (dice < 40) return "hopeless";
    if (dice < 100) return "bad";
    if (dice < 250) return "flaky";
    if (dice < 300) return "slow";
    return "ok";
  }

  Client& client_;
  Accepted& accepted_;
  const std::string name_;
  const bool pauses_;
  SeededRandom random_;
  Ledger ledger_;
  std::uint64_t count_ = 0;
  int refused_ = 0;
};

// Looks at tasks until they have ended, and says so: from then on they must stay so.
void observe(const Life& life, Client& client, Accepted& accepted, const std::stop_token& stop) {
  Ledger ledger(life.ledger("observer"));
  std::vector<TaskId> open;
  while (!stop.stop_requested()) {
    for (const TaskId& id : accepted.take())
      open.push_back(id);
    std::erase_if(open, [&](const TaskId& id) {
      const auto task = client.find(id);
      if (!task || !is_terminal(task->state)) return false;
      ledger.add("seen " + id.text() + " " + std::string(to_string(task->state)));
      return true;
    });
    ledger.sync();
    system_clock().sleep_for(20ms, stop);
  }
}

std::vector<Submission> unanswered(const Life& life) {
  std::vector<Submission> found;
  std::ifstream file(life.folder + "/again");
  std::string label;
  std::string type;
  while (file >> label >> type)
    found.push_back({.type = type, .payload = label, .key = label});
  return found;
}

bool has_ended(Client& client) {
  const auto queues = client.counts();
  if (!queues) return false;
  for (const QueueInfo& queue : *queues) {
    if (queue.count(TaskState::pending) + queue.count(TaskState::running) +
            queue.count(TaskState::retrying) >
        0)
      return false;
  }
  return true;
}

int fill(const Life& life) {
  Client client(life.url);
  Accepted accepted;
  return Producer(life, client, accepted, 1).fill(static_cast<std::size_t>(life.many)) ? 0 : 1;
}

int live(const Life& life) {
  Handlers handlers(life);
  Worker::Options options{.threads = kThreads, .grace = 5s};
  if (life.many > 0) options.lease = std::chrono::seconds(life.many);
  Worker worker(life.url, std::move(options));
  handlers.add_to(worker);
  Client client(life.url);
  Ledger ledger(life.ledger("main"));
  ledger.line("start " + std::to_string(::getpid()));
  if (const auto started = worker.start(); !started) {
    ledger.line("broken " + started.error().text());
    return 1;
  }
  ledger.line("started");
  Accepted accepted;
  if (const auto again = unanswered(life); !again.empty()) {
    Producer(life, client, accepted, 0).submit(again);
  }
  if (life.mode == "drain") {
    while (!has_ended(client))
      system_clock().sleep_for(10ms);
  } else {
    std::jthread observer(
        [&](const std::stop_token& stop) { observe(life, client, accepted, stop); });
    std::vector<std::jthread> producers;
    for (int number = 1; number <= kProducers; ++number) {
      producers.emplace_back([&, number] { Producer(life, client, accepted, number).run(); });
    }
  }
  const auto stopped = worker.stop();
  ledger.line("stopped " + std::string(stopped.error ? stopped.error->text() : "well"));
  return stopped.error ? 1 : 0;
}

}  // namespace
}  // namespace holdfast::torture

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fputs(
        "usage: torture_victim URL FOLDER LIFE SEED produce|drain [LEASE_SECONDS]\n"
        "       torture_victim URL FOLDER LIFE SEED fill TASKS\n",
        stderr);
    return 2;
  }
  const holdfast::torture::Life life{.url = argv[1],
                                     .folder = argv[2],
                                     .number = argv[3],
                                     .seed = std::stoull(argv[4]),
                                     .mode = argv[5],
                                     .many = argc == 7 ? std::stol(argv[6]) : 0};
  return life.mode == "fill" ? holdfast::torture::fill(life) : holdfast::torture::live(life);
}
