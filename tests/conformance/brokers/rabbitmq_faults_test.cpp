#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "brokers/rabbitmq/rabbitmq.hpp"
#include "conformance/brokers/broker_conformance.hpp"
#include "support/cutting_proxy.hpp"
#include "support/rabbitmq_process.hpp"
#include "support/temporary_folder.hpp"

// RabbitMQ in trouble, and in ways of its own. One broker for all cases, which is killed and
// started again by some.
namespace holdfast::conformance::rabbitmq_faults_test {
namespace {

using brokers::rabbitmq::Options;
using brokers::rabbitmq::parse_location;
using ports::QueueWish;
using testing::CuttingProxy;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RabbitMqProcess;
using ::testing::SizeIs;

class RabbitMqFaults : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    process =
        std::make_unique<RabbitMqProcess>(HOLDFAST_SOURCE_DIR, std::vector<std::string>{"--tls"});
  }
  static void TearDownTestSuite() { process.reset(); }

 protected:
  static Options options() {
    return {.at = parse_location(process->url()).value(),
            // Long enough for a busy machine.
            .heartbeat = 20s,
            .connect_timeout = 20s,
            .blocked_patience = 2s,
            // Long enough for a broker that starts on a busy machine.
            .connect_attempts = 1000,
            .connect_wait = 200ms};
  }
  static BrokerWorld::Open with(Options options) {
    return [options](ports::Loop& loop, Logger log) {
      return brokers::rabbitmq::open(loop, options, log);
    };
  }
  static Options through(const CuttingProxy& proxy) {
    Options changed = options();
    changed.at.port = proxy.port();
    return changed;
  }
  // Why nothing was published.
  static Error connect_error(Options options) {
    BrokerWorld world(with(std::move(options)));
    const Sent sent = world.publish("queue", "body");
    EXPECT_EQ(sent.fate, Fate::unsent);
    for (const auto& entry : world.log.entries())
      EXPECT_NO_FATAL_FAILURE(expect_no_secret(entry));
    return sent.error;
  }
  static void expect_no_secret(const testing::LogCapture::Entry& entry) {
    EXPECT_THAT(entry.message, Not(HasSubstr("planted")));
    for (const auto& [name, value] : entry.fields)
      EXPECT_THAT(value, Not(HasSubstr("planted")));
  }

  static inline std::unique_ptr<RabbitMqProcess> process;
};

std::vector<Outgoing> many(const std::string& queue, int count) {
  std::vector<Outgoing> all;
  for (int n = 0; n < count; ++n) {
    all.push_back({.to = {.routing_key = queue},
                   .message = {.body = std::to_string(n), .headers = {}, .delivery_mode = 2}});
  }
  return all;
}

std::string all_of(const testing::LogCapture& log) {
  std::string text;
  for (const auto& entry : log.entries()) {
    text += entry.event;
    for (const auto& [name, value] : entry.fields)
      text += " " + name + "=" + value;
    text += "\n";
  }
  return text;
}

// ---- connecting ----

TEST_F(RabbitMqFaults, says_what_to_do_when_it_cannot_connect) {
  Options nobody = options();
  nobody.at.port = 1;
  EXPECT_THAT(connect_error(nobody).message, HasSubstr("is the broker running"));

  Options password = options();
  password.at.password = "planted-wrong";
  const Error wrong = connect_error(password);
  EXPECT_THAT(wrong.message, HasSubstr("check user and password"));
  EXPECT_THAT(wrong.text(), Not(HasSubstr("planted")));

  Options vhost = options();
  vhost.at.vhost = "missing";
  EXPECT_THAT(connect_error(vhost).message, HasSubstr("check the vhost"));

  Options tls_to_plain = options();
  tls_to_plain.at.tls = true;
  EXPECT_THAT(connect_error(tls_to_plain).message, HasSubstr("no TLS at this port"));

  Options plain_to_tls = options();
  plain_to_tls.at.port = parse_location(process->tls_url())->port;
  EXPECT_THAT(connect_error(plain_to_tls).message, HasSubstr("TLS"));

  nobody.at.others = {{.name = nobody.at.host, .port = 2}};
  EXPECT_THAT(connect_error(nobody).message, HasSubstr(nobody.at.host + ":1: "));
  EXPECT_THAT(connect_error(nobody).message, HasSubstr(nobody.at.host + ":2: "));

  Options name = options();
  name.at.host = "no-such-host.invalid";
  EXPECT_THAT(connect_error(name).message, HasSubstr("no-such-host.invalid"));
}

TEST_F(RabbitMqFaults, speaks_tls_to_whom_it_trusts_and_to_nobody_else) {
  Options trusted = options();
  trusted.at = parse_location(process->tls_url()).value();
  trusted.ca_file = process->ca_file();
  for (const char* const host : {"127.0.0.1", "localhost"}) {
    trusted.at.host = host;
    BrokerWorld world(with(trusted));
    const std::string queue = world.new_queue(QueueWish::Kind::classic, "tls");
    for (const Sent& sent : world.publish_all(many(queue, 2000))) {
      ASSERT_EQ(sent.fate, Fate::confirmed);
    }
    std::string large(3'000'000, 'x');
    ASSERT_EQ(world.publish(queue, large).fate, Fate::confirmed);
    const auto got = world.take_out(queue, 2001);
    ASSERT_THAT(got, SizeIs(2001));
    EXPECT_EQ(got.back().message.body, large);
  }
  Options stranger = trusted;
  stranger.ca_file.clear();
  EXPECT_THAT(connect_error(stranger).message, HasSubstr("not to be trusted"));
  CuttingProxy proxy(trusted.at.port, "127.0.0.2");  // no name of its certificate
  Options other_name = trusted;
  other_name.at.host = "127.0.0.2";
  other_name.at.port = proxy.port();
  EXPECT_THAT(connect_error(other_name).message, HasSubstr("not for 127.0.0.2"));
  Options no_file = trusted;
  no_file.ca_file = "/no/such/file";
  EXPECT_EQ(connect_error(no_file).code, ErrorCode::invalid_argument);
}

// R8
TEST_F(RabbitMqFaults, gives_up_after_the_last_attempt_to_connect) {
  Options nobody = options();
  nobody.at.port = 1;
  nobody.connect_attempts = 3;
  nobody.connect_wait = 20ms;
  std::optional<Error> gave_up;
  nobody.on_gave_up = [&](const Error& error) { gave_up = error; };
  BrokerWorld world(with(nobody));
  Recorder recorder;
  (void)world.broker->consume({.queue = "queue"}, recorder);
  std::optional<Result<ports::Opened>> opened;
  world.broker->open({.queues = {{.name = "queue"}}},
                     [&](auto answer) { opened = std::move(answer); });
  ASSERT_TRUE(world.until([&] { return gave_up.has_value() && opened.has_value(); }));
  EXPECT_FALSE(*opened);
  const auto retries = world.log.of("broker.retry");
  ASSERT_THAT(retries, SizeIs(2));
  EXPECT_EQ(retries[0].fields.at("attempt"), "1");
  EXPECT_EQ(retries[1].fields.at("attempt"), "2");
  EXPECT_EQ(retries[1].fields.at("wait"), "0.02");
  EXPECT_THAT(retries[0].fields.at("error"), HasSubstr("refused"));
  const auto last = world.log.of("broker.gave_up");
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last[0].level, Level::critical);
  EXPECT_EQ(last[0].fields.at("attempts"), "3");
  EXPECT_EQ(recorder.times_consuming, 0);
}

TEST_F(RabbitMqFaults, ends_at_once_while_it_waits_to_connect) {
  Options nobody = options();
  nobody.at.port = 1;
  nobody.connect_wait = 1h;
  BrokerWorld world(with(nobody));
  Recorder recorder;
  (void)world.broker->consume({.queue = "queue"}, recorder);
  ASSERT_TRUE(world.until([&] { return !world.log.of("broker.retry").empty(); }));
  const auto depth = world.depth("queue");  // answered with what is known
  EXPECT_EQ(depth.error().code, ErrorCode::unavailable);
  const auto before = system_clock().now();
  world.broker.reset();
  EXPECT_LT(system_clock().now() - before, 5s);
}

// ---- losing the connection ----

// V11: never "confirmed" for what is not there, and nothing is left unanswered.
TEST_F(RabbitMqFaults, tells_the_truth_when_cut_at_every_frame_of_a_publish) {
  BrokerWorld beside(with(options()));
  const std::string queue = beside.new_queue(QueueWish::Kind::classic, "cut");
  CuttingProxy proxy(options().at.port);
  std::map<std::string, Fate> fates;  // by body
  for (const auto side : {CuttingProxy::Side::to_broker, CuttingProxy::Side::from_broker}) {
    bool was_cut = true;
    for (int frames = 0; was_cut; ++frames) {
      ASSERT_LT(frames, 40);
      proxy.cut_after(side, frames);
      const std::string body =
          (side == CuttingProxy::Side::to_broker ? "to " : "from ") + std::to_string(frames);
      BrokerWorld world(with(through(proxy)));
      fates[body] = world.publish(queue, body).fate;
      was_cut = proxy.was_cut();
      EXPECT_TRUE(was_cut || fates[body] == Fate::confirmed) << body;
    }
  }
  beside.loop.run_for(300ms);  // what was cut last may still be on its way into the queue
  std::map<std::string, int> there;
  for (const auto& delivery : beside.take_out(queue, beside.depth(queue)->ready))
    ++there[delivery.message.body];
  for (const auto& [body, fate] : fates) {
    if (fate == Fate::confirmed) {
      EXPECT_EQ(there[body], 1) << "confirmed: " << body;
    } else if (fate == Fate::unknown) {
      EXPECT_LE(there[body], 1) << "unknown: " << body;
    } else {
      EXPECT_EQ(fate, Fate::unsent) << body;
      EXPECT_EQ(there[body], 0) << "unsent: " << body;
    }
  }
  EXPECT_GE(std::ranges::count(fates, Fate::unknown, &decltype(fates)::value_type::second), 3);
}

TEST_F(RabbitMqFaults, consumes_again_when_the_connection_was_cut) {
  CuttingProxy proxy(options().at.port);
  BrokerWorld world(with(through(proxy)));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "reset");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue, .prefetch = 10}, recorder);
  (void)world.publish_all(many(queue, 5));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 5; }));
  const auto old = recorder.got[0].tag;
  proxy.cut();
  ASSERT_TRUE(world.until([&] { return recorder.interruptions.size() == 1; }));
  world.broker->acknowledge(consumer, old);  // void
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 10; }));
  EXPECT_EQ(recorder.times_consuming, 2);
  for (std::size_t n = 5; n < 10; ++n) {
    EXPECT_TRUE(recorder.got[n].redelivered);
    EXPECT_NE(recorder.got[n].tag.line, old.line);
    world.broker->acknowledge(consumer, recorder.got[n].tag);
  }
  world.close(consumer);
  EXPECT_EQ(world.publish(queue, "again").fate, Fate::confirmed);
  EXPECT_TRUE(world.has_ready(queue, 1));
}

// The first host has nobody, the second is lost, the third has the broker.
TEST_F(RabbitMqFaults, goes_on_at_the_next_host) {
  CuttingProxy proxy(options().at.port);
  Options several = options();
  several.at.others = {{.name = several.at.host, .port = proxy.port()},
                       {.name = several.at.host, .port = several.at.port}};
  several.at.port = 1;
  several.connect_wait = 1h;  // between rounds of all hosts, and not between hosts
  BrokerWorld world(with(several));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "hosts");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue, .prefetch = 10}, recorder);
  for (const Sent& sent : world.publish_all(many(queue, 5)))
    ASSERT_EQ(sent.fate, Fate::confirmed);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 5; }));
  const std::string connected = "broker.connected broker=" + several.at.text() + " host=";
  EXPECT_THAT(all_of(world.log), HasSubstr(connected + several.at.others[0].text()));
  EXPECT_THAT(all_of(world.log), Not(HasSubstr(connected + several.at.others[1].text())));
  EXPECT_THAT(world.log.of("broker.next_host"), Not(IsEmpty()));
  proxy.cut();
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 10; }));
  EXPECT_EQ(recorder.interruptions.size(), 1U);
  EXPECT_EQ(world.publish(queue, "again").fate, Fate::confirmed);
  EXPECT_THAT(all_of(world.log), HasSubstr(connected + several.at.others[1].text()));
  world.close(consumer);
}

TEST_F(RabbitMqFaults, does_not_hang_when_the_broker_stops_reading) {
  CuttingProxy proxy(options().at.port);
  Options patient = through(proxy);
  patient.heartbeat = 60s;
  BrokerWorld world(with(patient));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "stall");
  ASSERT_EQ(world.publish(queue, "first").fate, Fate::confirmed);
  proxy.stall(true);
  std::vector<Outgoing> all;
  for (int n = 0; n < 200; ++n) {
    all.push_back({.to = {.routing_key = queue},
                   .message = {.body = std::string(200'000, 'x'), .headers = {}}});
  }
  const auto sent = world.publish_all(std::move(all));
  EXPECT_EQ(sent.front().fate, Fate::unknown);
  EXPECT_EQ(sent.back().fate, Fate::unsent);
  const auto before = system_clock().now();
  world.broker.reset();
  EXPECT_LT(system_clock().now() - before, 10s);
}

TEST_F(RabbitMqFaults, notices_a_broker_that_has_gone_silent) {
  CuttingProxy proxy(options().at.port);
  Options attentive = through(proxy);
  attentive.heartbeat = 2s;
  BrokerWorld world(with(attentive));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "silent");
  Recorder recorder;
  (void)world.broker->consume({.queue = queue}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 1; }));
  world.loop.run_for(5s);  // heartbeats keep it alive
  EXPECT_THAT(recorder.interruptions, IsEmpty());
  proxy.stall(true);  // the broker hears nothing any more, and ends it
  ASSERT_TRUE(world.until([&] { return recorder.interruptions.size() == 1; }));
  proxy.stall(false);
  EXPECT_TRUE(world.until([&] { return recorder.times_consuming == 2; }));
}

// V11
void survives(RabbitMqProcess& process, const BrokerWorld::Open& open, bool killed) {
  BrokerWorld world(open);
  for (const auto kind : {QueueWish::Kind::classic, QueueWish::Kind::quorum}) {
    const std::string queue = world.new_queue(kind, "restart");
    Recorder recorder;
    const auto consumer = world.broker->consume({.queue = queue, .prefetch = 10}, recorder);
    for (const Sent& sent : world.publish_all(many(queue, 10))) {
      ASSERT_EQ(sent.fate, Fate::confirmed);
    }
    ASSERT_TRUE(world.until([&] { return recorder.got.size() == 10; }));
    if (killed) process.sync_queues();
    if (killed)
      process.kill();
    else
      process.stop();
    ASSERT_TRUE(world.until([&] { return recorder.interruptions.size() == 1; }));
    EXPECT_EQ(world.publish(queue, "while it is down").fate, Fate::unsent);
    process.start();
    ASSERT_TRUE(world.until([&] { return recorder.got.size() >= 20; }))
        << recorder.got.size() << " came, " << recorder.interruptions.size() << " interruptions, "
        << recorder.times_consuming << " times consuming\n"
        << all_of(world.log);
    EXPECT_EQ(recorder.times_consuming, 2);
    EXPECT_THAT(world.log.of("broker.retry"), Not(IsEmpty()));
    EXPECT_THAT(world.log.of("broker.recovered"), Not(IsEmpty()));
    EXPECT_EQ(world.publish(queue, "after").fate, Fate::confirmed);
    for (std::size_t n = 10; n < 20; ++n)
      world.broker->acknowledge(consumer, recorder.got[n].tag);
    world.close(consumer);
    EXPECT_TRUE(world.has_ready(queue, 1));
  }
}

TEST_F(RabbitMqFaults, survives_a_restart_of_the_broker) {
  survives(*process, with(options()), false);
}
TEST_F(RabbitMqFaults, survives_the_death_of_the_broker) {
  survives(*process, with(options()), true);
}

// ---- losing a channel, or a queue ----

TEST_F(RabbitMqFaults, consumes_again_when_its_queue_was_deleted) {
  BrokerWorld world(with(options()));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "deleted");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 1; }));
  process->ctl("delete_queue " + queue);
  ASSERT_TRUE(world.until([&] { return recorder.interruptions.size() == 1; }));
  // It was asked for as part of a topology, and is made again.
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 2; }));
  EXPECT_EQ(world.publish(queue, "again").fate, Fate::confirmed);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  world.close(consumer);
}

TEST_F(RabbitMqFaults, waits_for_a_queue_that_is_not_there) {
  BrokerWorld world(with(options()));
  const std::string queue = BrokerWorld::unique_name("later");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue}, recorder);
  ASSERT_TRUE(world.until([&] { return world.log.of("broker.retry").size() >= 2; }));
  EXPECT_THAT(world.log.of("broker.retry")[0].fields.at("error"), HasSubstr("404"));
  EXPECT_THAT(world.log.of("broker.retry")[0].fields.at("operation"), HasSubstr(queue));
  BrokerWorld other(with(options()));
  ASSERT_TRUE(other.make_sure({.queues = {{.name = queue}}}));
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 1; }));
  EXPECT_THAT(recorder.interruptions, IsEmpty());
  world.close(consumer);
}

TEST_F(RabbitMqFaults, consumes_again_when_the_broker_lost_patience) {
  // For channels to come: they look every half second.
  process->ctl("eval 'application:set_env(rabbit, consumer_timeout, 2000).'");
  process->ctl("eval 'application:set_env(rabbit, channel_tick_interval, 500).'");
  BrokerWorld world(with(options()));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "timeout");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue}, recorder);
  ASSERT_EQ(world.publish(queue, "slow").fate, Fate::confirmed);
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  ASSERT_TRUE(world.until([&] { return recorder.interruptions.size() == 1; }));
  EXPECT_THAT(recorder.interruptions[0].message, HasSubstr("timed out"));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  EXPECT_TRUE(recorder.got[1].redelivered);
  world.broker->acknowledge(consumer, recorder.got[1].tag);
  world.close(consumer);
  EXPECT_TRUE(world.has_ready(queue, 0));
  process->ctl("eval 'application:set_env(rabbit, consumer_timeout, 1800000).'");
}

TEST_F(RabbitMqFaults, has_no_others_suffer_for_a_bad_message) {
  BrokerWorld world(with(options()));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "good");
  auto all = many(queue, 100);
  all[20].to = {.exchange = "no-such-exchange", .routing_key = "x"};
  all[40].message.user_id = "somebody-else";
  all[60].message.expiration = "soon";
  all[70].message.headers = {{"CC", ports::Field("no array")}};
  all[80].message.headers = {{"large", ports::Field(std::string(200'000, 'x'))}};
  all[90].message.headers = {{"wide", ports::Field(ports::Field::Value(std::uint64_t{1}))}};
  const auto sent = world.publish_all(std::move(all));
  for (std::size_t n = 0; n < sent.size(); ++n) {
    const bool bad = n == 20 || n == 40 || n == 60 || n == 70 || n == 80 || n == 90;
    EXPECT_EQ(sent[n].fate, bad ? Fate::refused : Fate::confirmed) << n << sent[n].error.text();
  }
  EXPECT_THAT(sent[20].error.message, HasSubstr("no-such-exchange"));
  EXPECT_EQ(sent[20].error.code, ErrorCode::not_found);
  EXPECT_THAT(sent[40].error.message, HasSubstr("user_id"));
  EXPECT_TRUE(world.has_ready(queue, 94));
}

// An exchange that looks at headers takes some messages to an address, and returns others to the
// same one, which carry no number by which they could be told apart. None of those is confirmed.
TEST_F(RabbitMqFaults, V2_never_calls_a_returned_message_confirmed) {
  BrokerWorld world(with(options()));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "by-header");
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "binding.json")
      << R"({"bindings": [{"vhost": "/", "source": "amq.headers", "destination_type": "queue",)"
      << R"( "destination": ")" << queue << R"(", "routing_key": "",)"
      << R"( "arguments": {"x-match": "all", "wanted": "yes"}}]})";
  process->ctl("import_definitions " + folder / "binding.json");
  const auto wanted = [](int n) { return n % 3 != 1; };
  const auto mixed = [&] {
    auto all = many(queue, 300);
    for (int n = 0; n < 300; ++n) {
      Outgoing& one = all[static_cast<std::size_t>(n)];
      one.to = {.exchange = "amq.headers", .routing_key = "any"};
      one.message.headers = {{"wanted", ports::Field(wanted(n) ? "yes" : "no")}};
    }
    return all;
  };
  // There is no connection yet: the first goes alone, and when it is confirmed, all others go
  // together and have no numbers.
  const auto sent = world.publish_all(mixed());
  int unknown = 0;
  for (int n = 0; n < 300; ++n) {
    const Fate fate = sent[static_cast<std::size_t>(n)].fate;
    if (!wanted(n)) EXPECT_NE(fate, Fate::confirmed) << n;
    if (wanted(n)) EXPECT_NE(fate, Fate::returned) << n;
    if (fate == Fate::unknown) ++unknown;
  }
  EXPECT_GT(unknown, 0);
  EXPECT_TRUE(world.has_ready(queue, 200));

  // Once is enough: from now on each is told apart.
  const auto again = world.publish_all(mixed());
  for (int n = 0; n < 300; ++n) {
    EXPECT_EQ(again[static_cast<std::size_t>(n)].fate, wanted(n) ? Fate::confirmed : Fate::returned)
        << n;
  }
}

// ---- alarms ----

TEST_F(RabbitMqFaults, waits_for_a_broker_in_need_and_no_longer_than_it_may) {
  BrokerWorld world(with(options()));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "blocked");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = queue}, recorder);
  ASSERT_EQ(world.publish(queue, "before").fate, Fate::confirmed);
  process->ctl("set_vm_memory_high_watermark 0.00001");
  const auto sent = world.publish_all(many(queue, 3));
  EXPECT_EQ(sent[0].fate, Fate::unknown);  // by which the broker noticed that we publish
  const auto later = world.publish(queue, "later");
  EXPECT_EQ(later.fate, Fate::unsent);
  EXPECT_EQ(later.error.code, ErrorCode::unavailable);
  const auto blocked = world.log.of("broker.blocked");
  ASSERT_THAT(blocked, SizeIs(1));
  EXPECT_EQ(blocked[0].level, Level::warning);
  EXPECT_THAT(blocked[0].fields.at("reason"), HasSubstr("memory"));
  // Consuming goes on.
  ASSERT_TRUE(world.until([&] { return !recorder.got.empty(); }));
  world.broker->acknowledge(consumer, recorder.got[0].tag);
  // And what waits is sent when the need is over.
  std::optional<Sent> waited;
  world.broker->publish(
      {.to = {.routing_key = queue}, .message = {.body = "waited", .headers = {}}},
      [&](Sent told) { waited = std::move(told); });
  process->ctl("set_vm_memory_high_watermark absolute 2GB");
  ASSERT_TRUE(world.until([&] { return waited.has_value(); }));
  EXPECT_TRUE(waited->fate == Fate::confirmed || waited->fate == Fate::unsent);
  ASSERT_TRUE(world.until([&] { return !world.log.of("broker.unblocked").empty(); }));
  EXPECT_EQ(world.publish(queue, "after").fate, Fate::confirmed);
  world.close(consumer);
}

// ---- delay queues ----

TEST_F(RabbitMqFaults, makes_a_delay_queue_again_that_is_gone) {
  BrokerWorld world(with(options()));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "delays");
  const Outgoing delayed{
      .to = {.routing_key = queue}, .message = {.body = "later", .headers = {}}, .delay = 1234ms};
  ASSERT_EQ(world.publish(delayed).fate, Fate::confirmed);
  const std::string delays = queue + ".retry.1300";
  ASSERT_TRUE(world.depth(delays)) << "it has another name";
  ASSERT_TRUE(world.has_ready(queue, 1));
  process->ctl("delete_queue " + delays);  // as if it had expired
  EXPECT_EQ(world.publish(delayed).fate, Fate::confirmed);
  EXPECT_TRUE(world.has_ready(queue, 2));
}

// ---- others ----

TEST_F(RabbitMqFaults, carries_headers_as_another_client_writes_and_reads_them) {
  BrokerWorld world(with(options()));
  const std::string queue = world.new_queue(QueueWish::Kind::classic, "pika");
  const std::string back = world.new_queue(QueueWish::Kind::classic, "back");
  // Behind a first one, which carries a number: this one is as it was published.
  ASSERT_EQ(world.publish(queue, "first").fate, Fate::confirmed);
  ASSERT_THAT(world.take_out(queue, 1), SizeIs(1));
  ASSERT_EQ(world.publish({.to = {.routing_key = queue}, .message = full_message()}).fate,
            Fate::confirmed);
  testing::PythonProgram pika(
      {std::string(HOLDFAST_SOURCE_DIR) + "/tests/conformance/brokers/pika_side.py", process->url(),
       queue, back});
  EXPECT_EQ(pika.line(), "as sent");
  EXPECT_EQ(pika.end(), 0);
  const auto got = world.take_out(back, 1);
  ASSERT_THAT(got, SizeIs(1));
  using ports::Field;
  using Value = Field::Value;
  const auto header = [&](const char* name) {
    const Field* const found = ports::find_field(got[0].message.headers, name);
    return found ? found->value : Value("missing");
  };
  EXPECT_EQ(header("yes"), Value(true));
  EXPECT_EQ(header("small"), Value(std::int32_t{-5}));
  EXPECT_EQ(header("large"), Value(std::int64_t{5'000'000'000}));
  EXPECT_EQ(header("text"), Value(std::string("täxt")));
  EXPECT_EQ(header("bytes"), Value(Field::Bytes{std::string("\0\xff", 2)}));
  EXPECT_EQ(header("time"), Value(Field::Time{1'700'000'001}));
  EXPECT_EQ(header("decimal"), Value(Field::Decimal{2, 12345}));
  EXPECT_EQ(header("nothing"), Value(std::monostate{}));
  EXPECT_EQ(header("list"), Value(ports::FieldArray{Field("one"), Field(Value(std::int32_t{2}))}));
  EXPECT_EQ(header("dict"), Value(ports::FieldTable{{"inner", Field(Value(false))}}));
  EXPECT_EQ(got[0].message.body, "from pika");
}

}  // namespace
}  // namespace holdfast::conformance::rabbitmq_faults_test
