#include "brokers/sqs/arrival.hpp"

#include <gmock/gmock.h>

#include "brokers/sqs/envelope.hpp"
#include "brokers/sqs/text.hpp"
#include "brokers/sqs/topologies.hpp"
#include "brokers/sqs/trouble.hpp"
#include "core/json_text.hpp"

namespace holdfast::brokers::sqs::arrival_test {
namespace {

using namespace std::chrono_literals;
using ports::Field;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Arrival only(const std::string& message, std::string_view queue = "jobs") {
  const std::string answer = R"({"Messages":[)" + message + "]}";
  auto all = arrivals(answer, queue);
  EXPECT_THAT(all, SizeIs(1));
  return all.empty() ? Arrival() : std::move(all[0]);
}

std::string with_attributes(const std::string& attributes, const std::string& more = "") {
  return R"({"MessageId":"m-1","ReceiptHandle":"r-1","Body":"hello","Attributes":{)" + attributes +
         "}" + more + "}";
}

TEST(SqsArrival, is_none_of_an_empty_answer) {
  EXPECT_THAT(arrivals("{}", "jobs"), IsEmpty());
  EXPECT_THAT(arrivals(R"({"Messages":null})", "jobs"), IsEmpty());
}

TEST(SqsArrival, names_what_other_clients_leave_nameless) {
  const Arrival got = only(with_attributes(
      R"("SentTimestamp":"1700000000999","ApproximateReceiveCount":"1")",
      R"(,"MessageAttributes":{"MessageType":{"DataType":"String","StringValue":"a.b"}})"));
  EXPECT_EQ(got.id, "m-1");
  EXPECT_EQ(got.receipt, "r-1");
  EXPECT_FALSE(got.is_redelivered);
  EXPECT_FALSE(got.is_damaged);
  EXPECT_EQ(got.message.body, "hello");
  EXPECT_EQ(got.message.message_id, "m-1");
  EXPECT_EQ(got.message.timestamp, 1'700'000'000U);
  EXPECT_EQ(got.message.headers, (ports::FieldTable{{"MessageType", Field("a.b")}}));
}

// R9: what SQS counts is a floor of the attempts.
TEST(SqsArrival, tells_how_often_it_was_handed_out_before) {
  const Arrival got = only(with_attributes(R"("ApproximateReceiveCount":"3")"));
  EXPECT_TRUE(got.is_redelivered);
  EXPECT_EQ(ports::number_of(got.message.headers, "x-delivery-count"), 2);
}

TEST(SqsArrival, does_not_count_that_a_fifo_message_came_too_early) {
  const ports::Message sent{.body = "later", .headers = {}};
  const auto envelope = seal(sent, true, WallTime(1700000000s));
  ASSERT_TRUE(envelope);
  std::string ours;
  append_json_string(ours, envelope->attributes.back().value);
  const auto received = [&](int count) {
    return with_attributes(
        R"("ApproximateReceiveCount":")" + std::to_string(count) + R"(")",
        R"(,"MessageAttributes":{"holdfast":{"DataType":"String","StringValue":)" + ours + "}}");
  };
  const auto count = [&](int receives, std::string_view queue) {
    return ports::number_of(only(received(receives), queue).message.headers, "x-delivery-count");
  };
  EXPECT_EQ(count(1, "jobs.fifo"), std::nullopt);
  EXPECT_EQ(count(2, "jobs.fifo"), std::nullopt);
  EXPECT_EQ(count(3, "jobs.fifo"), 1);
  EXPECT_EQ(count(2, "jobs"), 1);
  EXPECT_EQ(only(received(1)).due, WallTime(1700000000s));
}

TEST(SqsArrival, tells_where_it_died) {
  const Arrival got = only(
      with_attributes(R"("DeadLetterQueueSourceArn":"arn:aws:sqs:eu-central-1:123456789012:jobs")"),
      "jobs-dlq");
  const auto deaths = ports::deaths_of(got.message);
  ASSERT_THAT(deaths, SizeIs(1));
  EXPECT_EQ(deaths[0].queue, "jobs");
  EXPECT_EQ(deaths[0].reason, "delivery_limit");
  EXPECT_EQ(deaths[0].count, 1);
  EXPECT_THAT(deaths[0].routing_keys, ElementsAre("jobs"));
}

TEST(SqsArrival, keeps_its_group_and_sees_damage) {
  const Arrival got = only(with_attributes(R"("MessageGroupId":"orders")", R"(,"MD5OfBody":"00")"));
  EXPECT_EQ(ports::text_of(got.message.headers, "x-holdfast-group"), "orders");
  EXPECT_TRUE(got.is_damaged);
  EXPECT_FALSE(
      only(with_attributes("", R"(,"MD5OfBody":")" + md5_hex("hello") + R"(")")).is_damaged);
}

// ---- what an answer means ----

io::HttpResponse answer_of(int status, std::string body, const std::string& head = "") {
  return {.status = status, .head = "HTTP/1.1 x\r\n" + head, .body = std::move(body)};
}

Trouble::Kind kind_of(int status, const std::string& type) {
  return trouble_of(answer_of(status, R"({"__type":")" + type + R"(","message":"m"})"), WallTime())
      .kind;
}

TEST(SqsTrouble, is_told_by_its_code) {
  using Kind = Trouble::Kind;
  EXPECT_EQ(kind_of(400, "com.amazonaws.sqs#QueueDoesNotExist"), Kind::no_queue);
  EXPECT_EQ(kind_of(400, "AWS.SimpleQueueService.NonExistentQueue"), Kind::no_queue);
  EXPECT_EQ(kind_of(400, "com.amazonaws.sqs#RequestThrottled"), Kind::throttled);
  EXPECT_EQ(kind_of(400, "OverLimit"), Kind::throttled);
  EXPECT_EQ(kind_of(429, "x"), Kind::throttled);
  EXPECT_EQ(kind_of(503, "x"), Kind::throttled);
  EXPECT_EQ(kind_of(500, "InternalFailure"), Kind::server);
  EXPECT_EQ(kind_of(400, "InvalidParameterValue"), Kind::refused);
  EXPECT_EQ(kind_of(403, "AccessDeniedException"), Kind::unsent);
  EXPECT_EQ(kind_of(400, "com.amazon.coral.service#ExpiredTokenException"), Kind::unsent);
  const Trouble plain = trouble_of(answer_of(502, "<html>", "Retry-After: 7\r\n"), WallTime());
  EXPECT_EQ(plain.text(), "HTTP 502");
  EXPECT_EQ(plain.retry_after, Duration(7s));
}

TEST(SqsTrouble, says_whether_a_message_may_be_there) {
  using Kind = Trouble::Kind;
  using ports::Fate;
  const auto fate = [](Kind kind, bool earlier = false) {
    return sent_of(Trouble{.kind = kind}, earlier).fate;
  };
  EXPECT_EQ(fate(Kind::unsent), Fate::unsent);
  EXPECT_EQ(fate(Kind::throttled), Fate::unsent);
  EXPECT_EQ(fate(Kind::refused), Fate::refused);
  EXPECT_EQ(fate(Kind::no_queue), Fate::returned);
  EXPECT_EQ(fate(Kind::unknown), Fate::unknown);
  EXPECT_EQ(fate(Kind::server), Fate::unknown);
  for (const Kind kind : {Kind::unsent, Kind::throttled, Kind::refused, Kind::no_queue})
    EXPECT_EQ(fate(kind, true), Fate::unknown);
}

// ---- how queues should be ----

constexpr const char* kPolicy =
    R"("RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:r:1:jobs-dlq\",\"maxReceiveCount\":3}")";

QueueFacts facts(const std::string& attributes) {
  const std::string answer =
      R"({"Attributes":{"QueueArn":"arn:aws:sqs:r:1:x",)" + attributes + "}}";
  return queue_facts(answer);
}

TEST(SqsTopologies, finds_nothing_wrong_with_what_is_right) {
  const ports::QueueWish wish{.name = "jobs",
                              .dead_letter = ports::Address{.routing_key = "jobs-dlq"}};
  const auto jobs = facts(kPolicy + std::string(R"(,"MessageRetentionPeriod":"345600")"));
  EXPECT_EQ(jobs.arn, "arn:aws:sqs:r:1:x");
  EXPECT_EQ(jobs.most_receives, 3);
  EXPECT_THAT(differences(wish, jobs, facts(R"("MessageRetentionPeriod":"1209600")"), 3),
              IsEmpty());
  EXPECT_THAT(differences(wish, jobs, facts(R"("MessageRetentionPeriod":"345601")"), 3), IsEmpty());
  EXPECT_THAT(differences({.name = "jobs"}, facts(R"("x":"y")"), std::nullopt, 3), IsEmpty());
}

// Trap 8
TEST(SqsTopologies, says_of_each_difference_what_to_set) {
  const ports::QueueWish wish{.name = "jobs",
                              .dead_letter = ports::Address{.routing_key = "jobs-dlq"}};
  const auto long_lived = facts(R"("MessageRetentionPeriod":"1209600")");
  EXPECT_THAT(differences(wish, facts(R"("x":"y")"), long_lived, 3),
              ElementsAre(HasSubstr("no redrive policy")));
  EXPECT_THAT(differences(wish, facts(kPolicy), long_lived, 5),
              ElementsAre(HasSubstr("maxReceiveCount is 3: set it to 5")));
  EXPECT_THAT(differences(wish, facts(kPolicy), std::nullopt, 3),
              ElementsAre(HasSubstr("is missing")));
  // As long is too short: what has waited before it died is older.
  EXPECT_THAT(differences(wish, facts(kPolicy), facts(R"("MessageRetentionPeriod":"345600")"), 3),
              ElementsAre(HasSubstr("MessageRetentionPeriod")));
  const ports::QueueWish other{.name = "jobs",
                               .dead_letter = ports::Address{.routing_key = "other"}};
  EXPECT_THAT(differences(other, facts(kPolicy), long_lived, 3),
              ElementsAre(HasSubstr("leads to \"jobs-dlq\"")));
  const ports::QueueWish fifo{.name = "jobs.fifo",
                              .dead_letter = ports::Address{.routing_key = "jobs-dlq"}};
  EXPECT_THAT(differences(fifo, facts(kPolicy), long_lived, 3), ElementsAre(HasSubstr("a FIFO")));
}

}  // namespace
}  // namespace holdfast::brokers::sqs::arrival_test
