#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/rules.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/open.hpp"
#include "support/redis_server.hpp"

namespace holdfast::stores::redis {

using namespace std::chrono_literals;

inline constexpr WallTime kStart{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}};

inline ports::OpenStore open_at(const std::string& url, bool time_is_told = true,
                                Duration gone_after = 2s) {
  auto opened = open({.address = parse_address(url).value(),
                      .time_is_told = time_is_told,
                      .gone_after = gone_after});
  if (!opened) throw std::runtime_error(opened.error().text());
  return *std::move(opened);
}

inline TaskId id_of(int number) {
  Uuid::Bytes bytes{0x01, 0x91};
  bytes[14] = static_cast<std::uint8_t>(number >> 8);
  bytes[15] = static_cast<std::uint8_t>(number);
  return TaskId(Uuid(bytes));
}

inline ports::NewTask new_task(int number, WallTime now = kStart) {
  ports::NewTask task;
  task.id = id_of(number);
  task.type = "mail.send";
  task.queue = "mail";
  task.payload = "to: " + std::to_string(number);
  task.created = task.due = now;
  return task;
}

inline ports::Change::One success(const ports::TaskRecord& record, WallTime now) {
  ports::Change::One one{.id = record.id, .token = record.task.token, .transition = {}};
  one.transition.from = core::State::running;
  one.transition.to = core::State::succeeded;
  one.transition.event = core::Event::success;
  one.transition.token = record.task.token;
  one.transition.due = now;
  one.result = "sent";
  return one;
}

inline ports::Change::One death(const ports::TaskRecord& record, WallTime now) {
  ports::Change::One one = success(record, now);
  one.transition.to = core::State::dead;
  one.transition.event = core::Event::error;
  one.transition.spent.attempts = 1;
  one.transition.dead_reason = core::DeadReason::out_of_attempts;
  one.transition.failure = Failure{.message = "connection reset by peer"};
  one.fingerprint = Fingerprint(7);
  return one;
}

// Failed, to be tried again at once by who has it.
inline ports::Change::One again(const ports::TaskRecord& record, WallTime now) {
  ports::Change::One one = death(record, now);
  one.transition.to = core::State::retrying;
  one.transition.dead_reason.reset();
  one.fingerprint = Fingerprint();
  one.again = true;
  return one;
}

template <class Verb>
typename Verb::Answer tell(ports::Store& store, Verb verb) {
  auto answer = ports::ask(store, std::move(verb));
  if (!answer) throw std::runtime_error(answer.error().text());
  return *std::move(answer);
}

}  // namespace holdfast::stores::redis
