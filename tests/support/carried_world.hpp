#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/policies.hpp>

#include "engine/carriage.hpp"
#include "support/engine_world.hpp"
#include "support/model_broker.hpp"

namespace holdfast::engine::testing {

using namespace std::chrono_literals;
using core::State;
using holdfast::testing::ModelBroker;
using holdfast::testing::ModelQueues;

// A world whose queue "q" a broker carries.
struct CarriedWorld : World {
  std::shared_ptr<ModelQueues> queues = std::make_shared<ModelQueues>();
  std::shared_ptr<ModelBroker> broker;
  bool confirmed = true;
  ports::QueueWish::Kind kind = ports::QueueWish::Kind::classic;

  void carry() {
    // As the server's policy has it.
    const auto may_pass = [](const Error& error) {
      return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout ||
             error.code == ErrorCode::not_found || error.code == ErrorCode::exhausted;
    };
    broker = std::make_shared<ModelBroker>(loop, queues);
    engine->carry({.queue = "q",
                   .broker = broker,
                   .where = "model",
                   .name = "q",
                   .dead_letter = "q.dlq",
                   .kind = kind,
                   .prefetch = 8,
                   .confirmed = confirmed,
                   .foreign_type = "t",
                   .publish = policies::publish(Logger(log, clock, Level::debug),
                                                retry::Policy(clock, random).retry_if(may_pass))});
  }
  void start(std::shared_ptr<ports::Handler> handler, core::TaskPolicy policy = {}) {
    carry();
    run(std::move(handler), std::move(policy));
  }
  // A crash, and another life on the same store and queues.
  void live_again(std::shared_ptr<ports::Handler> handler, core::TaskPolicy policy = {}) {
    engine.reset();
    broker->die();
    broker.reset();
    loop.settle();
    options.owner += "+";
    renew();
    start(std::move(handler), std::move(policy));
  }
  Result<ports::Submit::Accepted> try_submit(std::string payload, std::string key = "") {
    std::optional<Result<ports::Submit::Accepted>> answer;
    engine->submit(
        {{.type = "t", .queue = "q", .payload = std::move(payload), .key = std::move(key)}},
        [&](auto answers) { answer = answers.value().front(); });
    for (int i = 0; i < 100 && !answer; ++i)
      loop.pass(1s);
    return answer.value();
  }
  [[nodiscard]] std::size_t at(State state) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        store.tasks(), [&](const auto& task) { return task.second.record.task.state == state; }));
  }
};

}  // namespace holdfast::engine::testing
