#include "recovery/run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/json_text.hpp"

namespace holdfast::recovery {
namespace {

using namespace std::chrono_literals;
using ports::Fate;

constexpr Duration kSlowestStep = 24h;       // between messages, however low their rate
constexpr std::uint64_t kMostWarnings = 10;  // of each kind of kept message

std::string name_of(const ports::Message& message) {
  if (message.message_id && !message.message_id->empty()) {
    return "message " + quoted(*message.message_id);
  }
  return "a message without an id";
}

std::string unroutable(const ports::Address& to) {
  if (to.exchange.empty()) return "queue " + quoted(to.routing_key) + " does not exist";
  return "no queue is bound to exchange " + quoted(to.exchange) + " for key " +
         quoted(to.routing_key);
}

bool is_transient(const ports::Message& message) {
  return message.delivery_mode.value_or(1) != 2;
}

}  // namespace

Run::Run(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      marks_{.run = options_.rules.run,
             .user = options_.user,
             .persistent = options_.persistent,
             .keep_expiration = options_.keep_expiration},
      target_marks_(marks_),
      memory_(copies_in_doubt(options_.window)),
      earlier_(parts_.earlier.confirmed.size() + parts_.earlier.in_doubt.size()) {
  for (const Identity& identity : parts_.earlier.confirmed)
    earlier_.note(identity, {.copy = Memory::Copy::confirmed});
  for (const Identity& identity : parts_.earlier.in_doubt)
    earlier_.note(identity, {.copy = Memory::Copy::unknown});
  summary_.run = options_.rules.run;
  summary_.queue = options_.queue;
  summary_.to_place = options_.to_place;
  if (parts_.to) target_marks_.user = options_.to_user;
  summary_.dry = options_.dry;
  summary_.restores = parts_.restored != nullptr;
  summary_.discards = options_.rules.routes.to == Routes::To::nowhere;
  summary_.parks_all = options_.rules.routes.to == Routes::To::review;
}

Run::~Run() = default;

// Taking.

void Run::received(std::vector<ports::Delivery> deliveries) {
  last_received_ = parts_.clock.now();
  received_ += deliveries.size();
  empty_since_.reset();
  if (nobodys_.empty()) return take_all(std::move(deliveries));
  // After a lost connection: among these are the originals of copies that the broker has not
  // answered yet. Sent again before that answer, a message would be there twice, and nobody told.
  std::ranges::move(deliveries, std::back_inserter(deferred_));
}

void Run::unreadable(const std::string& why) {
  if (ending_) return;
  warn(Warning::Kind::skipped, "a message cannot be copied and stays: " + why);
  held_.skipped.add("it cannot be copied: " + why);
  held_.unreadable.add(why);
  ++held_.held;
  progressed();
}

void Run::take_all(std::vector<ports::Delivery> deliveries) {
  for (ports::Delivery& delivery : deliveries) {
    if (!ending_) {
      take(std::move(delivery));
      continue;
    }
    // Returned with all that is left when the consumer is closed, if that does it no harm.
    const std::int64_t returns = read_letter(delivery).deliveries;
    if (returns_.is_last(returns)) rescue(std::move(delivery), returns);
  }
  pump();
}

void Run::take(ports::Delivery delivery) {
  const Letter letter = read_letter(delivery);
  resize_window(window_.delivered(returns_.is_near(letter.deliveries)));
  Decision decision = decide(letter, options_.rules, parts_.clock.wall_now());
  if (options_.dry) return look(letter, decision, std::move(delivery));
  Entry entry{.to = std::move(decision.to),
              .type = letter.type,
              .deliveries = letter.deliveries,
              .why = std::move(decision.why)};
  using enum Decision::What;
  switch (decision.what) {
    case kept_again: return hold_again(letter, std::move(delivery));
    case pass:
      entry.passed = true;
      entry.delivery = std::move(delivery);
      return leave(std::move(entry));
    case skip:
      if (!summary_.parks_all)
        warn(Warning::Kind::skipped, name_of(delivery.message) + " is kept: " + entry.why);
      entry.delivery = std::move(delivery);
      keep(std::move(entry));
      return count_taken();
    case discard: entry.purpose = Entry::Purpose::discard; break;
    case recover: break;
  }
  bring_back(std::move(entry), std::move(delivery));
}

bool Run::has_a_time_of_death(const ports::Message& message) {
  const auto deaths = ports::deaths_of(message);
  return !deaths.empty() && deaths.front().time.has_value();
}

// A message that is to go back to work; unless its copy is there already.
void Run::bring_back(Entry entry, ports::Delivery delivery) {
  entry.delivery = std::move(delivery);
  entry.identity = copy_identity(entry);
  if (is_done_already(entry)) return;
  const bool is_new = !entry.counted;
  enqueue(std::move(entry));
  if (is_new) count_taken();
  if (is_new) count_trial();
}

// Whether a copy of this run, or of one before, is where this one would go: then the message is
// only removed. It is so only for sure if it cannot be another that looks the same: it has an id,
// and the broker itself has written down when it died.
bool Run::is_done_already(Entry& entry) {
  if (was_restored(entry)) return true;
  const ports::Delivery& delivery = entry.delivery;
  const auto seen = memory_.find(entry.identity);
  entry.redelivered = delivery.redelivered && !seen;  // and not to this run
  auto known = delivery.redelivered ? seen : std::nullopt;
  // One that came since the connection was last lost is another, however much it looks the same.
  if (known && (known->life == life_ || known->copy == Memory::Copy::none)) known.reset();
  const bool ours = known.has_value();
  if (!known && delivery.redelivered) {
    known = earlier_.find(entry.identity);
    earlier_.forget(entry.identity);  // said of one message, not of the next like it
  }
  if (known) {
    const bool is_there = known->copy == Memory::Copy::confirmed;
    entry.stored = ours && !known->ambiguous;
    const bool is_sure = is_there && !known->ambiguous && has_a_time_of_death(delivery.message);
    if (is_sure && delivery.message.message_id && !delivery.message.message_id->empty()) {
      if (!store({&entry, 1})) return true;  // the run is over, and it stays
      if (!ours) ++summary_.recognised;      // else it is counted already
      note({.event = "recognised",
            .id = &delivery.message.message_id,
            .key = &entry.identity,
            .type = entry.type,
            .to = &entry.to});
      acknowledge(delivery.tag);
      return true;
    }
    entry.doubt = true;
    entry.counted = ours && is_there;
    entry.unknown = ours && known->copy == Memory::Copy::unknown;
  }
  memory_.seen(entry.identity, life_);
  return false;
}

// A copy of a message that stays is as good a copy as any: it must not be made twice unnoticed.
void Run::put_elsewhere(Entry entry, Entry::Purpose purpose, const std::string& queue) {
  entry.purpose = purpose;
  entry.identity = identity_of(entry.delivery.message, {.exchange = {}, .routing_key = queue});
  if (!is_done_already(entry)) enqueue(std::move(entry));
}

void Run::count_taken() {
  ++taken_;
  if (options_.limit && taken_ >= *options_.limit) end(Ended::limit);
}

void Run::count_trial() {
  if (options_.trial && ++tried_ == *options_.trial && !ending_) end(Ended::limit);
}

// Of a dry run. It leaves a message where it is, unless that wears it out: to be looked at and
// handed back once more may be the end of it.
void Run::look(const Letter& letter, const Decision& decision, ports::Delivery&& delivery) {
  if (decision.what == Decision::What::kept_again) return hold_again(letter, std::move(delivery));
  plan_.note(letter, decision);
  parts_.observer.looked(letter);
  const bool leaves =
      decision.what == Decision::What::recover || decision.what == Decision::What::discard;
  if (leaves) ++summary_.planned;
  if (decision.what == Decision::What::pass) ++held_.passed;
  if (decision.what == Decision::What::skip) held_.skipped.add(decision.why);
  ++held_.held;
  if (returns_.is_to_be_renewed(letter.deliveries, options_.renew_at)) {
    Entry entry{.purpose = Entry::Purpose::renew,
                .type = letter.type,
                .deliveries = letter.deliveries,
                .looked = true};
    entry.delivery = std::move(delivery);
    enqueue(std::move(entry));
  } else {
    parts_.broker.hold(*consumer_, delivery.tag);
    resize_window(window_.dealt_with(1));
  }
  // What is not chosen is no part of what is asked for, as in a run that is not dry.
  const std::uint64_t counted = summary_.planned + held_.skipped.total();
  if (options_.limit && counted >= *options_.limit) end(Ended::limit);
}

// What this run has renewed: with enough lost connections it has to be done once more.
void Run::hold_again(const Letter& letter, ports::Delivery delivery) {
  ++held_.again;
  if (!returns_.is_to_be_renewed(letter.deliveries, options_.renew_at)) {
    parts_.broker.hold(*consumer_, delivery.tag);
    resize_window(window_.dealt_with(1));
    return;
  }
  Entry entry{.purpose = Entry::Purpose::renew,
              .type = letter.type,
              .deliveries = letter.deliveries,
              .looked = true,
              .again = true};
  entry.why = ports::text_of(delivery.message.headers, kKeptBecause).value_or("");
  entry.delivery = std::move(delivery);
  enqueue(std::move(entry));
}

void Run::keep(Entry entry) {
  const bool can_send = !ending_ || finishes_waiting_;
  if (options_.park.empty() || !can_send) return leave(std::move(entry));
  put_elsewhere(std::move(entry), Entry::Purpose::park, options_.park);
}

// In the queue; handed back when the run ends, or put at its end as a new message.
void Run::leave(Entry entry) {
  const bool can_send = !ending_ || finishes_waiting_ || is_last(entry);
  const bool renews = returns_.is_to_be_renewed(entry.deliveries, options_.renew_at);
  if (entry.purpose != Entry::Purpose::renew && renews && can_send) {
    return put_elsewhere(std::move(entry), Entry::Purpose::renew, options_.queue);
  }
  if (is_last(entry)) return put_aside(std::move(entry));
  parts_.broker.hold(*consumer_, entry.tag());
  resize_window(window_.dealt_with(1));
  tally(held_, entry);
  note({.event = entry.passed ? "not_chosen" : "kept",
        .id = &entry.delivery.message.message_id,
        .key = entry.failed ? &entry.identity : nullptr,
        .type = entry.type,
        .reason = entry.why,
        .entry = entry_of(entry)});
  progressed();
}

void Run::tally(Kept& kept, const Entry& entry) {
  if (entry.looked) return;  // counted when it was
  ++kept.held;
  if (entry.passed) {
    ++kept.passed;
  } else if (entry.failed) {
    kept.failed.add(to_text(entry.to));
  } else {
    kept.skipped.add(entry.why);
  }
}

void Run::enqueue(Entry entry) {
  waiting_.push_back(std::move(entry));
}

// Sending.

void Run::pump() {
  // After trouble, one message goes ahead: behind a first that fails a second must not succeed.
  std::vector<Entry> batch;
  const auto is_clear = [&] {
    const bool is_first = in_flight_.empty() && batch.empty();
    return troubled_.empty() && !backing_off_ && (!probing_ || is_first);
  };
  while (!waiting_.empty() && is_clear() && may_send(parts_.clock.now())) {
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  send_all(std::move(batch));
}

// After their lines of the journal: a run that is killed then leaves word of what it has sent.
void Run::send_all(std::vector<Entry> batch) {
  if (!store(batch)) batch = without_what_was_not_stored(std::move(batch));
  if (parts_.journal) {
    for (const Entry& entry : batch) {
      const bool is_sent = entry.purpose != Entry::Purpose::discard;
      if (is_sent && entry.identity != Identity())
        note({.event = "sending", .key = &entry.identity, .entry = entry_of(entry)});
    }
    write_journal();
  }
  for (Entry& entry : batch) {
    // The journal could not be written, and that is the end of the run.
    const bool stays = ending_ && !finishes_waiting_ && !is_last(entry);
    if (stays) continue;
    if (entry.purpose == Entry::Purpose::discard)
      discard(std::move(entry));
    else
      send(std::move(entry));
  }
}

bool Run::may_send(SteadyTime now) {
  if (options_.rate <= 0) return true;
  if (pacing_) return false;
  if (now >= next_send_) {
    const std::chrono::duration<double> exact(1 / options_.rate);
    const auto step =
        exact < kSlowestStep ? std::chrono::duration_cast<Duration>(exact) : kSlowestStep;
    next_send_ = std::max(next_send_, now - 50ms) + step;  // late timers are made up for, a little
    return true;
  }
  pacing_ = true;
  pace_timer_ = parts_.loop.after(next_send_ - now, [this] {
    pacing_ = false;
    pump();
  });
  return false;
}

void Run::send(Entry entry) {
  ports::Outgoing outgoing;
  switch (entry.purpose) {
    case Entry::Purpose::recover:
      parts_.observer.sending(entry.delivery.message);
      outgoing.to = entry.to;
      outgoing.message = recovered_copy(read_letter(entry.delivery), target_marks_);
      break;
    case Entry::Purpose::park:
      outgoing.to = {.routing_key = options_.park};
      outgoing.message = kept_copy(entry.delivery.message, marks_, entry.why);
      break;
    case Entry::Purpose::discard: break;  // is not sent
    case Entry::Purpose::renew:
      outgoing.to = {.routing_key = options_.queue};
      outgoing.message = kept_copy(entry.delivery.message, marks_, entry.why);
      break;
  }
  if (std::exchange(entry.doubt, false)) ++summary_.duplicates;
  if (std::exchange(entry.unknown, false)) --doubts_;
  const ports::DeliveryTag tag = entry.tag();
  ports::Broker& to = entry.purpose == Entry::Purpose::recover ? target() : parts_.broker;
  in_flight_.emplace(tag, std::move(entry));
  to.publish(std::move(outgoing), [this, tag](const ports::Sent& result) { sent(tag, result); });
}

void Run::sent(ports::DeliveryTag tag, const ports::Sent& result) {
  auto node = in_flight_.extract(tag);
  if (node.empty()) return sent_for_nobody(tag, result);
  Entry entry = std::move(node.mapped());
  probing_ = may_pass(result);
  if (probing_) {
    in_trouble(std::move(entry), result);
  } else if (result.fate == Fate::confirmed) {
    confirmed(std::move(entry));
  } else {
    not_taken(std::move(entry), result);
  }
  if (!troubled_.empty()) send_again();
  pump();
  if (ending_) close_when_idle();
}

void Run::confirmed(Entry entry) {
  failures_ = 0;
  backoff_ = {};
  switch (entry.purpose) {
    case Entry::Purpose::recover: count_recovered(entry); break;
    case Entry::Purpose::discard: break;
    case Entry::Purpose::park:
      if (!entry.counted) ++summary_.parked;
      count_kept_elsewhere(entry, "parked");
      break;
    case Entry::Purpose::renew:
      if (!entry.again) ++summary_.renewed;
      count_kept_elsewhere(entry, "renewed");
      break;
  }
  if (entry.identity != Identity())
    memory_.note(entry.identity, {.copy = Memory::Copy::confirmed, .life = life_});
  acknowledge(entry.tag());
}

void Run::count_kept_elsewhere(const Entry& entry, std::string_view event) {
  if (!entry.counted) tally(gone_, entry);
  if (entry.redelivered && !entry.looked) ++summary_.redelivered;
  note({.event = event,
        .id = &entry.delivery.message.message_id,
        .key = entry.identity == Identity() ? nullptr : &entry.identity,
        .type = entry.type,
        .reason = entry.why,
        .entry = entry_of(entry)});
}

void Run::count_recovered(const Entry& entry) {
  if (!entry.counted) {
    summary_.recovered.add(to_text(entry.to));
    if (is_transient(entry.delivery.message) && !options_.persistent) ++summary_.transient;
    if (entry.redelivered) ++summary_.redelivered;
  }
  note({.event = "recovered",
        .id = &entry.delivery.message.message_id,
        .key = &entry.identity,
        .type = entry.type,
        .to = &entry.to,
        .entry = entry_of(entry)});
}

// No queue wants it, or the broker does not: the message stays (V2).
void Run::not_taken(Entry entry, const ports::Sent& result) {
  failures_ = 0;  // the broker can be reached
  backoff_ = {};
  const std::string what = result.error.message;
  switch (entry.purpose) {
    case Entry::Purpose::recover:
      entry.failed = true;
      entry.why = result.fate == Fate::returned
                      ? unroutable(entry.to) + at_target()
                      : quoted(to_text(entry.to)) + at_target() + " refuses it: " + what;
      warn(Warning::Kind::failed, name_of(entry.delivery.message) + " is kept: " + entry.why);
      // Of several queues behind an exchange one may have refused it, and another has it.
      if (result.fate == Fate::refused && !entry.to.exchange.empty()) ++summary_.duplicates;
      return keep(std::move(entry));
    case Entry::Purpose::discard: return;
    case Entry::Purpose::park:
      warn(Warning::Kind::queue, "the review queue " + quoted(options_.park) + " does not take " +
                                     name_of(entry.delivery.message) + ": it stays");
      return leave(std::move(entry));
    case Entry::Purpose::renew:
      // Whoever has deleted the queue has deleted its messages.
      if (result.fate == Fate::returned) {
        return end(Ended::failed, Error{ErrorCode::not_found, "recover",
                                        "queue " + quoted(options_.queue) + " was deleted"});
      }
      warn(Warning::Kind::queue, "queue " + quoted(options_.queue) + " takes no new copy of " +
                                     name_of(entry.delivery.message) + ": " + what);
      return leave(std::move(entry));
  }
}

// Its delivery is void since the connection was lost: the message comes again.
void Run::sent_for_nobody(ports::DeliveryTag tag, const ports::Sent& result) {
  const auto node = nobodys_.extract(tag);
  if (node.empty()) return;
  Entry& entry = node.mapped();
  const bool is_there = result.fate == Fate::confirmed;
  if (is_there || result.fate == Fate::unknown) {
    const bool recovers = entry.purpose == Entry::Purpose::recover;
    const bool is_known_again = entry.identity != Identity();
    // At the end nobody is left to know its original again: the next run sends it once more. Of one
    // that was at its limit there is no original any more.
    const bool is_only_copy = is_there && is_last(entry) && returns_.end_is_sure();
    if (!is_only_copy && !is_deleted_ && (!is_known_again || ending_)) ++summary_.duplicates;
    if (!is_only_copy && is_known_again && !ending_ && !is_there) ++doubts_;
    if (is_known_again) {
      memory_.note(
          entry.identity,
          {.copy = is_there ? Memory::Copy::confirmed : Memory::Copy::unknown, .life = life_ - 1});
      if (is_there && recovers) count_recovered(entry);
      if (is_there && !recovers) {
        if (entry.purpose == Entry::Purpose::park) ++summary_.parked;
        count_kept_elsewhere(entry, entry.purpose == Entry::Purpose::park ? "parked" : "renewed");
      }
      settle_soon();
    }
  }
  if (!is_there && is_last(entry)) rescue_orphan(std::move(entry));
  if (nobodys_.empty()) take_all(std::exchange(deferred_, {}));
  if (ending_) close_when_idle();
}

// Acknowledging, all of one turn together, and after their lines of the journal.

void Run::acknowledge(ports::DeliveryTag tag) {
  if (!is_void(tag)) to_acknowledge_.push_back(tag);
  settle_soon();
}

void Run::settle_soon() {
  if (std::exchange(settling_, true)) return;
  parts_.loop.post([this] { settle(); });
}

void Run::settle() {
  settling_ = false;
  if (finished_) return;
  write_journal();
  if (to_acknowledge_.empty()) return;
  for (const ports::DeliveryTag tag : to_acknowledge_)
    parts_.broker.acknowledge(*consumer_, tag);
  const std::size_t count = to_acknowledge_.size();
  settled_ += count;
  resize_window(window_.dealt_with(count));
  to_acknowledge_.clear();
  settled_in_life_ += count;
  last_received_ = parts_.clock.now();  // a slow rate is no lack of messages
  summary_.worked = parts_.clock.now() - worked_since_.value_or(started_);
  progressed();
}

void Run::note(const Note& note) {
  if (!parts_.journal) return;
  append_note(journal_lines_, parts_.clock.wall_now(), options_.rules.run, note);
  settle_soon();
}

// A journal that cannot be written ends the run: what is confirmed is acknowledged all the same,
// since the copy is there whatever a file says.
void Run::write_journal() {
  if (!parts_.journal || journal_lines_.empty()) return;
  const auto written = parts_.journal->append(journal_lines_);
  journal_lines_.clear();
  if (!written) end(Ended::failed, written.error());
}

void Run::warn(Warning::Kind kind, std::string text) {
  std::uint64_t* const count = kind == Warning::Kind::skipped  ? &warned_skipped_
                               : kind == Warning::Kind::failed ? &warned_failed_
                                                               : nullptr;
  if (count) {
    if (++*count > kMostWarnings + 1) return;
    if (*count == kMostWarnings + 1)
      text = "more are kept; they are counted, and not told one by one";
  }
  parts_.observer.warned({kind, std::move(text)});
}

}  // namespace holdfast::recovery
