#include "brokers/rabbitmq/topologies.hpp"

#include <utility>
#include <vector>

#include <amqp_framing.h>

namespace holdfast::brokers::rabbitmq {
namespace {

using ports::QueueFound;
using ports::QueueWish;

ports::FieldTable arguments_of(const QueueWish& wish) {
  ports::FieldTable arguments;
  if (wish.kind == QueueWish::Kind::quorum) arguments.emplace_back("x-queue-type", "quorum");
  if (wish.dead_letter) {
    arguments.emplace_back("x-dead-letter-exchange", wish.dead_letter->exchange);
    arguments.emplace_back("x-dead-letter-routing-key", wish.dead_letter->routing_key);
  }
  return arguments;
}

}  // namespace

void Topologies::add(ports::Topology topology, Then then) {
  const std::uint64_t id = ++last_;
  topologies_.emplace(id, One{.topology = std::move(topology), .then = std::move(then)});
}

void Topologies::make_sure() {
  std::vector<std::uint64_t> due;
  for (auto& [id, one] : topologies_) {
    if (one.left == 0 && !one.sure) due.push_back(id);
  }
  for (const std::uint64_t id : due)
    look_at(id);
}

void Topologies::doubt() {
  for (auto& [id, one] : topologies_)
    one.sure = false;
}

void Topologies::look_at(std::uint64_t id) {
  One& one = topologies_.at(id);
  one.opened = {};
  one.failed.reset();
  one.sure = true;
  one.left = one.topology.queues.size();
  if (one.left == 0) return finish(id);
  for (const QueueWish& wish : one.topology.queues)
    ask(id, wish, false, {});
}

void Topologies::ask(std::uint64_t id, const QueueWish& wish, bool only_look, std::string detail) {
  ++under_way_;
  declarer_.ask(
      {.queue = wish.name,
       .only_look = only_look,
       .arguments = only_look ? ports::FieldTable() : arguments_of(wish)},
      [this, id, wish, only_look, detail = std::move(detail)](Declarer::Answer answer) mutable {
        --under_way_;
        on_answer(id, wish, only_look, std::move(detail), std::move(answer));
      });
}

void Topologies::on_answer(std::uint64_t id, const QueueWish& wish, bool only_look,
                           std::string detail, Declarer::Answer answer) {
  const auto found = topologies_.find(id);
  if (found == topologies_.end()) return;
  One& one = found->second;
  if (answer.code == AMQP_ACCESS_REFUSED && !only_look) {
    // Who may not make a queue may still use one that is there.
    return ask(id, wish, true, std::move(answer.error.message));
  }
  if (answer.lost) {
    one.sure = false;
  } else if (answer.code == AMQP_PRECONDITION_FAILED) {
    one.opened.queues.push_back({wish.name, QueueFound::otherwise, answer.error.message});
  } else if (!answer.is_there()) {
    if (!detail.empty()) answer.error.message = detail;  // why it was not made
    one.failed = std::move(answer.error);
  } else {
    const auto how = only_look ? QueueFound::otherwise : QueueFound::ready;
    one.opened.queues.push_back({wish.name, how, std::move(detail)});
  }
  if (--one.left == 0) finish(id);
}

void Topologies::finish(std::uint64_t id) {
  One& one = topologies_.at(id);
  if (!one.sure) return;  // again, when there is a connection
  if (!one.failed) {
    if (auto then = std::exchange(one.then, nullptr)) then(std::move(one.opened));
    return;
  }
  if (!one.then) {
    log_.log(Level::warning, "broker.queue_missing",
             "A queue that was there before cannot be made sure of.",
             {{"error", one.failed->message}});
    return;
  }
  auto then = std::move(one.then);
  const Error error = std::move(*one.failed);
  topologies_.erase(id);
  then(std::unexpected(error));
}

void Topologies::give_up(const Error& why) {
  std::vector<Then> unanswered;
  for (auto at = topologies_.begin(); at != topologies_.end();) {
    if (!at->second.then) {
      ++at;
      continue;
    }
    unanswered.push_back(std::move(at->second.then));
    at = topologies_.erase(at);
  }
  for (Then& then : unanswered)
    then(std::unexpected(why));
}

}  // namespace holdfast::brokers::rabbitmq
