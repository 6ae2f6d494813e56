#include "brokers/rabbitmq/mail.hpp"

#include <iterator>

namespace holdfast::brokers::rabbitmq {

void Mail::send(std::vector<Event>& events) {
  if (events.empty()) return;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = waiting_.empty();
    if (first) {
      waiting_.swap(events);
    } else {
      waiting_.insert(waiting_.end(), std::make_move_iterator(events.begin()),
                      std::make_move_iterator(events.end()));
    }
  }
  events.clear();
  if (first) loop_.post([self = shared_from_this()] { self->deliver(); });
}

void Mail::deliver() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(waiting_);
  }
  for (Event& event : events) {
    if (!take_) return;  // what it was told has ended the broker
    const Take take = take_;
    take(std::move(event));
  }
}

}  // namespace holdfast::brokers::rabbitmq
