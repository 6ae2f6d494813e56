#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/floor.hpp"
#include "ports/broker.hpp"

namespace holdfast::engine {

// Looks after the dead letters of one queue (C3): gives them up, or brings back those that ask for
// it. The records in the store are what counts. Where a broker carries the queue, its messages are
// what has a record looked at, one by one; and since a message may be missing, the store is looked
// at as well, for what is dead for longer than a message takes.
//
// Each step can be done again: the record is changed first, the message acknowledged second. So
// whatever comes between leaves a message whose task has ended, and that is acknowledged (C3.7).
//
// What it writes to the log is an interface; docs/dead-letters.md has the phrases.
class DeadLetterConsumer final : private ports::Receiver {
 public:
  struct Hooks {
    // The store has carried it out; the record is as it was before.
    std::function<void(const ports::TaskRecord&, const core::Transition&)> carried;
    // How the dead letters of another queue are to be dealt with, whose messages lie in the same
    // dead-letter queue; nothing: they are to be kept.
    std::function<const DeadLetters*(const std::string& queue)> rule_of;
  };

  DeadLetterConsumer(Floor& floor, DeadLetters rule, Hooks hooks);
  ~DeadLetterConsumer() override;
  DeadLetterConsumer(const DeadLetterConsumer&) = delete;
  DeadLetterConsumer& operator=(const DeadLetterConsumer&) = delete;

  // After the carrier of its queue, if there is one.
  void start();
  // Takes nothing on any more; what is under way comes to its end, and what is not acknowledged
  // then goes back to the broker.
  void stop();

  [[nodiscard]] bool is_stopping() const noexcept { return stopping_; }
  [[nodiscard]] bool has_stopped() const noexcept { return stopped_; }
  // Nothing will be heard of any more: it may go before the engine does.
  [[nodiscard]] bool may_go() const noexcept { return stopped_ && under_way_ == 0; }
  [[nodiscard]] const DeadLetters& rule() const noexcept { return rule_; }

 private:
  // A dead letter at hand: a message, or a record that was found dead.
  struct Letter {
    TaskId id;
    std::optional<ports::DeliveryTag> tag = {};  // nothing: it was found in the store
    std::optional<core::Token> died = {};        // with which token, if the message says so
    int attempts = 0;  // that were spent when the message was made, as far as it says
    int tried = 0;     // how often it was delivered or run in vain, likewise
    int looks_left = 8;
  };
  // What is to be done with the task of a letter, in this order.
  struct Decision {
    std::vector<core::Transition> steps;
    bool redrives = false;
  };

  void received(std::vector<ports::Delivery> deliveries) override;
  void interrupted(const Error& why) override;
  void consuming() override {}

  void poll();
  void survey();
  void look_at_page(const std::string& cursor);
  void page_found(const ports::List::Answer& page);
  void survey_ended();

  void take(Letter letter);
  void look(Letter letter);
  void found(Letter letter, ports::Find::Answer record);
  [[nodiscard]] bool is_stale(const Letter& letter, const ports::TaskRecord& record) const;
  [[nodiscard]] Decision decide(const Letter& letter, const ports::TaskRecord& record,
                                const DeadLetters& rule) const;
  [[nodiscard]] Result<std::vector<core::Transition>> redrive(
      const Letter& letter, const ports::TaskRecord& record) const;
  void carry_out(Letter letter, ports::TaskRecord record, Decision decision);
  void carried_out(const Letter& letter, ports::TaskRecord record, const Decision& decision);

  void delete_message(const Letter& letter);
  void delete_message(const Letter& letter, Level level, std::string_view event,
                      const std::string& why);
  void keep_message(const Letter& letter);
  void try_later(const Letter& letter, std::string_view operation, const Error& error);
  void pass_over(const ports::DeliveryTag& tag, std::string_view why);
  void end(const Letter& letter);

  void log_received(std::size_t count) const;
  void close_if_idle();
  void closed();

  Floor& floor_;
  const DeadLetters rule_;
  const Hooks hooks_;

  std::shared_ptr<ports::Broker> broker_;  // that carries the queue, if one does
  std::optional<ports::ConsumerId> consumer_;
  std::vector<Letter> later_;  // messages for the next poll
  bool warned_ = false;        // that messages are kept which are not ours to decide about

  std::size_t under_way_ = 0;  // letters that are looked at, and questions to the store
  bool surveying_ = false;
  std::size_t of_page_ = 0;  // letters of the page that is looked at
  std::string next_page_;

  bool started_ = false;
  bool stopping_ = false;
  bool gave_up_ = false;  // on the store's last words
  bool closing_ = false;
  bool stopped_ = false;
  std::unique_ptr<ports::Loop::Timer> poll_timer_;
  std::unique_ptr<ports::Loop::Timer> close_timer_;
};

using DeadLetterConsumers = std::vector<std::unique_ptr<DeadLetterConsumer>>;

}  // namespace holdfast::engine
