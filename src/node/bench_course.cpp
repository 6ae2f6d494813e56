#include "node/bench_course.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <string>

#include <sys/mman.h>

#include <holdfast/clock.hpp>

namespace holdfast::node::store_bench {

struct Course::Block {
  std::atomic<std::size_t> arrived = 0;
  std::atomic<bool> begun = false;
  std::atomic<std::int64_t> began_ns = 0;
  std::atomic<std::size_t> taken = 0;
  std::atomic<std::size_t> answered = 0;
  std::atomic<std::int64_t> answered_ns = 0;  // the latest
  std::atomic<std::size_t> ended = 0;
  std::atomic<std::int64_t> ended_ns = 0;
  std::atomic<int> failed = 0;       // 1: the text is being written; 2: it stands
  std::array<char, 512> error = {};  // ends with a 0
};

namespace {

std::int64_t now_ns() {
  return system_clock().now().time_since_epoch().count();
}

void* shared_memory(std::size_t size) {
  void* const place =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  return place;
}

double per_s(std::size_t count, std::int64_t from_ns, std::int64_t until_ns) {
  return static_cast<double>(count) * 1e9 /
         static_cast<double>(std::max<std::int64_t>(until_ns - from_ns, 1));
}

}  // namespace

Course::Course(Limits limits)
    : limits_(limits),
      block_(std::construct_at(static_cast<Block*>(shared_memory(sizeof(Block))))) {}

Course::~Course() {
  ::munmap(block_, sizeof(Block));
}

void Course::rest() {
  system_clock().sleep_for(std::chrono::milliseconds(2));
}

void Course::arrive() noexcept {
  ++block_->arrived;
}

bool Course::wait_for(std::size_t arrived) const {
  while (block_->arrived < arrived && !given_up())
    rest();
  return !given_up();
}

void Course::begin() noexcept {
  block_->began_ns = now_ns();
  block_->begun = true;
}

bool Course::wait_for_begin() const {
  while (!block_->begun && !given_up())
    rest();
  return !given_up();
}

std::optional<Course::Share> Course::next(std::size_t most) noexcept {
  if (now_ns() - block_->began_ns > limits_.most.count()) return std::nullopt;
  const std::size_t first = block_->taken.fetch_add(most);
  if (first >= limits_.count) return std::nullopt;
  return Share{.first = first, .count = std::min(most, limits_.count - first)};
}

void Course::answered(std::size_t count) noexcept {
  block_->answered_ns = now_ns();
  block_->answered += count;
}

void Course::ended_one() noexcept {
  block_->ended_ns = now_ns();
  ++block_->ended;
}

void Course::give_up(const Error& error) noexcept {
  int nobody = 0;
  if (!block_->failed.compare_exchange_strong(nobody, 1)) return;
  const std::size_t size = std::min(error.message.size(), block_->error.size() - 1);
  error.message.copy(block_->error.data(), size);
  block_->failed = 2;
}

bool Course::given_up() const noexcept {
  return block_->failed == 2;
}

Result<void> Course::outcome() const {
  if (!given_up()) return {};
  return fail(ErrorCode::internal, "bench", block_->error.data());
}

std::size_t Course::ended() const noexcept {
  return block_->ended;
}

bool Course::is_over(std::size_t done) const noexcept {
  return done >= limits_.count || given_up() || now_ns() - block_->began_ns > limits_.most.count();
}

Result<void> Course::something(std::size_t done) const {
  if (given_up()) return outcome();
  if (done > 0) return {};
  return fail(ErrorCode::timeout, "bench", "not one task was done in time");
}

Result<void> Course::wait_until_answered() const {
  while (!is_over(block_->answered))
    rest();
  return something(block_->answered);
}

SteadyTime Course::began() const noexcept {
  return SteadyTime(Duration(block_->began_ns.load()));
}

double Course::answered_per_s() const noexcept {
  return per_s(block_->answered, block_->began_ns, block_->answered_ns);
}

double Course::ended_per_s() const noexcept {
  return per_s(block_->ended, block_->began_ns, block_->ended_ns);
}

}  // namespace holdfast::node::store_bench
