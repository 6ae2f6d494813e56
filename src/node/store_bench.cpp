#include "node/store_bench.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/forked.hpp"
#include "io/resident_memory.hpp"
#include "node/bench_course.hpp"
#include "node/bench_team.hpp"
#include "stores/redis/address.hpp"

namespace holdfast::node::store_bench {
namespace {

using bench::Team;

// Until a worker that has just started has asked in vain, and waits.
constexpr Duration kSettleDown = std::chrono::milliseconds(200);

bool is_shared(const std::string& url) {
  return stores::redis::is_redis_url(url);
}

// Who submits, how, and what becomes of it.
struct Part {
  const Options& options;
  std::size_t count = 0;
  std::size_t warm_up = 0;  // of `count`, if they come one by one
  bool steady = false;      // one by one, at a rate
  bool fails = false;
};

Result<bool> submit_share(const Part& part, Node& node, Course& course) {
  const auto share = course.next(part.options.batch);
  if (!share) return false;
  const auto done = bench::submit(node, bench::new_tasks(share->count, part.options.payload_bytes));
  if (!done) return std::unexpected(done.error());
  course.answered(share->count);
  return true;
}

Result<bool> submit_in_time(const Part& part, Node& node, Course& course,
                            const std::stop_token& stop) {
  const auto share = course.next(1);
  if (!share) return false;
  const Duration gap = Duration(std::chrono::seconds(1)) /
                       static_cast<std::int64_t>(std::max<std::size_t>(part.options.rate, 1));
  const SteadyTime due = course.began() + gap * static_cast<std::int64_t>(share->first);
  if (!system_clock().sleep_until(due, stop)) return false;
  const std::int64_t due_ns = share->first < part.warm_up ? 0 : due.time_since_epoch().count();
  const auto done = bench::submit(node, bench::dated_task(due_ns, part.options.payload_bytes));
  if (!done) return std::unexpected(done.error());
  course.answered(1);
  return true;
}

bench::Producers::Hooks giving_up(Course& course) {
  return {.given_up = [&course] { return course.given_up(); },
          .give_up = [&course](const Error& error) { course.give_up(error); }};
}

// Submits all of it, from when the course begins.
void produce(const Part& part, Course& course) {
  const auto node = open(part.options.url, {});
  if (!node) return course.give_up(node.error());
  course.arrive();
  if (!course.wait_for_begin()) return;
  const std::size_t threads = part.steady ? bench::kSteadyProducers : part.options.producers;
  const auto next = [&](const std::stop_token& stop) -> Result<bool> {
    return part.steady ? submit_in_time(part, **node, course, stop)
                       : submit_share(part, **node, course);
  };
  bench::Producers(threads, giving_up(course), next).join();
}

// Works until it is destroyed. Their times go to `times_ms`, if somebody wants them.
Result<std::unique_ptr<Team>> work(const Part& part, Course& course,
                                   std::vector<double>* times_ms = nullptr) {
  HandlerResult how = std::string();
  if (part.fails) how = std::unexpected(Failure{.message = "connection reset by peer"});
  const auto settled = [&course, fails = part.fails, times_ms](const ports::TaskRecord& record,
                                                               const core::Transition& transition) {
    if (fails && transition.to != core::State::dead) return;
    if (times_ms) {
      if (const auto took = bench::took_ms(record)) times_ms->push_back(*took);
    }
    course.ended_one();
  };
  auto team = Team::start(
      part.options, std::move(how),
      {.settled = settled, .broken = [&course](const Error& error) { course.give_up(error); }});
  if (!team) course.give_up(team.error());
  return team;
}

// In a process of its own, which ends when its object does.
Result<io::Forked> producer_apart(const Part& part, Course& course) {
  return io::Forked::start([&](int) { produce(part, course); });
}

class Others {
 public:
  // The workers but the first, which is this process.
  Result<void> add_workers(const Part& part, Course& course, bool when_it_begins) {
    if (!is_shared(part.options.url)) return {};
    for (std::size_t i = 1; i < part.options.workers; ++i) {
      auto one = io::Forked::start([&](int channel) {
        const auto node = open(part.options.url, {});  // connected, but not at work
        if (!node) return course.give_up(node.error());
        if (when_it_begins) course.arrive();
        if (when_it_begins && !course.wait_for_begin()) return;
        const auto team = work(part, course);
        if (!team) return;
        if (!when_it_begins) course.arrive();
        char until_ended = 0;
        static_cast<void>(io::receive_all(channel, &until_ended, 1));
      });
      if (!one) return std::unexpected(one.error());
      all_.push_back(*std::move(one));
    }
    return {};
  }
  Result<void> add_producer(const Part& part, Course& course) {
    auto one = producer_apart(part, course);
    if (!one) return std::unexpected(one.error());
    all_.push_back(*std::move(one));
    return {};
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  std::vector<io::Forked> all_;
};

Result<void> wait_until_ended(const Part& part, const Course& course) {
  return course.wait_until_ended([&](double done) {
    if (part.options.progress) part.options.progress(done);
  });
}

// Workers that wait, then those who submit.
Result<double> run_both(const Part& part, std::vector<double>* times_ms = nullptr) {
  Course course({.count = part.count, .most = part.options.most});
  Others others;
  if (auto added = others.add_workers(part, course, false); !added) {
    return std::unexpected(added.error());
  }
  const bool apart = is_shared(part.options.url);
  if (apart) {
    if (auto added = others.add_producer(part, course); !added) {
      return std::unexpected(added.error());
    }
  }
  const auto team = work(part, course, times_ms);
  if (!team) return std::unexpected(team.error());
  std::jthread producer;
  if (!apart) producer = std::jthread([&] { produce(part, course); });
  if (!course.wait_for(others.size() + (apart ? 0 : 1))) {
    return std::unexpected(course.outcome().error());
  }
  system_clock().sleep_for(kSettleDown);
  course.begin();
  if (auto ended = wait_until_ended(part, course); !ended) return std::unexpected(ended.error());
  return course.ended_per_s();
}

// Fills the queue, and is gone.
Result<void> fill(const Part& part) {
  Course course({.count = part.count, .most = part.options.most});
  course.begin();
  if (is_shared(part.options.url)) {
    auto producer = producer_apart(part, course);
    if (!producer) return std::unexpected(producer.error());
    producer->join();
  } else {
    produce(part, course);
  }
  return course.wait_until_answered();
}

}  // namespace

Result<double> enqueue(const Options& options) {
  const Part part{.options = options, .count = options.tasks};
  Course course({.count = part.count, .most = options.most});
  const auto node = open(options.url, {});  // connected before it begins
  if (!node) return std::unexpected(node.error());
  course.begin();
  produce(part, course);
  if (auto answered = course.wait_until_answered(); !answered) {
    return std::unexpected(answered.error());
  }
  return course.answered_per_s();
}

Result<Drained> drain(const Options& options) {
  const Part part{.options = options, .count = options.tasks};
  if (auto filled = fill(part); !filled) return std::unexpected(filled.error());
  Course course({.count = part.count, .most = options.most});
  Others others;
  if (auto added = others.add_workers(part, course, true); !added) {
    return std::unexpected(added.error());
  }
  const auto node = open(options.url, {});  // connected before it begins
  if (!node) return std::unexpected(node.error());
  if (!course.wait_for(others.size())) return std::unexpected(course.outcome().error());
  course.begin();
  const auto team = work(part, course);
  if (!team) return std::unexpected(team.error());
  if (auto ended = wait_until_ended(part, course); !ended) return std::unexpected(ended.error());
  return Drained{.per_s = course.ended_per_s(), .peak_mb = io::most_resident_mb()};
}

Result<double> end_to_end(const Options& options) {
  return run_both({.options = options, .count = options.tasks});
}

Result<double> failing(const Options& options) {
  return run_both({.options = options, .count = options.failing, .fails = true});
}

Result<bench::Latency> latency(const Options& options) {
  const double wanted =
      std::chrono::duration<double>(options.steady).count() * static_cast<double>(options.rate);
  const std::size_t count = std::max<std::size_t>(static_cast<std::size_t>(wanted), 1);
  // As many as a tenth come before, to warm up, and do not count.
  const std::size_t warm_up = count / 10;
  Options alone = options;
  alone.workers = 1;  // the times are its own
  std::vector<double> times_ms;
  times_ms.reserve(count);
  const auto per_s = run_both(
      {.options = alone, .count = count + warm_up, .warm_up = warm_up, .steady = true}, &times_ms);
  if (!per_s) return std::unexpected(per_s.error());
  if (times_ms.empty()) {
    return fail(ErrorCode::timeout, "bench", "not one task was done in time");
  }
  return bench::latency_of(std::move(times_ms), *per_s);
}

}  // namespace holdfast::node::store_bench
