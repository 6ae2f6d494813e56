#include <chrono>
#include <fstream>
#include <future>

#include <gmock/gmock.h>

#include "brokers/sqs/envelope.hpp"
#include "brokers/sqs/sqs.hpp"
#include "conformance/brokers/broker_conformance.hpp"
#include "support/scripted_sqs.hpp"
#include "support/temporary_folder.hpp"

// SQS in trouble: a server that answers as it is told to.
namespace holdfast::conformance::sqs_faults_test {
namespace {

using brokers::sqs::Json;
using brokers::sqs::Options;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ScriptedSqs;
using ::testing::SizeIs;
using Seen = ScriptedSqs::Seen;

class SqsFaults : public ::testing::Test {
 protected:
  Options options() const {
    return {.at = {.region = "us-east-1"},
            .endpoint = sqs.url(),
            .credentials = {.given = {.access_key = "planted-id", .secret_key = "planted-secret"}},
            .poll_wait = 1s,
            .connect_timeout = 20s,
            .connect_wait = 100ms};
  }
  static BrokerWorld::Open with(Options options) {
    return
        [options](ports::Loop& loop, Logger log) { return brokers::sqs::open(loop, options, log); };
  }
  static void expect_no_secret(const testing::LogCapture& log) {
    for (const auto& entry : log.entries()) {
      EXPECT_THAT(entry.message, Not(HasSubstr("planted")));
      for (const auto& [name, value] : entry.fields)
        EXPECT_THAT(value, Not(HasSubstr("planted")));
    }
  }

  ScriptedSqs sqs;
};

Outgoing to(const std::string& queue, std::string body) {
  return {.to = {.routing_key = queue}, .message = {.body = std::move(body), .headers = {}}};
}

std::vector<Outgoing> many(const std::string& queue, int count) {
  std::vector<Outgoing> all;
  for (int n = 0; n < count; ++n)
    all.push_back(to(queue, std::to_string(n)));
  return all;
}

std::vector<Fate> fates(const std::vector<Sent>& all) {
  std::vector<Fate> found;
  for (const Sent& sent : all)
    found.push_back(sent.fate);
  return found;
}

// ---- publishing ----

TEST_F(SqsFaults, sends_nothing_to_where_nobody_is) {
  Options nobody = options();
  nobody.endpoint = "http://127.0.0.1:1";
  BrokerWorld world(with(nobody));
  const Sent sent = world.publish("jobs", "x");
  EXPECT_EQ(sent.fate, Fate::unsent);
  EXPECT_EQ(sent.error.code, ErrorCode::unavailable);
  const auto depth = world.depth("jobs");
  ASSERT_FALSE(depth);
  EXPECT_EQ(depth.error().code, ErrorCode::unavailable);
  expect_no_secret(world.log);
}

TEST_F(SqsFaults, does_not_know_what_became_of_what_nobody_answers) {
  Options slow = options();
  slow.request_timeout = 300ms;
  BrokerWorld world(with(slow));
  ASSERT_EQ(world.publish("jobs", "before").fate, Fate::confirmed);
  std::promise<void> ended;
  const std::shared_future<void> end = ended.get_future().share();
  sqs.next("SendMessageBatch", [end](const Seen& seen) {
    end.wait();
    return ScriptedSqs::all_well(seen);
  });
  EXPECT_EQ(world.publish("jobs", "slow").fate, Fate::unknown);
  EXPECT_EQ(world.publish("jobs", "after").fate, Fate::confirmed);
  ended.set_value();
  world.broker.reset();
}

TEST_F(SqsFaults, sends_again_what_the_server_could_not_take) {
  BrokerWorld world(with(options()));
  sqs.next("SendMessageBatch", ScriptedSqs::refuses("500 Oops", "InternalError"));
  const auto sent = world.publish_all(many("jobs.fifo", 3));
  EXPECT_THAT(fates(sent), Each(Fate::confirmed));
  const auto seen = sqs.seen("SendMessageBatch");
  ASSERT_THAT(seen, SizeIs(2));
  // The same ids, by which SQS knows them again if it had taken them after all.
  const auto first = ScriptedSqs::entries(seen[0].body);
  const auto second = ScriptedSqs::entries(seen[1].body);
  ASSERT_THAT(first, SizeIs(3));
  ASSERT_THAT(second, SizeIs(3));
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(first[n].text_of("MessageDeduplicationId"),
              second[n].text_of("MessageDeduplicationId"));
    EXPECT_EQ(second[n].text_of("MessageBody"), std::to_string(n));
  }
  ASSERT_THAT(world.log.of("broker.retry"), SizeIs(1));
  EXPECT_THAT(world.log.of("broker.retry")[0].fields.at("error"), HasSubstr("InternalError"));
}

// Trap 8: what is published once more, by a recovery or a retry, is another message to a FIFO
// queue.
TEST_F(SqsFaults, gives_every_copy_an_id_of_its_own_and_keeps_its_group) {
  BrokerWorld world(with(options()));
  Outgoing one = to("jobs.fifo", "same");
  one.message.message_id = "id-1";
  one.message.headers = {{"x-holdfast-group", ports::Field("orders")}};
  ASSERT_EQ(world.publish(one).fate, Fate::confirmed);
  ASSERT_EQ(world.publish(one).fate, Fate::confirmed);
  const auto seen = sqs.seen("SendMessageBatch");
  ASSERT_THAT(seen, SizeIs(2));
  const Json first = ScriptedSqs::entries(seen[0].body).at(0);
  const Json second = ScriptedSqs::entries(seen[1].body).at(0);
  EXPECT_NE(first.text_of("MessageDeduplicationId"), second.text_of("MessageDeduplicationId"));
  EXPECT_EQ(first.text_of("MessageGroupId"), "orders");
  EXPECT_EQ(second.text_of("MessageGroupId"), "orders");
  // And comes back in its group.
  sqs.give(R"({"MessageId":"m","ReceiptHandle":"r","Body":"theirs","Attributes":{)"
           R"("MessageGroupId":"orders"}})");
  const auto got = world.take_out("jobs.fifo", 1);
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_EQ(ports::text_of(got[0].message.headers, "x-holdfast-group"), "orders");
}

// The first batch of a group is held up: nothing of the group overtakes it, and others do.
TEST_F(SqsFaults, keeps_the_order_of_a_group_whatever_fails) {
  BrokerWorld world(with(options()));
  sqs.next("SendMessageBatch", ScriptedSqs::refuses("400 Bad", "RequestThrottled"));
  sqs.next("SendMessageBatch", ScriptedSqs::refuses("400 Bad", "RequestThrottled"));
  auto all = many("jobs.fifo", 25);
  Outgoing other = to("jobs.fifo", "other");
  other.message.message_id = "of its own group";
  all.push_back(other);
  EXPECT_THAT(fates(world.publish_all(std::move(all))), Each(Fate::confirmed));
  std::vector<std::string> group;
  for (const Seen& seen : sqs.seen("SendMessageBatch")) {
    std::vector<std::string> bodies;
    for (const Json& entry : ScriptedSqs::entries(seen.body)) {
      if (entry.text_of("MessageGroupId") == "holdfast")
        bodies.push_back(entry.text_of("MessageBody"));
    }
    // What was refused comes again, from its beginning.
    if (!bodies.empty() && bodies[0] == "0") group.clear();
    group.insert(group.end(), bodies.begin(), bodies.end());
  }
  std::vector<std::string> wanted;
  for (int n = 0; n < 25; ++n)
    wanted.push_back(std::to_string(n));
  EXPECT_EQ(group, wanted);
}

TEST_F(SqsFaults, waits_as_long_as_a_server_asks_that_has_too_much_to_do) {
  BrokerWorld world(with(options()));
  sqs.next("SendMessageBatch",
           ScriptedSqs::refuses("400 Bad", "RequestThrottled", "Retry-After: 1\r\n"));
  const auto before = system_clock().now();
  EXPECT_EQ(world.publish("jobs", "x").fate, Fate::confirmed);
  EXPECT_GE(system_clock().now() - before, 1s);
}

TEST_F(SqsFaults, gives_up_in_the_end) {
  Options options = this->options();
  options.request_attempts = 3;
  BrokerWorld world(with(options));
  sqs.always("SendMessageBatch", ScriptedSqs::refuses("503 Busy", "ServiceUnavailable"));
  EXPECT_EQ(world.publish("busy", "x").fate, Fate::unsent);  // never taken
  sqs.always("SendMessageBatch", ScriptedSqs::refuses("500 Oops", "InternalError"));
  EXPECT_EQ(world.publish("broken", "x").fate, Fate::unknown);
  sqs.always("SendMessageBatch", nullptr);
  EXPECT_EQ(world.publish("jobs", "x").fate, Fate::confirmed);
}

// Trap 8: a batch may fail in part, under HTTP 200.
TEST_F(SqsFaults, tells_each_entry_of_a_batch_its_own_fate) {
  BrokerWorld world(with(options()));
  sqs.next("SendMessageBatch", [](const Seen& seen) {
    const auto md5 = [&](std::size_t n) {
      return brokers::sqs::md5_hex(ScriptedSqs::entries(seen.body).at(n).text_of("MessageBody"));
    };
    return testing::http_answer(
        "200 OK",
        R"({"Successful":[{"Id":"0","MD5OfMessageBody":")" + md5(0) +
            R"("},{"Id":"4","MD5OfMessageBody":"00000000000000000000000000000000"}],"Failed":[)"
            R"({"Id":"1","Code":"InvalidMessageContents","Message":"bad","SenderFault":true},)"
            R"({"Id":"2","Code":"RequestThrottled","Message":"later","SenderFault":true},)"
            R"({"Id":"3","Code":"InternalError","Message":"oops","SenderFault":false}]})");
  });
  const auto sent = world.publish_all(many("jobs", 6));
  EXPECT_THAT(fates(sent), ElementsAre(Fate::confirmed, Fate::refused, Fate::confirmed,
                                       Fate::confirmed, Fate::unknown, Fate::unknown));
  EXPECT_THAT(sent[1].error.message, HasSubstr("InvalidMessageContents"));
  EXPECT_EQ(sent[4].error.code, ErrorCode::corrupt);
  // What was tried again went together.
  const auto seen = sqs.seen("SendMessageBatch");
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_THAT(ScriptedSqs::entries(seen[1].body), SizeIs(2));
}

TEST_F(SqsFaults, has_no_others_suffer_for_a_bad_message) {
  BrokerWorld world(with(options()));
  sqs.always("SendMessageBatch", [](const Seen& seen) {
    for (const Json& entry : ScriptedSqs::entries(seen.body)) {
      if (entry.text_of("MessageBody") == "3")
        return ScriptedSqs::refuses("400 Bad", "InvalidParameterValue")(seen);
    }
    return ScriptedSqs::all_well(seen);
  });
  const auto sent = world.publish_all(many("jobs", 5));
  EXPECT_THAT(fates(sent), ElementsAre(Fate::confirmed, Fate::confirmed, Fate::confirmed,
                                       Fate::refused, Fate::confirmed));
}

TEST_F(SqsFaults, refuses_what_is_too_large_without_asking) {
  BrokerWorld world(with(options()));
  auto all = many("jobs", 2);
  all.push_back(to("jobs", std::string((1 << 20) + 1, 'x')));
  const auto sent = world.publish_all(std::move(all));
  EXPECT_THAT(fates(sent), ElementsAre(Fate::confirmed, Fate::confirmed, Fate::refused));
  EXPECT_THAT(sent[2].error.message, HasSubstr("1048576 are the most"));
  // And no batch is larger than a message may be.
  EXPECT_THAT(fates(world.publish_all(
                  {to("jobs", std::string(600'000, 'x')), to("jobs", std::string(600'000, 'y'))})),
              Each(Fate::confirmed));
  EXPECT_THAT(sqs.seen("SendMessageBatch"), SizeIs(3));
}

TEST_F(SqsFaults, looks_for_a_queue_again_that_is_gone) {
  BrokerWorld world(with(options()));
  ASSERT_EQ(world.publish("jobs", "x").fate, Fate::confirmed);
  sqs.next("SendMessageBatch", ScriptedSqs::refuses("400 Bad", "QueueDoesNotExist"));
  EXPECT_EQ(world.publish("jobs", "made anew").fate, Fate::confirmed);
  sqs.next("SendMessageBatch", ScriptedSqs::refuses("400 Bad", "QueueDoesNotExist"));
  sqs.next("GetQueueUrl",
           ScriptedSqs::refuses("400 Bad", "AWS.SimpleQueueService.NonExistentQueue"));
  const Sent gone = world.publish("jobs", "gone");
  EXPECT_EQ(gone.fate, Fate::returned);
  EXPECT_EQ(gone.error.code, ErrorCode::not_found);
  EXPECT_EQ(world.publish("no.such.name", "x").fate, Fate::returned);
  EXPECT_THAT(sqs.seen("GetQueueUrl"), SizeIs(3));
}

// ---- credentials ----

TEST_F(SqsFaults, fetches_credentials_anew_that_have_expired) {
  const testing::TemporaryFolder folder;
  const auto write = [&](const std::string& key) {
    std::ofstream(folder / "credentials")
        << "[default]\naws_access_key_id = " << key << "\naws_secret_access_key = planted-secret\n";
  };
  write("planted-old");
  Options from_file = options();
  from_file.credentials = {.file = folder / "credentials",
                           .environment = [](const std::string&) { return std::nullopt; }};
  BrokerWorld world(with(from_file));
  ASSERT_EQ(world.publish("jobs", "x").fate, Fate::confirmed);
  const auto expires = [](const Seen& seen) {
    if (seen.authorization.contains("planted-old"))
      return ScriptedSqs::refuses("403 Forbidden", "ExpiredToken")(seen);
    return ScriptedSqs::all_well(seen);
  };
  sqs.always("SendMessageBatch", expires);
  write("planted-new");
  EXPECT_EQ(world.publish("jobs", "x").fate, Fate::confirmed);
  EXPECT_THAT(world.log.of("broker.credentials"), SizeIs(1));
  // Where there are no others it is told, and nothing is lost.
  write("planted-old");
  sqs.always("SendMessageBatch", ScriptedSqs::refuses("403 Forbidden", "ExpiredToken"));
  const Sent expired = world.publish("jobs", "x");
  EXPECT_EQ(expired.fate, Fate::unsent);
  EXPECT_EQ(expired.error.code, ErrorCode::unavailable);
  expect_no_secret(world.log);
}

// ---- consuming ----

TEST_F(SqsFaults, goes_on_when_it_can_receive_again) {
  BrokerWorld world(with(options()));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 1; }));
  sqs.give(ScriptedSqs::plain_message("m1", "r1", "before"));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  sqs.always("ReceiveMessage", ScriptedSqs::refuses("403 Forbidden", "AccessDenied"));
  ASSERT_TRUE(world.until([&] { return world.log.of("broker.retry").size() >= 3; }));
  EXPECT_THAT(world.log.of("broker.retry")[0].fields.at("operation"), HasSubstr("consume jobs"));
  sqs.always("ReceiveMessage", nullptr);
  sqs.give(ScriptedSqs::plain_message("m2", "r2", "after"));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  EXPECT_THAT(world.log.of("broker.recovered"), Not(IsEmpty()));
  // What was delivered before is as good as ever.
  EXPECT_THAT(recorder.interruptions, IsEmpty());
  world.broker->acknowledge(consumer, recorder.got[0].tag);
  world.close(consumer);
  EXPECT_THAT(sqs.receipts("DeleteMessageBatch"), ElementsAre("r1"));
  EXPECT_THAT(sqs.receipts("ChangeMessageVisibilityBatch"), ElementsAre("r2"));
}

// R8
TEST_F(SqsFaults, gives_up_receiving_after_as_many_attempts_as_it_may_make) {
  Options options = this->options();
  options.connect_attempts = 3;
  std::vector<Error> given_up;
  options.on_gave_up = [&](const Error& why) { given_up.push_back(why); };
  options.endpoint = "http://127.0.0.1:1";
  BrokerWorld world(with(options));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  ASSERT_TRUE(world.until([&] { return !given_up.empty(); }));
  EXPECT_THAT(world.log.of("broker.retry"), SizeIs(2));
  const auto critical = world.log.of("broker.gave_up");
  ASSERT_THAT(critical, SizeIs(1));
  EXPECT_EQ(critical[0].level, Level::critical);
  world.close(consumer);
}

TEST_F(SqsFaults, consumes_again_when_its_queue_had_vanished) {
  BrokerWorld world(with(options()));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  sqs.give(ScriptedSqs::plain_message("m1", "r1", "before"));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  sqs.always("GetQueueUrl", ScriptedSqs::refuses("400 Bad", "QueueDoesNotExist"));
  sqs.always("ReceiveMessage", ScriptedSqs::refuses("400 Bad", "QueueDoesNotExist"));
  ASSERT_TRUE(world.until([&] { return recorder.interruptions.size() == 1; }));
  EXPECT_EQ(recorder.interruptions[0].code, ErrorCode::not_found);
  sqs.always("GetQueueUrl", nullptr);
  sqs.always("ReceiveMessage", nullptr);
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 2; }));
  world.broker->acknowledge(consumer, recorder.got[0].tag);  // void
  world.close(consumer);
  EXPECT_THAT(sqs.seen("DeleteMessageBatch"), IsEmpty());
}

TEST_F(SqsFaults, makes_a_queue_again_that_has_vanished) {
  Options options = this->options();
  options.create = true;
  BrokerWorld world(with(options));
  ASSERT_TRUE(world.make_sure({.queues = {{.name = "jobs"}}}));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 1; }));
  EXPECT_THAT(sqs.seen("CreateQueue"), IsEmpty());
  const auto gone = ScriptedSqs::refuses("400 Bad", "QueueDoesNotExist");
  sqs.always("GetQueueUrl", gone);
  sqs.always("ReceiveMessage", gone);
  sqs.always("CreateQueue", [this](const Seen&) {
    sqs.always("GetQueueUrl", nullptr);
    sqs.always("ReceiveMessage", nullptr);
    return testing::http_answer("200 OK", R"({"QueueUrl":"x"})");
  });
  ASSERT_TRUE(world.until([&] { return recorder.times_consuming == 2; }));
  EXPECT_THAT(sqs.seen("CreateQueue"), SizeIs(1));
  EXPECT_THAT(recorder.interruptions, SizeIs(1));
  world.close(consumer);
}

TEST_F(SqsFaults, keeps_from_others_what_is_out_and_what_is_held) {
  Options options = this->options();
  options.visibility_timeout = 2s;
  BrokerWorld world(with(options));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  sqs.give(ScriptedSqs::plain_message("m1", "r1", "one"));
  sqs.give(ScriptedSqs::plain_message("m2", "r2", "two"));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  world.broker->hold(consumer, recorder.got[1].tag);
  ASSERT_TRUE(
      world.until([&] { return sqs.receipts("ChangeMessageVisibilityBatch").size() >= 4; }));
  const auto asked = sqs.seen("ChangeMessageVisibilityBatch");
  EXPECT_EQ(ScriptedSqs::entries(asked[0].body).at(0).text_of("VisibilityTimeout"), "2");
  EXPECT_THAT(sqs.receipts("ChangeMessageVisibilityBatch"), ::testing::IsSupersetOf({"r1", "r2"}));
  EXPECT_THAT(world.log.of("broker.visibility_lost"), IsEmpty());
  world.close(consumer);
  const auto said = sqs.seen("ChangeMessageVisibilityBatch");
  const auto last = ScriptedSqs::entries(said.back().body);
  EXPECT_EQ(last.back().text_of("VisibilityTimeout"), "0");
}

TEST_F(SqsFaults, gives_a_delivery_its_new_receipt_when_its_time_has_run_out) {
  Options options = this->options();
  options.visibility_timeout = 1s;
  BrokerWorld world(with(options));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  sqs.always("ChangeMessageVisibilityBatch", ScriptedSqs::refuses("500 Oops", "InternalError"));
  sqs.give(ScriptedSqs::plain_message("m1", "r1", "slow"));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 1; }));
  ASSERT_TRUE(world.until([&] { return !world.log.of("broker.visibility_lost").empty(); }));
  EXPECT_EQ(world.log.of("broker.visibility_lost")[0].level, Level::warning);
  // SQS hands it out again: it is with the receiver already, who is not told twice.
  sqs.give(ScriptedSqs::plain_message("m1", "r2", "slow", 2));
  sqs.give(ScriptedSqs::plain_message("m2", "r3", "another"));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 2; }));
  EXPECT_EQ(recorder.got[1].message.body, "another");
  sqs.always("ChangeMessageVisibilityBatch", nullptr);
  world.broker->acknowledge(consumer, recorder.got[0].tag);
  world.close(consumer);
  EXPECT_THAT(sqs.receipts("DeleteMessageBatch"), ElementsAre("r2"));
}

TEST_F(SqsFaults, says_again_what_is_done_with_and_tells_when_it_cannot) {
  BrokerWorld world(with(options()));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  for (const char* const n : {"1", "2", "3"})
    sqs.give(ScriptedSqs::plain_message(std::string("m") + n, std::string("r") + n, n));
  ASSERT_TRUE(world.until([&] { return recorder.got.size() == 3; }));
  sqs.next("DeleteMessageBatch", ScriptedSqs::refuses("500 Oops", "InternalError"));
  sqs.next(
      "DeleteMessageBatch",
      ScriptedSqs::says(
          R"({"Successful":[{"Id":"0"}],"Failed":[)"
          R"({"Id":"1","Code":"InternalError","SenderFault":false},)"
          R"({"Id":"2","Code":"ReceiptHandleIsInvalid","Message":"expired","SenderFault":true}]})"));
  for (const Delivery& delivery : recorder.got)
    world.broker->acknowledge(consumer, delivery.tag);
  world.close(consumer);  // not before all of it is said
  EXPECT_THAT(sqs.receipts("DeleteMessageBatch"),
              ElementsAre("r1", "r2", "r3", "r1", "r2", "r3", "r2"));
  const auto lost = world.log.of("broker.acknowledge_lost");
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_THAT(lost[0].fields.at("error"), HasSubstr("ReceiptHandleIsInvalid"));
}

TEST_F(SqsFaults, leaves_what_is_not_as_it_was_sent) {
  BrokerWorld world(with(options()));
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  sqs.give(R"({"MessageId":"m1","ReceiptHandle":"r1","Body":"x","MD5OfBody":"00"})");
  ASSERT_TRUE(world.until([&] { return !world.log.of("broker.damaged").empty(); }));
  EXPECT_THAT(recorder.got, IsEmpty());
  world.close(consumer);
  EXPECT_THAT(sqs.seen("DeleteMessageBatch"), IsEmpty());
}

// ---- delays ----

// A message that was sent with a due time, as it comes back.
std::string early_message(const std::string& sent_body, const std::string& receipt) {
  const Json entry = ScriptedSqs::entries(sent_body).at(0);
  const std::string ours =
      entry.find("MessageAttributes")->find("holdfast")->text_of("StringValue");
  return R"({"MessageId":"m1","ReceiptHandle":")" + receipt +
         R"(","Body":"later",)"
         R"("Attributes":{"ApproximateReceiveCount":"1"},"MessageAttributes":{"holdfast":{)"
         R"("DataType":"String","StringValue":)" +
         ScriptedSqs::quoted_text(ours) + "}}}";
}

TEST_F(SqsFaults, delays_for_longer_than_sqs_can_by_sending_it_on) {
  BrokerWorld world(with(options()));
  Outgoing later = to("jobs", "later");
  later.delay = 40min;
  ASSERT_EQ(world.publish(later).fate, Fate::confirmed);
  const auto sent = sqs.seen("SendMessageBatch");
  EXPECT_EQ(ScriptedSqs::entries(sent[0].body).at(0).text_of("DelaySeconds"), "900");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs"}, recorder);
  // The copy first, the original after it is confirmed.
  sqs.next("SendMessageBatch", ScriptedSqs::refuses("400 Bad", "InvalidParameterValue"));
  sqs.give(early_message(sent[0].body, "r1"));
  ASSERT_TRUE(world.until([&] { return sqs.seen("SendMessageBatch").size() == 2; }));
  sqs.give(early_message(sent[0].body, "r2"));
  ASSERT_TRUE(world.until([&] { return sqs.seen("DeleteMessageBatch").size() == 1; }));
  EXPECT_THAT(sqs.receipts("DeleteMessageBatch"), ElementsAre("r2"));
  const auto again = sqs.seen("SendMessageBatch");
  ASSERT_THAT(again, SizeIs(3));
  EXPECT_EQ(ScriptedSqs::entries(again[2].body).at(0).text_of("DelaySeconds"), "900");
  EXPECT_THAT(recorder.got, IsEmpty());
  world.close(consumer);
}

TEST_F(SqsFaults, delays_in_a_fifo_queue_by_putting_it_off) {
  BrokerWorld world(with(options()));
  Outgoing later = to("jobs.fifo", "later");
  later.delay = 40min;
  ASSERT_EQ(world.publish(later).fate, Fate::confirmed);
  const auto sent = sqs.seen("SendMessageBatch");
  EXPECT_EQ(ScriptedSqs::entries(sent[0].body).at(0).text_of("DelaySeconds"), "");
  Recorder recorder;
  const auto consumer = world.broker->consume({.queue = "jobs.fifo"}, recorder);
  sqs.give(early_message(sent[0].body, "r1"));
  ASSERT_TRUE(world.until([&] { return sqs.seen("ChangeMessageVisibilityBatch").size() == 1; }));
  const auto said = sqs.seen("ChangeMessageVisibilityBatch");
  const auto asked = ScriptedSqs::entries(said[0].body);
  const auto seconds = asked.at(0).find("VisibilityTimeout")->number().value_or(0);
  EXPECT_GT(seconds, 2300);
  EXPECT_LE(seconds, 2400);
  EXPECT_THAT(recorder.got, IsEmpty());
  world.close(consumer);
}

// ---- queues ----

ScriptedSqs::Reply attributes_by_name(std::map<std::string, std::string> by_queue) {
  return [by_queue](const Seen& seen) {
    const std::string url = Json(seen.body).text_of("QueueUrl");
    const std::string name = url.substr(url.rfind('/') + 1);
    const auto found = by_queue.find(name);
    if (found == by_queue.end()) return ScriptedSqs::refuses("400 Bad", "QueueDoesNotExist")(seen);
    return testing::http_answer("200 OK", R"({"Attributes":{"QueueArn":"arn:aws:sqs:r:1:)" + name +
                                              R"(")" + found->second + "}}");
  };
}

TEST_F(SqsFaults, warns_once_of_queues_that_are_not_as_they_should_be) {
  sqs.always(
      "GetQueueAttributes",
      attributes_by_name({{"jobs", R"(,"MessageRetentionPeriod":"1209600","RedrivePolicy":)"
                                   R"("{\"deadLetterTargetArn\":\"arn:aws:sqs:r:1:jobs-dlq\",)"
                                   R"(\"maxReceiveCount\":\"5\"}")"},
                          {"jobs-dlq", R"(,"MessageRetentionPeriod":"345600")"}}));
  BrokerWorld world(with(options()));
  const ports::Topology wish{
      .queues = {{.name = "jobs", .dead_letter = ports::Address{.routing_key = "jobs-dlq"}},
                 {.name = "missing"}}};
  for (int round = 0; round < 2; ++round) {
    const auto opened = world.make_sure(wish);
    ASSERT_TRUE(opened) << opened.error().text();
    EXPECT_EQ(opened->queues.at(0).found, ports::QueueFound::otherwise);
    EXPECT_THAT(opened->queues.at(0).detail, HasSubstr("maxReceiveCount is 5: set it to 3"));
    EXPECT_THAT(opened->queues.at(0).detail, HasSubstr("to 1209600"));
    EXPECT_EQ(opened->queues.at(1).found, ports::QueueFound::otherwise);
    EXPECT_THAT(opened->queues.at(1).detail, HasSubstr("create = true"));
  }
  const auto warned = world.log.of("broker.queue_otherwise");
  ASSERT_THAT(warned, SizeIs(2));
  EXPECT_EQ(warned[0].level, Level::warning);
  EXPECT_THAT(sqs.seen("CreateQueue"), IsEmpty());  // nobody asked for that
}

TEST_F(SqsFaults, makes_what_is_missing_if_told_to) {
  Options options = this->options();
  options.create = true;
  options.most_receives = 7;
  auto queues = std::make_shared<std::map<std::string, std::string>>();
  sqs.always("GetQueueAttributes",
             [queues](const Seen& seen) { return attributes_by_name(*queues)(seen); });
  sqs.always("CreateQueue", [queues](const Seen& seen) {
    const Json asked(seen.body);
    std::string attributes;
    for (const auto& [name, value] : asked.find("Attributes")->members())
      attributes += ",\"" + name + "\":" + ScriptedSqs::quoted_text(value.text());
    (*queues)[asked.text_of("QueueName")] = attributes;
    return testing::http_answer("200 OK", R"({"QueueUrl":"x"})");
  });
  BrokerWorld world(with(options));
  const auto opened = world.make_sure(
      {.queues = {
           {.name = "jobs.fifo", .dead_letter = ports::Address{.routing_key = "jobs-dlq.fifo"}}}});
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->queues.at(0).found, ports::QueueFound::ready) << opened->queues.at(0).detail;
  const auto made = sqs.seen("CreateQueue");
  ASSERT_THAT(made, SizeIs(2));
  EXPECT_THAT(made[0].body, HasSubstr(R"("MessageRetentionPeriod":"1209600")"));
  EXPECT_THAT(made[1].body, HasSubstr(R"("FifoQueue":"true")"));
  EXPECT_THAT(made[1].body, HasSubstr("arn:aws:sqs:r:1:jobs-dlq.fifo"));
  EXPECT_THAT(made[1].body, HasSubstr(R"(maxReceiveCount\":\"7\")"));
}

}  // namespace
}  // namespace holdfast::conformance::sqs_faults_test
