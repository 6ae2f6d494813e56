#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/uuid.hpp"
#include "engine/backoff.hpp"
#include "engine/burst.hpp"
#include "engine/carriage.hpp"
#include "engine/engine.hpp"
#include "engine/floor.hpp"

namespace holdfast::engine {

// Has a broker carry one queue. The store keeps the records and is right about them; a message is
// what has a record looked at, wherever it was made.
//
// Out: what was recorded is published, confirmed, and marked as carried. A task that is put off
// goes through a queue that waits, a dead one to the dead-letter queue, both as confirmed copies of
// the message that brought it, which is acknowledged afterwards. So at every moment the broker has
// a message of a task that is not at its end, and what a crash leaves half done is done again: a
// message too many, never one too few.
//
// In: a delivered message is a ticket, by which its task can be claimed. It is held until the task
// is settled. Messages of others become tasks first (adopted).
class Carrier final : private ports::Receiver {
 public:
  struct Hooks {
    std::function<void()> news;  // there are tickets
    // Brings a dead task back whose dead letter has come back.
    std::function<void(TaskId, Engine::Decided)> replay;
  };
  Carrier(Floor& floor, Carriage carriage, Hooks hooks);
  ~Carrier() override;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  void start();
  void pause(bool paused);  // its queue was told to stand still, or to go on
  // No more deliveries.
  void stop();
  // What was at hand is settled: gives back what was not begun, and closes. True: it is done.
  [[nodiscard]] bool finish();

  [[nodiscard]] const Carriage& carriage() const noexcept { return carriage_; }

  // Tasks that the store has just accepted. `then` gets, for each, nothing or why it is not
  // published; where they are not to wait, `then` is called at once.
  struct Unpublished {
    Error error;
    bool is_recorded = false;  // it will be published all the same
  };
  using Published = std::move_only_function<void(std::vector<std::optional<Unpublished>>)>;
  void publish(const std::vector<ports::TaskRecord>& tasks, Published then);
  // The same of a task that was accepted before, and whose publication is still under way: it is
  // answered with that, so that nobody is told of a task that is taken back. False: there is none.
  using Joined = std::move_only_function<void(std::optional<Unpublished>)>;
  [[nodiscard]] bool join(const TaskId& id, Joined& then);

  // For those who claim: names what was delivered. False: nothing was.
  bool fill(ports::Claim& claim);
  void answered(const ports::Asked<ports::Claim>& asked);

  // The store has moved one of the queue's tasks.
  void moved(const Moved& moved);

 private:
  struct Held {
    ports::DeliveryTag tag;
    ports::Message message;
  };
  struct Foreign {
    ports::Delivery delivery;
    std::optional<TaskId> id;  // of a message of ours, whose record is gone
  };

  void received(std::vector<ports::Delivery> deliveries) override;
  void interrupted(const Error& why) override;
  void consuming() override;

  void open();
  void opened();
  void hold(const TaskId& id, ports::Delivery delivery);
  void adopt(std::vector<Foreign> foreign);
  void adopt_later(std::vector<Foreign> foreign, const Error& error);
  void adopted_in_vain(const std::vector<Foreign>& foreign,
                       const ports::Asked<ports::Submit>& asked);
  void adopted_one(Foreign foreign, const ports::NewTask& task,
                   const Result<ports::Submit::Accepted>& accepted);
  void judge(const ports::Claim::Left& left, WallTime now);
  void judge_dead(const ports::Claim::Left& left, const Held& held);
  void bring_back(const TaskId& id);
  void look_again(const TaskId& id);

  void acknowledge(const TaskId& id);
  void let_go(const TaskId& id);
  void put_off(const TaskId& id, const Held& held, const ports::Claim::Left& left);
  void send(const ports::TaskRecord& task, const core::Transition& transition);
  void send_found(const TaskId& id, core::State to);
  void add(Burst::Item item);
  void flush();
  using Ended = std::function<void(std::vector<Burst::Item>)>;
  void burst(std::vector<Burst::Item> items, Ended ended);
  void confirmed(const Burst::Item& item);
  void failed(const std::vector<Burst::Item>& items);
  void answer(std::vector<Burst::Item> items, Published then);
  void mark(ports::Held task);
  void mark_all();

  void sweep();
  void sweep_page(const std::string& cursor, std::optional<WallTime> due_before);
  void swept(const ports::Uncarried::Answer& page, std::optional<WallTime> due_before);
  void sweep_after(Duration wait);
  void look_for_lost();
  void look_at_held();
  void give_tickets_back();
  [[nodiscard]] bool is_message_of(const TaskId& id) const;
  void tell(const TaskId& id, const std::optional<Unpublished>& outcome);

  [[nodiscard]] Burst::Item item_for(const ports::TaskRecord& task,
                                     const core::Transition& transition) const;

  Floor& floor_;
  const Carriage carriage_;
  const Hooks hooks_;
  std::optional<ports::ConsumerId> consumer_;
  bool stopped_ = false;
  bool closing_ = false;
  bool closed_ = false;
  std::uint64_t line_ = 0;        // connections that were lost
  bool is_open_ = false;          // the queues were made sure of, or that takes too long
  std::set<std::string> warned_;  // queues that are otherwise than wished

  std::unordered_map<TaskId, Held> held_;  // every delivery at hand that is of a task
  std::deque<TaskId> tickets_;             // of these, whose tasks nobody has claimed yet
  std::vector<TaskId> claimed_elsewhere_;  // of these, whose tasks run and are not ours
  // Of a lost connection: messages without an id that were adopted, to be known again by their
  // content when they are delivered again.
  std::multimap<std::string, TaskId> nameless_;
  std::unordered_map<TaskId, std::string> nameless_held_;  // task to content

  UuidSource ids_;

  std::vector<Burst::Item> gathered_;  // to be published in the next burst
  struct Sending {
    core::Token token;
    std::optional<ports::DeliveryTag> moves;
    bool answers = false;  // somebody waits for it, and it may be taken back
  };
  std::unordered_map<TaskId, Sending> sending_;  // messages under way, or about to be
  std::vector<std::shared_ptr<Burst>> bursts_;
  std::unordered_multimap<TaskId, Joined> joined_;
  std::vector<ports::Held> marks_;
  std::size_t marking_ = 0;
  std::size_t finding_ = 0;  // records asked for, to be sent when they are there
  bool flush_posted_ = false;

  bool sweeping_ = false;
  bool behind_ = false;  // something is left for the sweep
  std::unique_ptr<ports::Loop::Timer> open_timer_;
  std::unique_ptr<ports::Loop::Timer> sweep_timer_;
  std::unique_ptr<ports::Loop::Timer> adopt_timer_;
  std::unique_ptr<ports::Loop::Timer> lost_timer_;
  std::unique_ptr<ports::Loop::Timer> close_timer_;
  std::vector<Foreign> to_adopt_;  // which the store did not take yet
  Backoff backoff_;
  bool was_empty_ = false;
  // When the latest message was sent that has been delivered: what was due long before it should
  // have come before it.
  std::optional<WallTime> reached_;
  std::unordered_map<TaskId, WallTime> sent_again_;  // what was taken for lost, and when
  bool out_of_time_ = false;
};

}  // namespace holdfast::engine
