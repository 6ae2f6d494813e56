#include "server/broker_choice.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "brokers/sqs/sqs.hpp"

namespace holdfast::server {
namespace {

namespace rabbitmq = brokers::rabbitmq;
namespace sqs = brokers::sqs;

bool is_sqs(std::string_view url) {
  return url.starts_with("sqs:");
}

std::string in_lower_case(std::string name) {
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

// This machine has several.
std::string one_name_of(rabbitmq::Host host) {
  host.name = in_lower_case(std::move(host.name));
  if (host.name == "localhost" || host.name == "::1") host.name = "127.0.0.1";
  return host.text();
}

Result<BrokerPlace> rabbitmq_place(const std::string& url, bool names_queue) {
  auto location = rabbitmq::parse_location(url, names_queue);
  if (!location) return std::unexpected(std::move(location).error());
  if (names_queue && location->queue.empty()) {
    return fail(ErrorCode::invalid_argument, "broker",
                "the URL names no queue: it is the last part, amqp://host/vhost/queue, and the "
                "vhost / is written %2f");
  }
  const auto names = [](const std::vector<rabbitmq::Host>& hosts) {
    std::string text;
    for (const rabbitmq::Host& host : hosts)
      text += (text.empty() ? "" : ", ") + host.text();
    return text;
  };
  auto hosts = location->hosts();
  BrokerPlace place{.kind = BrokerPlace::Kind::rabbitmq,
                    .queue = location->queue,
                    .user = location->user,
                    .names_user = location->names_user,
                    .text = location->text(),
                    .name = "RabbitMQ at " + names(hosts),
                    .vhost = location->vhost};
  std::ranges::transform(hosts, std::back_inserter(place.hosts), one_name_of);
  location->user = rabbitmq::Location().user;
  // In whatever order and case its hosts are named.
  for (rabbitmq::Host& host : hosts)
    host.name = in_lower_case(std::move(host.name));
  std::ranges::sort(hosts, {}, &rabbitmq::Host::text);
  location->host = hosts.front().name;
  location->port = hosts.front().port;
  location->others.assign(hosts.begin() + 1, hosts.end());
  place.key = location->text();
  location->queue.clear();
  place.broker = location->text();
  return place;
}

Result<std::unique_ptr<ports::Broker>> open_rabbitmq(ports::Loop& loop,
                                                     const BrokerSettings& settings,
                                                     const Logger& log) {
  // With or without a queue at its end: the rest is read alike.
  auto at = rabbitmq::parse_location(settings.url, settings.names_queue);
  if (!at) return std::unexpected(std::move(at).error());
  rabbitmq::Options options{.at = *std::move(at),
                            .ca_file = settings.ca_file,
                            .cert_file = settings.cert_file,
                            .key_file = settings.key_file,
                            .client = settings.client,
                            .management = settings.management,
                            .management_setting = settings.management_setting,
                            .asks_management = settings.asks_management,
                            .connect_attempts = settings.connect_attempts,
                            .connect_wait = settings.connect_wait,
                            .on_gave_up = settings.on_gave_up,
                            .observer = settings.observer};
  if (auto checked = rabbitmq::check_files(options); !checked)
    return std::unexpected(std::move(checked).error());
  if (settings.blocked_patience) options.blocked_patience = *settings.blocked_patience;
  return rabbitmq::open(loop, std::move(options), log);
}

Result<BrokerPlace> sqs_place(const std::string& url, bool names_queue) {
  auto location = sqs::parse_location(url);
  if (!location) return std::unexpected(std::move(location).error());
  if (names_queue && location->queue.empty()) {
    return fail(ErrorCode::invalid_argument, "broker",
                "the URL names no queue: it is the last part, sqs://region/queue");
  }
  BrokerPlace place{.kind = BrokerPlace::Kind::sqs,
                    .queue = location->queue,
                    .text = location->text(),
                    .key = location->text(),
                    .name = "SQS in " + location->region};
  location->queue.clear();
  place.broker = location->text();
  return place;
}

// Where other tools of AWS would ask, unless we were told.
std::string sqs_endpoint(const std::string& told) {
  if (!told.empty()) return told;
  const io::Environment environment = io::system_environment();
  for (const char* name : {"AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL"}) {
    if (auto found = environment(name)) return *std::move(found);
  }
  return {};
}

Result<std::unique_ptr<ports::Broker>> open_sqs(ports::Loop& loop, const BrokerSettings& settings,
                                                const Logger& log) {
  auto at = sqs::parse_location(settings.url);
  if (!at) return std::unexpected(std::move(at).error());
  sqs::Options options{.at = *std::move(at),
                       .endpoint = sqs_endpoint(settings.endpoint),
                       .ca_file = settings.ca_file,
                       .client = settings.client,
                       .visibility_timeout = settings.visibility,
                       .create = settings.create,
                       .most_receives = settings.max_receives,
                       .poll_wait = settings.poll_wait,
                       .connect_attempts = settings.connect_attempts,
                       .connect_wait = settings.connect_wait,
                       .on_gave_up = settings.on_gave_up,
                       .observer = settings.observer};
  options.credentials.given = {std::string(settings.aws.access_key.reveal()),
                               std::string(settings.aws.secret_key.reveal()),
                               std::string(settings.aws.session_token.reveal())};
  options.credentials.profile = settings.aws.profile;
  return sqs::open(loop, std::move(options), log);
}

}  // namespace

bool is_same_broker(const BrokerPlace& one, const BrokerPlace& other) {
  if (one.kind != other.kind) return false;
  if (one.kind == BrokerPlace::Kind::sqs) return one.broker == other.broker;
  return one.vhost == other.vhost &&
         std::ranges::find_first_of(one.hosts, other.hosts) != one.hosts.end();
}

Result<BrokerPlace> broker_place(const std::string& url, bool names_queue) {
  return is_sqs(url) ? sqs_place(url, names_queue) : rabbitmq_place(url, names_queue);
}

std::string dead_letter_name(BrokerPlace::Kind kind, const std::string& queue) {
  return kind == BrokerPlace::Kind::sqs ? sqs::dead_letter_name(queue) : queue + ".dlq";
}

Result<std::unique_ptr<ports::Broker>> open_broker(ports::Loop& loop,
                                                   const BrokerSettings& settings,
                                                   const Logger& log) {
  return is_sqs(settings.url) ? open_sqs(loop, settings, log) : open_rabbitmq(loop, settings, log);
}

}  // namespace holdfast::server
