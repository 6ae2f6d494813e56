#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "ports/broker.hpp"
#include "ports/loop.hpp"
#include "recovery/backup.hpp"
#include "recovery/copy.hpp"
#include "recovery/decision.hpp"
#include "recovery/ending.hpp"
#include "recovery/identity.hpp"
#include "recovery/journal.hpp"
#include "recovery/plan.hpp"
#include "recovery/returns.hpp"
#include "recovery/summary.hpp"

namespace holdfast::recovery {

struct Options {
  std::string queue = {};  // the dead-letter queue
  std::string place = {};  // it and its broker, for the journal
  Rules rules = {};        // its run id names this run
  std::string user = {};   // that we are at the broker
  // The other broker that messages are brought back to, for people, and who we are there; empty:
  // the same.
  std::string to_place = {};
  // By which the journal knows these two again, however they are named; empty: by the name of the
  // queue, and of the other broker.
  std::string key = {};
  std::string to_key = {};
  std::string to_user = {};
  // Most messages under way at once. 1: one at a time, each acknowledged before the next (V4).
  std::size_t window = 2000;
  std::optional<std::uint64_t> limit = {};  // most messages that are brought back
  // Most messages that are sent to be recovered, however many are kept: the first step of a canary.
  std::optional<std::uint64_t> trial = {};
  double rate = 0;               // a second; 0: as fast as it goes
  bool dry = false;              // look, and leave all as it is
  std::string park = {};         // the queue for what is kept; empty: where it is
  bool persistent = false;       // make copies persistent, whatever the original was
  bool keep_expiration = false;  // copies expire as their originals did
  // What is left in the queue is returned, which some queues count. At this count it is put at the
  // end of the queue as a new message instead; earlier, if the queue's limit says so (returns.hpp).
  std::int64_t renew_at = 3;
  // The delivery limit of the queue, where it cannot be found out.
  std::optional<StatedLimit> delivery_limit = {};
  std::uint64_t most_bytes = std::uint64_t{16}
                             << 20;  // of messages under way, and one more message
  Limits limits = {};
  Duration grace = std::chrono::seconds(10);  // for what is under way at the end
};

// Something that people should know while a run goes on.
struct Warning {
  enum class Kind : std::uint8_t { skipped, failed, connection, queue };
  Kind kind = Kind::queue;
  std::string text;
};

// Hears of one run. On the loop.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void found(std::uint64_t messages) = 0;
  virtual void warned(const Warning& warning) = 0;   // of kept messages, only the first few
  virtual void moved(const Summary& so_far) = 0;     // several times a second
  virtual void told(const std::string& /*text*/) {}  // what it does now, and why that takes a while
  virtual void looked(const Letter& /*letter*/) {}   // of a dry run: at each message
  // A copy of it is about to be, where it is brought back to.
  virtual void sending(const ports::Message& /*original*/) {}
};

// One recovery: takes messages from a dead-letter queue, publishes a copy of each to where it
// belongs, and acknowledges the original when the broker has confirmed the copy and not returned it
// (V1). Whatever else happens, the original stays (V2); a message that cannot be brought back is
// held until the end, so that it is seen once and does not stand in the way of others (trap 2).
//
// Order: copies are published in the order of the queue, and those for one target arrive in it.
// After a connection was lost, what was not confirmed is sent again in that order, and may come
// behind what was under way with it.
//
// Memory: the messages under way and a bounded memory of the last copies; what is kept is counted,
// and stays at the broker.
//
// Threads: the loop's. All parts must outlive it, but the broker, which must be gone before it is:
// no callback may come to a run that is no more.
class Run final : private ports::Receiver {
 public:
  struct Parts {
    ports::Broker& broker;
    ports::Loop& loop;
    Clock& clock;
    Random& random;
    Observer& observer;
    Journal* journal = nullptr;
    Backup* backup = nullptr;                   // of all that leaves the queue, before it does
    const RestoredEntries* restored = nullptr;  // of a restore: what was restored before
    EarlierCopies earlier = {};                 // of runs that did not end cleanly
    // Where messages are brought back to; none: the same broker. What is parked or renewed stays at
    // the first.
    ports::Broker* to = nullptr;
  };
  struct Outcome {
    Summary summary = {};
    Plan plan = {};  // of a dry run
    // Of those kept and not chosen: what was parked or renewed, and so is not met again by a run of
    // the same id.
    Counts failed_for_good = {};
    Counts skipped_for_good = {};
    std::uint64_t passed_for_good = 0;
  };

  Run(Parts parts, Options options);
  ~Run() override;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Of a queue with a delivery limit it takes no message before the broker has shown that it takes
  // copies, and does not end while a message is in hand whose next return would be its end.
  //
  // Once. `done` is called on the loop when it is over, as the last thing that the run does.
  void start(std::move_only_function<void(Outcome)> done);
  // Takes no more, and waits for what is under way, for its grace at most.
  void stop();
  // Messages in hand that their queue has ended if the run is destroyed now.
  [[nodiscard]] std::size_t at_their_limit() const;
  // The broker connects no more.
  void give_up(const Error& why);

 private:
  // A message on its way.
  struct Entry {
    enum class Purpose : std::uint8_t {
      recover,
      discard,  // nowhere
      park,     // into the review queue
      renew,    // to the end of its own queue
    };
    ports::Delivery delivery = {};
    Purpose purpose = Purpose::recover;
    ports::Address to = {};
    std::string type = {};
    Identity identity = {};
    std::int64_t deliveries = 0;
    bool failed = false;       // of what is kept: it was sent, and not taken
    bool passed = false;       // of what is kept: nobody has asked for it
    bool looked = false;       // by a dry run, which has counted it
    bool again = false;        // was renewed by this run before, and counted then
    bool doubt = false;        // a copy may be there already
    bool counted = false;      // as recovered, before
    bool redelivered = false;  // it was delivered before, and not to this run
    bool stored = false;       // in the backup
    bool unknown = false;      // a copy of this run was sent, and nobody knows what became of it
    std::string why = {};      // of what is kept

    [[nodiscard]] const ports::DeliveryTag& tag() const { return delivery.tag; }
  };

  struct Kept {
    Counts failed;
    Counts skipped;
    Counts unreadable;  // of skipped
    std::uint64_t passed = 0;
    std::uint64_t held = 0;   // messages, all of them
    std::uint64_t again = 0;  // beside them: renewed by this run, and seen once more
  };

  void received(std::vector<ports::Delivery> deliveries) override;
  void interrupted(const Error& why) override;
  void consuming() override;
  void refused(const Error& why) override;
  void unreadable(const std::string& why) override;

  // Before the first message.
  struct NeededQueue {
    ports::Broker& at;
    std::string name;
  };
  void check_queues(std::vector<NeededQueue> queues);
  void check_returns();
  void prove_publishing(int times);
  void begin_consuming();
  void note_found(std::uint64_t messages);

  // What becomes of one message.
  void take_all(std::vector<ports::Delivery> deliveries);
  void take(ports::Delivery delivery);
  void look(const Letter& letter, const Decision& decision, ports::Delivery&& delivery);
  void bring_back(Entry entry, ports::Delivery delivery);
  [[nodiscard]] bool is_done_already(Entry& entry);
  void put_elsewhere(Entry entry, Entry::Purpose purpose, const std::string& queue);
  [[nodiscard]] static bool has_a_time_of_death(const ports::Message& message);
  void count_taken();
  void count_trial();
  void hold_again(const Letter& letter, ports::Delivery delivery);
  void keep(Entry entry);
  void leave(Entry entry);
  void enqueue(Entry entry);

  // The backup (run_backup.cpp).
  [[nodiscard]] bool store(std::span<Entry> entries);
  [[nodiscard]] std::vector<Entry> without_what_was_not_stored(std::vector<Entry> batch);
  [[nodiscard]] bool was_restored(Entry& entry);
  [[nodiscard]] std::string entry_of(const Entry& entry) const;

  // Of queues that destroy what is returned too often.
  [[nodiscard]] bool is_last(const Entry& entry) const;
  [[nodiscard]] bool has_what_must_go() const;
  void rescue(ports::Delivery delivery, std::int64_t deliveries);
  void rescue_or_drop_what_waits();
  void rescue_what_was_lost();
  void rescue_orphan(Entry entry);
  [[nodiscard]] static bool is_void(const ports::DeliveryTag& tag);
  void put_aside(Entry entry);
  void try_what_is_put_aside();
  void resize_window(bool changed);

  // Sending, and what comes of it.
  void pump();
  void send_all(std::vector<Entry> batch);
  void send(Entry entry);
  void discard(Entry entry);
  void sent(ports::DeliveryTag tag, const ports::Sent& sent);
  void sent_for_nobody(ports::DeliveryTag tag, const ports::Sent& sent);
  void confirmed(Entry entry);
  void not_taken(Entry entry, const ports::Sent& sent);
  [[nodiscard]] bool may_pass(const ports::Sent& sent) const;
  void in_trouble(Entry entry, const ports::Sent& sent);
  void send_again();
  void count_recovered(const Entry& entry);
  void count_kept_elsewhere(const Entry& entry, std::string_view event);
  void acknowledge(ports::DeliveryTag tag);
  void settle_soon();
  void settle();

  // Time.
  void tick();
  void tick_later();
  void look_at_depth(SteadyTime now);
  void look_whether_deleted(SteadyTime now);
  void end_without_queue();
  void note_depth(const ports::Depth& depth, std::uint64_t received_before);
  [[nodiscard]] bool is_known(const ports::Depth& depth) const;
  void refresh_summary();
  [[nodiscard]] bool is_quiet() const;
  [[nodiscard]] bool may_send(SteadyTime now);
  void progressed();
  // Where messages are brought back to.
  [[nodiscard]] ports::Broker& target() const { return parts_.to ? *parts_.to : parts_.broker; }
  [[nodiscard]] std::string at_target() const;
  [[nodiscard]] Identity copy_identity(const Entry& entry) const;

  // The end.
  void end(Ended why, std::optional<Error> error = {});
  void drain();
  void close_when_idle();
  void close_after_grace();
  void close();
  void check_targets(std::vector<Plan::Target> targets);
  void count_doubts();
  void ask_what_is_left();
  void nothing_is_left();
  [[nodiscard]] bool may_be_what_is_left(const ports::Depth& depth) const;
  [[nodiscard]] std::uint64_t gone() const;
  void reconcile();
  void finish();

  static void tally(Kept& kept, const Entry& entry);
  void note(const Note& note);
  void write_journal();
  void warn(Warning::Kind kind, std::string text);
  [[nodiscard]] std::uint64_t handled() const;

  const Parts parts_;
  const Options options_;
  const Marks marks_;
  Marks target_marks_;
  std::move_only_function<void(Outcome)> done_;

  std::optional<ports::ConsumerId> consumer_;
  bool consuming_ = false;
  std::uint64_t life_ = 1;      // of its connection
  bool is_plain_ = false;       // the queue
  std::uint64_t received_ = 0;  // that do not come again

  std::deque<Entry> waiting_;                      // for their turn, in the order of the queue
  std::map<ports::DeliveryTag, Entry> in_flight_;  // sent, and not answered
  std::map<ports::DeliveryTag, Entry> troubled_;   // to be sent again, before those that wait
  std::map<ports::DeliveryTag, Entry> nobodys_;    // sent, and their delivery is void by now
  std::vector<ports::Delivery> deferred_;          // until it is known what became of those
  std::deque<Entry> put_aside_;  // must not be returned, and the queue takes no new copy of them
  std::vector<ports::DeliveryTag> to_acknowledge_;
  std::string journal_lines_;
  bool backup_begun_ = false;
  bool settling_ = false;
  std::uint64_t taken_ = 0;  // to be recovered or kept, whatever came of it: what a limit limits
  std::uint64_t tried_ = 0;
  int failures_ = 0;  // to send, in a row
  Duration backoff_{};
  Duration refused_for_{};  // waited because of refusals, since a connection was last lost
  bool backing_off_ = false;
  bool probing_ = false;
  bool pacing_ = false;

  Memory memory_;   // of this run
  Memory earlier_;  // of those before

  ReturnRules returns_;
  DeliveryWindow window_{1, false};
  std::uint64_t rescued_ = 0;  // of messages that a lost connection has ended: none of its tags
  std::uint64_t settled_in_life_ = 0;
  std::uint64_t settled_before_ = 0;  // in the life of the connection before
  std::optional<SteadyTime> worked_since_;
  std::uint64_t doubts_ = 0;  // copies that may be there, and whose originals were not sent again
  bool publishing_warned_ = false;
  bool ever_consumed_ = false;

  Kept gone_;                  // parked or renewed: counted for good
  Kept held_;                  // until the connection is lost: then they come again
  std::uint64_t settled_ = 0;  // acknowledged
  std::uint64_t most_handled_ = 0;
  std::uint64_t progress_life_ = 1;  // the connection's life in which something last got on
  std::uint64_t warned_skipped_ = 0;
  std::uint64_t warned_failed_ = 0;
  Summary summary_;
  Plan plan_;

  SteadyTime started_{};
  SteadyTime last_received_{};
  SteadyTime last_progress_{};
  SteadyTime next_send_{};
  std::optional<SteadyTime> empty_since_;
  std::optional<SteadyTime> caught_up_since_;
  std::optional<SteadyTime> depth_asked_;
  bool depth_under_way_ = false;
  int times_missing_ = 0;    // the queue, one answer after the other
  bool is_deleted_ = false;  // the queue, and with it what was in it

  std::optional<Ended> ending_;
  bool finishes_waiting_ = false;  // at the limit, what was chosen is still sent
  bool draining_ = false;
  bool drained_ = false;
  bool closing_ = false;
  bool waits_warned_ = false;
  std::optional<std::uint64_t> last_left_;
  int asked_what_is_left_ = 0;
  bool finished_ = false;

  std::unique_ptr<ports::Loop::Timer> tick_timer_;
  std::unique_ptr<ports::Loop::Timer> pace_timer_;
  std::unique_ptr<ports::Loop::Timer> backoff_timer_;
  std::unique_ptr<ports::Loop::Timer> grace_timer_;
  std::unique_ptr<ports::Loop::Timer> left_timer_;
  std::unique_ptr<ports::Loop::Timer> aside_timer_;
  std::unique_ptr<ports::Loop::Timer> prove_timer_;
};

}  // namespace holdfast::recovery
