#include "engine/carried_message.hpp"

#include <gtest/gtest.h>

namespace holdfast::engine::carried_message_test {
namespace {

ports::TaskRecord some_task() {
  ports::TaskRecord task;
  task.id = TaskId::parse("01912d68-783e-7a03-8467-5661c1243ad4").value();
  task.type = "scan.file";
  task.queue = "malscan.jobs";
  task.payload = "{\"object\":\"a\"}";
  task.task.spent.attempts = 1;
  return task;
}

TEST(CarriedMessage, says_whose_it_is_and_is_durable) {
  const ports::Message message = message_for(some_task(), nullptr);
  EXPECT_EQ(task_of(message), some_task().id);
  EXPECT_EQ(message.body, some_task().payload);
  EXPECT_EQ(message.delivery_mode, 2);
  EXPECT_EQ(message.content_type, "application/json");
  EXPECT_EQ(message.message_id, some_task().id.text());
  EXPECT_EQ(ports::number_of(message.headers, kAttemptHeader), 1);
}

TEST(CarriedMessage, trap_7_copies_have_no_deaths) {
  ports::Message original{.body = "b",
                          .headers = {{"x-death", ports::Field::Value(ports::FieldArray{})},
                                      {"x-first-death-queue", "q"},
                                      {"x-last-death-reason", "expired"},
                                      {"x-delivery-count", std::int64_t{3}},
                                      {"CC", "other"},
                                      {"tenant", "blue"}}};
  original.expiration = "1000";
  original.user_id = "them";
  const ports::Message copy = copy_of(original);
  EXPECT_EQ(copy.headers, (ports::FieldTable{{"tenant", "blue"}}));
  EXPECT_EQ(copy.expiration, std::nullopt);
  EXPECT_EQ(copy.user_id, std::nullopt);
}

TEST(CarriedMessage, V6_types_of_foreign_messages_by_header_then_property_then_the_queues) {
  ports::Delivery delivery;
  const auto type = [&] { return adopted(delivery, "q", "fallback").type; };
  EXPECT_EQ(type(), "fallback");
  delivery.message.type = "property";
  EXPECT_EQ(type(), "property");
  delivery.message.headers = {{"MessageType", "header"}};
  EXPECT_EQ(type(), "header");
  delivery.message.headers = {{"MessageType", std::string(300, 'x')}};
  EXPECT_EQ(type(), "property");
}

TEST(CarriedMessage, keys_are_of_id_and_content) {
  ports::Delivery delivery;
  EXPECT_EQ(adopted(delivery, "q", "t").key, "");
  delivery.message.message_id = "1";
  delivery.message.body = "a";
  const std::string key = adopted(delivery, "q", "t").key;
  EXPECT_FALSE(key.empty());
  EXPECT_EQ(adopted(delivery, "q", "t").key, key);
  EXPECT_NE(adopted(delivery, "other", "t").key, key);
  delivery.message.body = "b";
  EXPECT_NE(adopted(delivery, "q", "t").key, key) << "the same id with other content is another";
}

TEST(CarriedMessage, R9_counts_are_the_greatest_of_what_the_headers_tell) {
  const auto death = [](const char* queue, const char* reason, std::int64_t count) {
    return ports::Field(ports::Field::Value(
        ports::FieldTable{{"queue", queue}, {"reason", reason}, {"count", count}}));
  };
  ports::Message message;
  EXPECT_EQ(attempts_before(message, "q"), 0);
  message.headers = {{"x-death", ports::Field::Value(ports::FieldArray{
                                     death("q.wait", "expired", 7), death("q", "rejected", 2),
                                     death("other", "rejected", 9)})}};
  EXPECT_EQ(attempts_before(message, "q"), 2);
  ports::set_field(message.headers, "x-delivery-count", std::int64_t{4});
  EXPECT_EQ(attempts_before(message, "q"), 4);
  ports::set_field(message.headers, kAttemptHeader, std::int64_t{5});
  EXPECT_EQ(attempts_before(message, "q"), 5);
}

}  // namespace
}  // namespace holdfast::engine::carried_message_test
