#include "server/queue_sampler.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::server::queue_sampler_test {
namespace {

ports::Delivery letter_of(const std::string& id, const std::string& error, std::uint64_t died) {
  ports::FieldTable first{{"queue", "work"}, {"reason", "rejected"}, {"time", ports::Field()}};
  first.back().second.value = ports::Field::Time{died};
  ports::FieldTable before{{"queue", "inbox"}, {"reason", "expired"}};
  ports::FieldArray deaths;
  deaths.emplace_back(ports::Field::Value(first));
  deaths.emplace_back(ports::Field::Value(before));
  ports::Delivery delivery;
  delivery.message = {.body = "body of " + id,
                      .headers = {{"MessageType", "Scan"},
                                  {"tenant", std::int64_t{7}},
                                  {"x-death", ports::Field(ports::Field::Value(deaths))},
                                  {"x-error", error}},
                      .message_id = id};
  return delivery;
}

TEST(QueueSampler, counts_what_is_alike_and_shows_messages) {
  QueueSampler sampler;
  for (const ports::Delivery& delivery : {letter_of("a", "no customer 17 at 10.0.0.1:80", 1'000),
                                          letter_of("b", "no customer 4 at 10.0.0.2:80", 900),
                                          letter_of("c", "out of memory", 1'100)})
    sampler.note(recovery::read_letter(delivery));
  const wire::QueueSample sample = sampler.sample();
  EXPECT_EQ(sample.seen, 3U);
  EXPECT_EQ(sample.oldest, WallTime(std::chrono::seconds(900)));
  EXPECT_EQ(sample.types, (std::vector<wire::RecoveryCount>{{"Scan", 3}}));
  EXPECT_EQ(sample.reasons, (std::vector<wire::RecoveryCount>{{"rejected", 3}}));
  EXPECT_EQ(sample.origins, (std::vector<wire::RecoveryCount>{{"inbox", 3}}));
  ASSERT_EQ(sample.errors.size(), 2U);
  EXPECT_EQ(sample.errors.front().count, 2U);
  EXPECT_EQ(sample.errors.front().example, "no customer 17 at 10.0.0.1:80");
  ASSERT_EQ(sample.messages.size(), 3U);
  const wire::SampledMessage& first = sample.messages.front();
  EXPECT_EQ(first.id, "a");
  EXPECT_EQ(first.body, "body of a");
  EXPECT_TRUE(first.is_text);
  EXPECT_EQ(first.headers[1], (std::pair<std::string, std::string>("tenant", "7")));
  EXPECT_EQ(first.headers[2].second, "(a list of 2)");
}

TEST(QueueSampler, cuts_what_is_long_and_says_what_is_no_text) {
  ports::Delivery delivery;
  delivery.message.body = "\xff" + std::string(5000, 'x');
  QueueSampler sampler;
  for (std::size_t i = 0; i < 2 * QueueSampler::kMostMessages; ++i)
    sampler.note(recovery::read_letter(delivery));
  const wire::QueueSample sample = sampler.sample();
  EXPECT_EQ(sample.seen, 2 * QueueSampler::kMostMessages);
  ASSERT_EQ(sample.messages.size(), QueueSampler::kMostMessages);
  EXPECT_EQ(sample.messages[0].body.size(), QueueSampler::kMostBodyBytes);
  EXPECT_EQ(sample.messages[0].size, 5001U);
  EXPECT_TRUE(sample.messages[0].is_cut);
  EXPECT_FALSE(sample.messages[0].is_text);
  EXPECT_EQ(sample.oldest, std::nullopt);
}

}  // namespace
}  // namespace holdfast::server::queue_sampler_test
