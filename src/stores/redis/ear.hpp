#pragma once

#include <memory>
#include <string>

#include "ports/news.hpp"
#include "stores/redis/session.hpp"

namespace holdfast::stores::redis {

// Listens on one channel of the server, on a thread and a connection of its own. Each message is
// the name of a queue. A connection that was lost is made again, for ever. `any` is told with every
// subscription, also the first: what was published before it went to nobody. That somebody listens
// on the channel is how others know that this process is alive (N8), so it listens from the start,
// whether anybody wants to hear of it or not.
class Ear final : public ports::News {
 public:
  Ear(SessionOptions options, std::string channel);
  ~Ear() override;  // not while told

  // Waits until who was told before has returned, unless he is the one who calls.
  void listen(Told told) override;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace holdfast::stores::redis
