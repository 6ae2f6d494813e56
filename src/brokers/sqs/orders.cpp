#include "brokers/sqs/orders.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "wire/json_writer.hpp"

namespace holdfast::brokers::sqs {
namespace {

constexpr int kMostUnderWay = 8;

}  // namespace

Orders::Orders(Api& api, Queues& queues, std::string queue, std::function<void()> idle)
    : api_(api),
      queues_(queues),
      queue_(std::move(queue)),
      idle_(std::move(idle)),
      policy_(order_policy(api.options(), api.clock())) {}

void Orders::remove(std::string receipt, Then then) {
  add(removals_,
      std::make_unique<Order>(std::move(receipt), Duration(-1), std::move(then), policy_));
}

void Orders::keep(std::string receipt, Duration visibility, Then then) {
  add(visibilities_,
      std::make_unique<Order>(std::move(receipt), visibility, std::move(then), policy_));
}

void Orders::add(Line& line, std::unique_ptr<Order> order) {
  ++pending_;
  line.waiting.push_back(std::move(order));
  if (std::exchange(line.is_flushing, true)) return;
  // Later: others are about to be said.
  api_.loop().post([this, &line] {
    line.is_flushing = false;
    flush(line);
  });
}

void Orders::flush(Line& line) {
  while (!line.waiting.empty() && line.under_way < kMostUnderWay) {
    Batch batch;
    while (!line.waiting.empty() && batch.size() < kMostBatchEntries) {
      batch.push_back(std::move(line.waiting.front()));
      line.waiting.pop_front();
    }
    send(line, std::move(batch));
  }
}

void Orders::send(Line& line, Batch batch) {
  ++line.under_way;
  std::string members = "\"Entries\":";
  wire::JsonWriter writer(members);
  writer.begin_array();
  for (std::size_t at = 0; at < batch.size(); ++at) {
    writer.begin_object().key("Id").plain(std::to_string(at));
    writer.key("ReceiptHandle").text(batch[at]->receipt);
    if (&line == &visibilities_) {
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(batch[at]->visibility);
      writer.key("VisibilityTimeout").number(seconds.count());
    }
    writer.end_object();
  }
  writer.end_array();
  queues_.call({.queue = queue_,
                .operation = line.operation,
                .members = std::move(members),
                .is_tried_again = false},
               [this, &line, batch = std::move(batch)](const Answer& answer) mutable {
                 --line.under_way;
                 answered(line, std::move(batch), answer);
                 flush(line);
               });
}

void Orders::answered(Line& line, Batch batch, const Answer& answer) {
  std::vector<EntryResult> results(batch.size());
  if (answer)
    results = entry_results(*answer, batch.size());
  else
    std::ranges::fill(results, EntryResult{.trouble = answer.error(), .body_md5 = {}});
  Batch again;
  SteadyTime when{};
  for (std::size_t at = 0; at < batch.size(); ++at) {
    const auto& trouble = results[at].trouble;
    const auto until = trouble ? batch[at]->tries.failed(*trouble) : std::nullopt;
    if (!until) {
      end(*batch[at], trouble);
      continue;
    }
    when = std::max(when, *until);
    again.push_back(std::move(batch[at]));
    if (again.size() == 1)
      log_again(api_.options(), api_.clock(), api_.log(), line.operation + " of " + queue_,
                *trouble, *until);
  }
  if (!again.empty()) say_again(line, std::move(again), when);
}

void Orders::say_again(Line& line, Batch batch, SteadyTime when) {
  auto kept = std::make_shared<Batch>(std::move(batch));
  api_.at(when, [this, &line, kept] {
    for (auto order = kept->rbegin(); order != kept->rend(); ++order)
      line.waiting.push_front(std::move(*order));
    flush(line);
  });
}

void Orders::end(Order& order, const std::optional<Trouble>& trouble) {
  --pending_;
  if (order.then) order.then(trouble);
  if (pending_ == 0) idle_();
}

}  // namespace holdfast::brokers::sqs
