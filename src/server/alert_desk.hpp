#pragma once

#include <memory>
#include <string>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "io/address_guard.hpp"
#include "io/http_client.hpp"
#include "node/node.hpp"
#include "seeing/alert_rule.hpp"
#include "seeing/watch.hpp"
#include "server/alert_sender.hpp"

namespace holdfast::server {

// Looks at what was seen from time to time, and tells of what is wrong: in the log, as an event, in
// the statistics, and to the webhook of the configuration.
//
// Threads: the loop's. The node, the client and the watch must outlive it.
class AlertDesk {
 public:
  struct Parts {
    node::Node& node;
    io::HttpClient& client;
    std::shared_ptr<const io::AddressGuard> guard;
    seeing::Watch& watch;
    Logger log = {};
    std::string public_url = {};  // of this server, for people
  };
  explicit AlertDesk(Parts parts);

  // Begins, or goes on, with these settings. Fails, and changes nothing, for a secret that is none.
  [[nodiscard]] Result<void> set(const config::Alerts& settings);

  // Sends a message to the webhook of the configuration as alerts are sent: signed, in their order,
  // and again and again. Without a webhook, nobody is told.
  void send(std::string json);

 private:
  void look_later();
  void look();
  void looked(const ports::Count::Answer& queues);
  void tell(const seeing::Alert& alert);

  const Parts parts_;
  config::Alerts settings_ = {};
  seeing::AlertRule rule_{seeing::AlertThresholds()};
  Duration every_ = std::chrono::minutes(1);
  std::unique_ptr<AlertSender> sender_;
  std::unique_ptr<ports::Loop::Timer> timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::server
