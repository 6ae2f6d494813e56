#include "brokers/sqs/topologies.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "brokers/sqs/json.hpp"
#include "brokers/sqs/text.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::brokers::sqs {
namespace {

std::string redrive_policy(const std::string& arn, int most_receives) {
  std::string text;
  wire::JsonWriter(text)
      .begin_object()
      .key("deadLetterTargetArn")
      .text(arn)
      .key("maxReceiveCount")
      .plain(std::to_string(most_receives))
      .end_object();
  return text;
}

void compare_redrive(const QueueFacts& queue, const std::string& wished, int most_receives,
                     std::vector<std::string>& all) {
  if (queue.dead_letter_arn.empty()) {
    all.push_back(
        fmt::format("it has no redrive policy: set deadLetterTargetArn to that of {} and "
                    "maxReceiveCount to {}",
                    quoted(wished), most_receives));
    return;
  }
  if (queue_of_arn(queue.dead_letter_arn) != wished)
    all.push_back(
        fmt::format("its redrive policy leads to {}: set deadLetterTargetArn to that of {}",
                    quoted(queue_of_arn(queue.dead_letter_arn)), quoted(wished)));
  if (queue.most_receives && *queue.most_receives != most_receives)
    all.push_back(fmt::format("its maxReceiveCount is {}: set it to {}", *queue.most_receives,
                              most_receives));
}

}  // namespace

QueueFacts queue_facts(std::string_view answer) {
  QueueFacts facts;
  const auto attributes = Json(answer).find("Attributes");
  if (!attributes) return facts;
  facts.arn = attributes->text_of("QueueArn");
  if (const auto seconds = attributes->find("MessageRetentionPeriod"); seconds && seconds->number())
    facts.retention = std::chrono::seconds(*seconds->number());
  const std::string policy = attributes->text_of("RedrivePolicy");
  if (!is_object(policy)) return facts;
  const Json redrive(policy);
  facts.dead_letter_arn = redrive.text_of("deadLetterTargetArn");
  if (const auto most = redrive.find("maxReceiveCount")) facts.most_receives = most->number();
  return facts;
}

std::vector<std::string> differences(const ports::QueueWish& wish, const QueueFacts& queue,
                                     const std::optional<QueueFacts>& dead_letter,
                                     int most_receives) {
  std::vector<std::string> all;
  if (!wish.dead_letter) return all;
  const std::string& wished = wish.dead_letter->routing_key;
  if (is_fifo(wish.name) != is_fifo(wished))
    all.push_back(fmt::format("its dead-letter queue {} must be {} one, as it is itself",
                              quoted(wished), is_fifo(wish.name) ? "a FIFO" : "a standard"));
  compare_redrive(queue, wished, most_receives, all);
  if (!dead_letter) {
    all.push_back(fmt::format(
        "its dead-letter queue {} is missing: create it, or set create = true", quoted(wished)));
  } else if (dead_letter->retention <= queue.retention &&
             dead_letter->retention < kLongestRetention) {
    all.push_back(fmt::format(
        "{} keeps messages for {}, and it for {}: set the MessageRetentionPeriod of {} to {} "
        "(14 days), since messages keep their age",
        quoted(wished), format_duration(dead_letter->retention), format_duration(queue.retention),
        quoted(wished),
        std::chrono::duration_cast<std::chrono::seconds>(kLongestRetention).count()));
  }
  return all;
}

// One topology, queue by queue.
struct Topologies::Work {
  std::vector<ports::QueueWish> wishes;
  std::size_t at = 0;
  ports::Opened opened = {};
  Then then;
};

void Topologies::open(ports::Topology topology, Then then) {
  for (const ports::QueueWish& wish : topology.queues) {
    wishes_.insert_or_assign(wish.name, wish);
    if (wish.dead_letter) dead_letters_.insert(wish.dead_letter->routing_key);
  }
  next(std::make_shared<Work>(Work{.wishes = std::move(topology.queues), .then = std::move(then)}));
}

void Topologies::make_sure(const std::string& queue, std::move_only_function<void()> then) {
  const auto known = wishes_.find(queue);
  if (known == wishes_.end() || !api_.options().create) return then();
  next(std::make_shared<Work>(
      Work{.wishes = {known->second},
           .then = [then = std::move(then)](const Result<ports::Opened>&) mutable { then(); }}));
}

void Topologies::next(std::shared_ptr<Work> work) {
  if (work->at == work->wishes.size()) {
    api_.loop().post([work = std::move(work)] { work->then(std::move(work->opened)); });
    return;
  }
  const ports::QueueWish& wish = work->wishes[work->at];
  if (!wish.dead_letter) return with_dead_letter(std::move(work), std::nullopt);
  const std::string dead_letter = wish.dead_letter->routing_key;
  look(dead_letter, true, std::nullopt, [this, work](Facts facts) {
    if (!facts) return work->then(std::unexpected(facts.error().error("open")));
    with_dead_letter(work, *std::move(facts));
  });
}

void Topologies::with_dead_letter(std::shared_ptr<Work> work,
                                  std::optional<QueueFacts> dead_letter) {
  const std::string queue = work->wishes[work->at].name;
  std::optional<std::string> arn;
  if (dead_letter && !dead_letter->arn.empty()) arn = dead_letter->arn;
  look(queue, dead_letters_.contains(queue), std::move(arn),
       [this, work = std::move(work), dead_letter = std::move(dead_letter)](const Facts& facts) {
         if (!facts) return work->then(std::unexpected(facts.error().error("open")));
         const ports::QueueWish& wished = work->wishes[work->at];
         if (!*facts)
           return found(work, {"there is no such queue: create it, or set create = true"});
         found(work, differences(wished, **facts, dead_letter, api_.options().most_receives));
       });
}

void Topologies::found(std::shared_ptr<Work> work, const std::vector<std::string>& details) {
  ports::Opened::One one{.queue = work->wishes[work->at].name};
  if (!details.empty()) {
    one.found = ports::QueueFound::otherwise;
    one.detail = fmt::format("{}", fmt::join(details, "; "));
    warn(one.queue, one.detail);
  }
  work->opened.queues.push_back(std::move(one));
  ++work->at;
  next(std::move(work));
}

void Topologies::warn(const std::string& queue, const std::string& detail) {
  if (!warned_.insert(queue + ": " + detail).second) return;
  api_.log().log(Level::warning, "broker.queue_otherwise",
                 "A queue is not as it should be, and is used as it is.",
                 {{"broker", api_.options().at.text()}, {"queue", queue}, {"error", detail}});
}

void Topologies::look(const std::string& queue, bool is_dead_letter,
                      std::optional<std::string> redrive_arn, FactsThen then) {
  read(queue, [this, queue, is_dead_letter, redrive_arn = std::move(redrive_arn),
               then = std::move(then)](Facts facts) mutable {
    const bool is_missing = facts && !*facts;
    if (!is_missing || !api_.options().create || !is_queue_name(queue))
      return then(std::move(facts));
    create(queue, is_dead_letter, redrive_arn, std::move(then));
  });
}

void Topologies::read(const std::string& queue, FactsThen then) {
  queues_.call(
      {.queue = queue, .operation = "GetQueueAttributes", .members = R"("AttributeNames":["All"])"},
      [then = std::move(then)](const Answer& answer) mutable {
        if (answer) return then(queue_facts(*answer));
        if (answer.error().kind == Trouble::Kind::no_queue) return then(std::nullopt);
        then(std::unexpected(answer.error()));
      });
}

void Topologies::create(const std::string& queue, bool is_dead_letter,
                        const std::optional<std::string>& redrive_arn, FactsThen then) {
  const auto seconds = [](Duration span) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(span).count());
  };
  std::string body;
  wire::JsonWriter writer(body);
  writer.begin_object().key("QueueName").text(queue).key("Attributes").begin_object();
  writer.key("VisibilityTimeout").text(seconds(api_.options().visibility_timeout));
  if (is_fifo(queue)) writer.key("FifoQueue").text("true");
  if (is_dead_letter) writer.key("MessageRetentionPeriod").text(seconds(kLongestRetention));
  if (redrive_arn)
    writer.key("RedrivePolicy").text(redrive_policy(*redrive_arn, api_.options().most_receives));
  writer.end_object().end_object();
  api_.call({.operation = "CreateQueue",
             .body = std::move(body),
             .timeout = api_.options().request_timeout},
            [this, queue, then = std::move(then)](const Answer& answer) mutable {
              // Somebody else may have made it just now, in another way: it is used as it is.
              if (!answer && answer.error().code != "QueueNameExists" &&
                  answer.error().code != "QueueAlreadyExists")
                return then(std::unexpected(answer.error()));
              read(queue, std::move(then));
            });
}

}  // namespace holdfast::brokers::sqs
