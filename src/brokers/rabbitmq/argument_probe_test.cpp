#include "brokers/rabbitmq/argument_probe.hpp"

#include <amqp.h>
#include <amqp_framing.h>
#include <gtest/gtest.h>

namespace holdfast::brokers::rabbitmq::argument_probe_test {
namespace {

using Kind = ports::QueueFacts::Kind;

// As RabbitMQ 3.10 says it.
std::string differs(const std::string& argument, const std::string& received,
                    const std::string& current) {
  return "the broker says: 406 PRECONDITION_FAILED - inequivalent arg '" + argument +
         "' for queue 'app.dlq' in vhost '/': received " + received + " but current is " + current;
}

TEST(ArgumentProbe, knows_a_classic_queue_when_nothing_differs) {
  ArgumentProbe probe;
  EXPECT_EQ(ports::text_of(probe.arguments(), "x-queue-type"), "classic");
  EXPECT_FALSE(probe.answered(0, ""));
  EXPECT_EQ(probe.facts().kind, Kind::plain);
  EXPECT_TRUE(probe.facts().limit_is_known);
}

TEST(ArgumentProbe, learns_one_argument_after_the_other) {
  ArgumentProbe probe;
  EXPECT_TRUE(probe.answered(
      406, differs("x-dead-letter-exchange", "none", "the value 'grave' of type 'longstr'")));
  EXPECT_TRUE(probe.answered(
      406, differs("x-dead-letter-routing-key", "none", "the value 'it's' of type 'longstr'")));
  EXPECT_TRUE(
      probe.answered(406, differs("x-max-length", "none", "the value '5' of type 'signedint'")));
  EXPECT_TRUE(probe.answered(406, differs("x-queue-type", "'classic'", "'quorum'")));
  EXPECT_EQ(ports::number_of(probe.arguments(), "x-max-length"), 5);
  EXPECT_EQ(ports::text_of(probe.arguments(), "x-queue-type"), "quorum");
  EXPECT_FALSE(probe.answered(406, differs("x-delivery-limit", "'2147480017'", "'5'")));
  const ports::QueueFacts facts = probe.facts();
  EXPECT_EQ(facts.kind, Kind::counts);
  EXPECT_EQ(facts.return_limit, 5);
  EXPECT_FALSE(facts.limit_is_known);  // a policy may say fewer
  EXPECT_EQ(facts.dead_letter, (ports::Address{.exchange = "grave", .routing_key = "it's"}));
}

TEST(ArgumentProbe, a_quorum_queue_may_have_no_limit_of_its_own) {
  ArgumentProbe probe;
  EXPECT_TRUE(probe.answered(406, differs("x-queue-type", "'classic'", "'quorum'")));
  EXPECT_FALSE(probe.answered(
      406, differs("x-delivery-limit", "the value '2147480017' of type 'signedint'", "none")));
  EXPECT_EQ(probe.facts().kind, Kind::counts);
  EXPECT_EQ(probe.facts().return_limit, std::nullopt);
}

TEST(ArgumentProbe, asks_quorum_queues_for_a_limit_and_knows_that_minus_one_is_none) {
  ArgumentProbe probe;
  EXPECT_TRUE(probe.answered(406, differs("x-queue-type", "'classic'", "'quorum'")));
  EXPECT_TRUE(ports::number_of(probe.arguments(), "x-delivery-limit"));
  EXPECT_FALSE(probe.answered(406, differs("x-delivery-limit", "'2147480017'", "'-1'")));
  EXPECT_EQ(probe.facts().return_limit, std::nullopt);
}

TEST(ArgumentProbe, takes_back_what_the_queue_does_not_have) {
  ArgumentProbe probe;
  EXPECT_TRUE(
      probe.answered(406, differs("x-max-length", "none", "the value '5' of type 'signedint'")));
  EXPECT_TRUE(probe.answered(406, differs("x-max-length", "the value '5'", "none")));
  EXPECT_EQ(ports::find_field(probe.arguments(), "x-max-length"), nullptr);
}

TEST(ArgumentProbe, knows_streams_and_what_no_quorum_queue_can_be) {
  ArgumentProbe stream;
  EXPECT_FALSE(stream.answered(406, differs("x-queue-type", "'classic'", "'stream'")));
  EXPECT_EQ(stream.facts().kind, Kind::stream);
  ArgumentProbe transient;
  EXPECT_FALSE(transient.answered(406, differs("durable", "'true'", "'false'")));
  EXPECT_EQ(transient.facts().kind, Kind::plain);
}

TEST(ArgumentProbe, does_not_know_what_it_was_not_told) {
  ArgumentProbe refused;
  EXPECT_FALSE(refused.answered(403, "ACCESS_REFUSED"));
  EXPECT_EQ(refused.facts().kind, Kind::unknown);
  EXPECT_FALSE(refused.facts().limit_is_known);
  EXPECT_EQ(refused.facts().unknown_because, "ACCESS_REFUSED");
  ArgumentProbe lost;
  EXPECT_FALSE(lost.answered(-1, "connection lost"));
  EXPECT_EQ(lost.facts().kind, Kind::unknown);
  ArgumentProbe puzzled;
  EXPECT_FALSE(puzzled.answered(406, "what no broker says"));
  EXPECT_EQ(puzzled.facts().kind, Kind::unknown);
}

TEST(ArgumentProbe, ends_where_an_argument_differs_for_ever) {
  ArgumentProbe probe;
  int rounds = 0;
  while (probe.answered(406, differs("x-odd", "none", "the value 'v' of type 'longstr'")))
    ASSERT_LT(++rounds, 3);
  EXPECT_EQ(probe.facts().kind, Kind::unknown);
}

}  // namespace
}  // namespace holdfast::brokers::rabbitmq::argument_probe_test
