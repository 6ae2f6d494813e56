#include "brokers/sqs/sender.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "brokers/sqs/text.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::brokers::sqs {
namespace {

using ports::Fate;
using ports::Sent;

constexpr std::size_t kMostLookedAhead = 500;

Sent refused(std::string why) {
  return {Fate::refused, Error{ErrorCode::invalid_argument, "publish", std::move(why)}};
}

void write_attributes(wire::JsonWriter& writer, const std::vector<Attribute>& attributes) {
  writer.key("MessageAttributes").begin_object();
  for (const Attribute& attribute : attributes) {
    writer.key(attribute.name).begin_object().key("DataType").text(attribute.type);
    if (attribute.type.starts_with("Binary"))
      writer.key("BinaryValue").plain(base64(attribute.value));
    else
      writer.key("StringValue").text(attribute.value);
    writer.end_object();
  }
  writer.end_object();
}

}  // namespace

Sender::Sender(Api& api, Queues& queues)
    : api_(api),
      queues_(queues),
      policy_(request_policy(api.options(), api.clock())),
      ids_(system_random()) {}

void Sender::publish(const ports::Outgoing& outgoing, Then then) {
  const std::string queue = outgoing.to.routing_key;
  auto letter = letter_of(outgoing);
  if (!letter) {
    api_.loop().post([then = std::move(then), sent = std::move(letter).error()]() mutable {
      then(std::move(sent));
    });
    return;
  }
  (*letter)->then = std::move(then);
  lines_[queue].waiting.push_back(*std::move(letter));
  flush_later(queue);
}

std::expected<std::unique_ptr<Sender::Letter>, Sent> Sender::letter_of(
    const ports::Outgoing& outgoing) {
  if (!outgoing.to.exchange.empty())
    return std::unexpected(refused("SQS has no exchanges: name a queue"));
  const bool fifo = is_fifo(outgoing.to.routing_key);
  std::optional<WallTime> due;
  // A FIFO queue delays all of its messages or none: whoever receives it too early puts it off.
  if (outgoing.delay > (fifo ? Duration::zero() : kMostDelay))
    due = api_.clock().wall_now() + outgoing.delay;
  auto envelope = seal(outgoing.message, fifo, due);
  if (!envelope) return std::unexpected(Sent{Fate::refused, envelope.error()});
  auto letter = std::make_unique<Letter>(policy_);
  letter->envelope = *std::move(envelope);
  letter->size_bytes = letter->envelope.size_bytes();
  if (letter->size_bytes > api_.options().most_message_bytes)
    return std::unexpected(
        refused(fmt::format("the message has {} bytes as SQS counts them: {} are the most",
                            letter->size_bytes, api_.options().most_message_bytes)));
  if (fifo) {
    letter->group = group_of(outgoing.message);
    letter->once = ids_.next(api_.clock().wall_now()).text();
  } else {
    letter->delay = std::chrono::ceil<std::chrono::seconds>(
        std::clamp(outgoing.delay, Duration::zero(), kMostDelay));
  }
  return letter;
}

void Sender::flush_later(const std::string& queue) {
  if (std::exchange(lines_[queue].is_flushing, true)) return;
  api_.loop().post([this, queue] {
    lines_[queue].is_flushing = false;
    flush(queue);
  });
}

void Sender::flush(const std::string& queue) {
  Line& line = lines_[queue];
  while (line.under_way < std::max(api_.options().batches, 1)) {
    Batch batch = next_batch(line, is_fifo(queue));
    if (batch.empty()) break;
    send(queue, std::move(batch));
  }
  if (line.waiting.empty() && line.under_way == 0 && line.busy_groups.empty() && !line.is_flushing)
    lines_.erase(queue);
}

Sender::Batch Sender::next_batch(Line& line, bool is_fifo) const {
  Batch batch;
  std::size_t size_bytes = 0;
  std::set<std::string> passed;  // over: none of their groups may overtake them
  std::size_t looked_at = 0;
  for (auto at = line.waiting.begin(); at != line.waiting.end();) {
    const Letter& letter = **at;
    const bool is_full =
        batch.size() == kMostBatchEntries || (!batch.empty() && batch[0]->goes_alone) ||
        (!batch.empty() && letter.goes_alone) ||
        (!batch.empty() && size_bytes + letter.size_bytes > api_.options().most_message_bytes);
    if (is_full || ++looked_at > kMostLookedAhead) break;
    if (is_fifo && (line.busy_groups.contains(letter.group) || passed.contains(letter.group))) {
      passed.insert(letter.group);
      ++at;
      continue;
    }
    size_bytes += letter.size_bytes;
    batch.push_back(std::move(*at));
    at = line.waiting.erase(at);
  }
  if (is_fifo) {
    for (const auto& letter : batch)
      line.busy_groups.insert(letter->group);
  }
  return batch;
}

void Sender::send(const std::string& queue, Batch batch) {
  ++lines_[queue].under_way;
  std::string members = "\"Entries\":";
  wire::JsonWriter writer(members);
  writer.begin_array();
  for (std::size_t at = 0; at < batch.size(); ++at) {
    const Letter& letter = *batch[at];
    writer.begin_object().key("Id").plain(std::to_string(at));
    writer.key("MessageBody").text(letter.envelope.body);
    write_attributes(writer, letter.envelope.attributes);
    if (letter.delay.count() > 0) writer.key("DelaySeconds").number(letter.delay.count());
    if (!letter.once.empty()) {
      writer.key("MessageGroupId").text(letter.group);
      writer.key("MessageDeduplicationId").text(letter.once);
    }
    writer.end_object();
  }
  writer.end_array();
  queues_.call({.queue = queue,
                .operation = "SendMessageBatch",
                .members = std::move(members),
                .is_tried_again = false},
               [this, queue, batch = std::move(batch)](const Answer& answer) mutable {
                 answered(queue, std::move(batch), answer);
               });
}

void Sender::answered(const std::string& queue, Batch batch, const Answer& answer) {
  Line& line = lines_[queue];
  --line.under_way;
  if (sends_alone(line, batch, answer)) return flush(queue);
  std::vector<EntryResult> results(batch.size());
  if (answer)
    results = entry_results(*answer, batch.size());
  else
    std::ranges::fill(results, EntryResult{.trouble = answer.error(), .body_md5 = {}});
  Batch again;
  SteadyTime when{};
  for (std::size_t at = 0; at < batch.size(); ++at) {
    const auto until = settle(lines_[queue], *batch[at], results[at]);
    if (!until) continue;
    when = std::max(when, *until);
    again.push_back(std::move(batch[at]));
    if (again.size() == 1)
      log_again(api_.options(), api_.clock(), api_.log(), "publish to " + queue,
                *results[at].trouble, *until);
  }
  if (!again.empty()) send_again(queue, std::move(again), when);
  flush(queue);
}

// All of a batch was refused, and nobody said for which of its messages: each is sent by itself.
bool Sender::sends_alone(Line& line, Batch& batch, const Answer& answer) const {
  const bool refused = !answer && answer.error().kind == Trouble::Kind::refused;
  if (!refused || batch.size() < 2) return false;
  for (auto letter = batch.rbegin(); letter != batch.rend(); ++letter) {
    (*letter)->goes_alone = true;
    release(line, **letter);
    line.waiting.push_front(std::move(*letter));
  }
  return true;
}

std::optional<SteadyTime> Sender::settle(Line& line, Letter& letter, const EntryResult& result) {
  if (!result.trouble) {
    release(line, letter);
    const bool as_sent = result.body_md5 == md5_hex(letter.envelope.body);
    const Error other{ErrorCode::corrupt, "publish", "SQS has got another body than was sent"};
    letter.then(as_sent ? Sent{Fate::confirmed, {}} : Sent{Fate::unknown, other});
    return std::nullopt;
  }
  const bool earlier = letter.may_be_there;
  letter.may_be_there = earlier || result.trouble->may_be_done();
  const auto until = letter.tries.failed(*result.trouble);
  if (until) return until;
  release(line, letter);
  letter.then(sent_of(*result.trouble, earlier));
  return std::nullopt;
}

// Together and in their order; until then their groups stay busy, so that nothing overtakes them.
void Sender::send_again(const std::string& queue, Batch batch, SteadyTime when) {
  ++lines_[queue].under_way;
  auto kept = std::make_shared<Batch>(std::move(batch));
  api_.at(when, [this, queue, kept] {
    Line& line = lines_[queue];
    --line.under_way;
    for (auto letter = kept->rbegin(); letter != kept->rend(); ++letter) {
      release(line, **letter);
      line.waiting.push_front(std::move(*letter));
    }
    flush(queue);
  });
}

void Sender::release(Line& line, const Letter& letter) {
  const auto busy = line.busy_groups.find(letter.group);
  if (busy != line.busy_groups.end()) line.busy_groups.erase(busy);
}

}  // namespace holdfast::brokers::sqs
