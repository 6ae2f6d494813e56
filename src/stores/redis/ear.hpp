#pragma once

#include <memory>
#include <string>

#include "ports/news.hpp"
#include "stores/redis/session.hpp"

namespace holdfast::stores::redis {

// Listens on one channel of the server, on a thread and a connection of its own. Each message is
// the name of a queue. A connection that was lost is made again, with the store's own waits, and
// `any` is told then. That somebody listens on the channel is how others know that this process is
// alive (N8), so it listens from the start, whether anybody wants to hear of it or not.
class Ear final : public ports::News {
 public:
  Ear(SessionOptions options, std::string channel);
  ~Ear() override;

  void listen(Told told) override;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace holdfast::stores::redis
