#include "brokers/sqs/queue_list.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "brokers/sqs/json.hpp"
#include "brokers/sqs/text.hpp"
#include "brokers/sqs/topologies.hpp"
#include "core/name_pattern.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::brokers::sqs {
namespace {

constexpr const char* kListOperation = "list queues";
constexpr std::size_t kPageSize = 1000;  // which is the most that SQS allows
constexpr std::size_t kAtOnce = 8;

std::optional<std::uint64_t> count_of(const std::optional<Json>& attributes,
                                      std::string_view name) {
  const auto value = attributes ? attributes->find(name) : std::nullopt;
  const auto number = value ? value->number() : std::nullopt;
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

ports::QueueStatus queue_status(std::string name, std::string_view answer) {
  using Kind = ports::QueueStatus::Kind;
  const auto attributes = Json(answer).find("Attributes");
  const QueueFacts facts = queue_facts(answer);
  ports::QueueStatus status{
      .name = std::move(name),
      .ready = count_of(attributes, "ApproximateNumberOfMessages"),
      .unacknowledged = count_of(attributes, "ApproximateNumberOfMessagesNotVisible"),
      .delivery_limit = facts.most_receives};
  status.kind = is_fifo(status.name) ? Kind::fifo : Kind::standard;
  if (!facts.dead_letter_arn.empty()) {
    status.dead_letter =
        ports::Address{.routing_key = std::string(queue_of_arn(facts.dead_letter_arn))};
  }
  return status;
}

struct QueueList::Work {
  Work(const std::string& text, Then told) : pattern(text), then(std::move(told)) {}

  NamePattern pattern;
  Then then;
  std::vector<ports::QueueStatus> queues = {};
  std::size_t next = 0;
  std::size_t under_way = 0;
};

void QueueList::list(const std::string& pattern, Then then) {
  ask_page(std::make_shared<Work>(pattern, std::move(then)), "");
}

void QueueList::ask_page(const std::shared_ptr<Work>& work, const std::string& token) {
  std::string body;
  wire::JsonWriter writer(body);
  writer.begin_object().key("MaxResults").number(std::uint64_t{kPageSize});
  if (!work->pattern.prefix().empty()) writer.key("QueueNamePrefix").text(work->pattern.prefix());
  if (!token.empty()) writer.key("NextToken").text(token);
  writer.end_object();
  api_.call(
      {.operation = "ListQueues",
       .body = std::move(body),
       .timeout = api_.options().request_timeout},
      [this, work](const Answer& answer) {
        if (answer) return page_came(work, *answer);
        Error error = answer.error().error(kListOperation);
        error.message = fmt::format("{}: {}", api_.options().at.text(), error.message);
        if (answer.error().http_status == 403 || answer.error().code.starts_with("AccessDenied"))
          error.message += " (it needs the permission sqs:ListQueues)";
        work->then(std::unexpected(std::move(error)));
      });
}

void QueueList::page_came(const std::shared_ptr<Work>& work, const std::string& answer) {
  const Json page(answer);
  if (const auto urls = page.find("QueueUrls")) {
    for (const Json& one : urls->elements()) {
      const std::string url = one.text();
      std::string name = url.substr(url.rfind('/') + 1);
      if (!work->pattern.matches(name)) continue;
      queues_.note_url(name, url);
      work->queues.push_back({.name = std::move(name)});
    }
  }
  if (work->queues.size() > ports::kMostListedQueues) {
    return work->then(fail(ErrorCode::exhausted, kListOperation,
                           fmt::format("{}: more than {} queues match: use a narrower pattern",
                                       api_.options().at.text(), ports::kMostListedQueues)));
  }
  if (const std::string token = page.text_of("NextToken"); !token.empty())
    return ask_page(work, token);
  std::ranges::sort(work->queues, {}, &ports::QueueStatus::name);
  if (work->queues.empty()) return work->then(std::move(work->queues));
  work->under_way = std::min(kAtOnce, work->queues.size());
  for (std::size_t one = work->under_way; one > 0; --one)
    look_at_next(work);
}

void QueueList::look_at_next(const std::shared_ptr<Work>& work) {
  if (work->next == work->queues.size()) {
    if (--work->under_way == 0) {
      // Deleted meanwhile.
      std::erase_if(work->queues, [](const auto& queue) { return queue.name.empty(); });
      work->then(std::move(work->queues));
    }
    return;
  }
  ports::QueueStatus& queue = work->queues[work->next++];
  queues_.call({.queue = queue.name,
                .operation = "GetQueueAttributes",
                .members = R"("AttributeNames":["All"])"},
               [this, work, &queue](const Answer& answer) {
                 if (answer) {
                   queue = queue_status(queue.name, *answer);
                 } else if (answer.error().kind == Trouble::Kind::no_queue) {
                   queue.name.clear();
                 } else {
                   queue = queue_status(queue.name, "{}");
                 }
                 look_at_next(work);
               });
}

}  // namespace holdfast::brokers::sqs
