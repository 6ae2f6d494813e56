// What is read off a message, where it goes, and how its copy looks.
#include <gtest/gtest.h>

#include <holdfast/testing/fake_random.hpp>

#include "recovery/copy.hpp"
#include "recovery/decision.hpp"
#include "recovery/filter.hpp"
#include "recovery/identity.hpp"
#include "recovery/routes.hpp"
#include "recovery/run_id.hpp"
#include "support/recovery_world.hpp"

namespace holdfast::recovery::rules_test {
namespace {

using namespace std::chrono_literals;
using ports::Field;
using ports::FieldArray;
using ports::FieldTable;
using ports::text_of;
using testing::dead;
using testing::death;

ports::Delivery delivered(ports::Message message) {
  return {.tag = {1, 1}, .message = std::move(message), .from = {}};
}

const WallTime kNow = WallTime(std::chrono::seconds(1'893'456'000));

TEST(Type, V6_is_the_header_then_the_routing_key_then_unknown) {
  ports::Message message = dead("1", "collection.scan");
  auto delivery = delivered(message);
  EXPECT_EQ(read_letter(delivery).type, "collection.scan");
  EXPECT_FALSE(read_letter(delivery).has_type_header);
  ports::set_field(message.headers, "MessageType", "CollectionScan");
  delivery = delivered(message);
  EXPECT_EQ(read_letter(delivery).type, "CollectionScan");
  EXPECT_TRUE(read_letter(delivery).has_type_header);
  delivery = delivered({.body = "x", .headers = {}});
  EXPECT_EQ(read_letter(delivery).type, "");
}

TEST(Type, V6_odd_headers_are_unknown_and_harm_nobody) {
  for (const Field& odd :
       {Field("text"), Field(Field::Value(FieldArray{})), Field(Field::Value(FieldTable{})),
        Field(Field::Value(FieldArray{Field(Field::Value(FieldTable{{"queue", "q"}}))}))}) {
    const auto delivery = delivered({.body = "", .headers = {{"x-death", odd}}});
    const Letter letter = read_letter(delivery);
    EXPECT_EQ(letter.type, "");
    EXPECT_EQ(letter.died(), std::nullopt);
  }
  const auto delivery =
      delivered({.body = "", .headers = {{"MessageType", Field(std::int64_t{5})}}});
  EXPECT_EQ(read_letter(delivery).type, "");
}

TEST(Target, V7_comes_from_the_map_by_type) {
  const Routes routes{.map = {{"CollectionScan", {.routing_key = "collection.scan"}},
                              {"LibraryScan", {.exchange = "lib", .routing_key = "scan"}}}};
  ports::Message message = dead("1", "other");
  ports::set_field(message.headers, "MessageType", "LibraryScan");
  const auto by_header = delivered(message);
  EXPECT_EQ(target_of(read_letter(by_header), routes),
            (ports::Address{.exchange = "lib", .routing_key = "scan"}));
  // Without a header the routing key is the type, and names its row from the other side.
  const auto by_key = delivered(dead("2", "collection.scan"));
  EXPECT_EQ(target_of(read_letter(by_key), routes),
            (ports::Address{.routing_key = "collection.scan"}));
  const auto unknown = delivered(dead("3", "nobody.knows"));
  EXPECT_EQ(target_of(read_letter(unknown), routes).error(),
            "the map has no type \"nobody.knows\"");
  const auto none = delivered({.body = "x", .headers = {}});
  EXPECT_FALSE(target_of(read_letter(none), routes));
}

TEST(Target, origin_is_the_first_death_of_several) {
  ports::Message message{.body = "x", .headers = {}};
  message.headers = {
      {"x-death", Field::Value(FieldArray{death("retry", "expired", "again", "later"),
                                          death("work", "rejected", "jobs", "scan.file")})}};
  const auto plain = delivered(message);
  EXPECT_EQ(target_of(read_letter(plain), {.to = Routes::To::origin_exchange}),
            (ports::Address{.exchange = "jobs", .routing_key = "scan.file"}));
  EXPECT_EQ(target_of(read_letter(plain), {.to = Routes::To::origin_queue}),
            (ports::Address{.routing_key = "work"}));
  // An entry moves to the front when its death is repeated: what the broker names wins.
  std::swap(std::get<FieldArray>(message.headers[0].second.value)[0],
            std::get<FieldArray>(message.headers[0].second.value)[1]);
  ports::set_field(message.headers, "x-first-death-queue", "work");
  ports::set_field(message.headers, "x-first-death-reason", "rejected");
  ports::set_field(message.headers, "x-first-death-exchange", "jobs");
  const auto named = delivered(message);
  EXPECT_EQ(target_of(read_letter(named), {.to = Routes::To::origin_exchange}),
            (ports::Address{.exchange = "jobs", .routing_key = "scan.file"}));
  EXPECT_EQ(target_of(read_letter(named), {.to = Routes::To::origin_queue}),
            (ports::Address{.routing_key = "work"}));
}

TEST(Target, without_a_death_there_is_no_origin) {
  const auto delivery = delivered({.body = "x", .headers = {}});
  EXPECT_FALSE(target_of(read_letter(delivery), {.to = Routes::To::origin_exchange}));
  EXPECT_FALSE(target_of(read_letter(delivery), {.to = Routes::To::origin_queue}));
}

TEST(Target, N10_dead_letters_of_holdfast_itself_go_back_to_their_queue) {
  const auto delivery = delivered({.body = "x",
                                   .headers = {{"x-holdfast-type", "scan.file"},
                                               {"x-holdfast-reason", "out of attempts"},
                                               {"x-holdfast-error", "connection refused"},
                                               {"x-holdfast-queue", "malscan.jobs"}}});
  const Letter letter = read_letter(delivery);
  EXPECT_EQ(letter.type, "scan.file");
  EXPECT_EQ(letter.reason_text(), "out of attempts: connection refused");
  EXPECT_EQ(target_of(letter, {.to = Routes::To::origin_queue}),
            (ports::Address{.routing_key = "malscan.jobs"}));
  EXPECT_EQ(target_of(letter, {.to = Routes::To::origin_exchange}),
            (ports::Address{.routing_key = "malscan.jobs"}));
}

// V8
TEST(Copy, V8_keeps_body_and_properties_and_drops_the_deaths) {
  ports::Message message = dead("4711");
  message.content_type = "application/json";
  message.priority = 3;
  message.correlation_id = "c";
  message.timestamp = 1'700'000'000;
  message.headers.emplace_back("tenant", Field::Value(std::int16_t{7}));
  message.headers.emplace_back("x-last-death-queue", "work");
  message.headers.emplace_back("x-delivery-count", std::int64_t{2});
  const auto delivery = delivered(message);
  const ports::Message copy = recovered_copy(read_letter(delivery), {.run = "r"});
  for (const auto& [name, value] : copy.headers)
    EXPECT_FALSE(is_of_a_death(name)) << name;
  EXPECT_EQ(text_of(copy.headers, kRecovered), "1, r, rejected in work");
  EXPECT_EQ(*ports::find_field(copy.headers, "tenant"), Field(Field::Value(std::int16_t{7})));
  ports::Message rest = copy;
  rest.headers = message.headers;
  EXPECT_EQ(rest, message);
}

TEST(Copy, what_would_be_refused_or_sent_elsewhere_is_put_aside) {
  ports::Message message = dead("1");
  message.user_id = "bob";
  message.expiration = "5000";
  message.headers.emplace_back("CC", Field::Value(FieldArray{Field("other")}));
  message.headers.emplace_back("BCC", Field::Value(FieldArray{Field("more")}));
  const auto delivery = delivered(message);
  const auto copy = recovered_copy(read_letter(delivery), {.user = "ann"});
  EXPECT_EQ(copy.user_id, std::nullopt);
  EXPECT_EQ(text_of(copy.headers, kSavedUser), "bob");
  EXPECT_EQ(copy.expiration, std::nullopt);
  EXPECT_EQ(text_of(copy.headers, kSavedExpiration), "5000");
  EXPECT_EQ(ports::find_field(copy.headers, "CC"), nullptr);
  EXPECT_NE(ports::find_field(copy.headers, kSavedCc), nullptr);
  EXPECT_EQ(ports::find_field(copy.headers, "BCC"), nullptr);
  EXPECT_NE(ports::find_field(copy.headers, kSavedBcc), nullptr);
  EXPECT_EQ(recovered_copy(read_letter(delivery), {.user = "bob"}).user_id, "bob");
}

TEST(Copy, expires_as_its_original_did_if_that_is_asked_for) {
  ports::Message message = dead("1");
  auto entry = death("work", "expired", "jobs", "scan");
  std::get<FieldTable>(entry.value).emplace_back("original-expiration", "5000");
  ports::set_field(message.headers, "x-death", Field::Value(FieldArray{entry}));
  auto delivery = delivered(message);
  EXPECT_EQ(recovered_copy(read_letter(delivery), {.keep_expiration = true}).expiration, "5000");
  const auto copy = recovered_copy(read_letter(delivery), {});
  EXPECT_EQ(copy.expiration, std::nullopt);
  EXPECT_EQ(text_of(copy.headers, kSavedExpiration), "5000");
  message.expiration = "7000";  // its own comes first
  delivery = delivered(message);
  EXPECT_EQ(recovered_copy(read_letter(delivery), {.keep_expiration = true}).expiration, "7000");
}

TEST(Copy, is_as_persistent_as_the_original_unless_it_is_to_be_more) {
  ports::Message message = dead("1");
  message.delivery_mode = 1;
  const auto delivery = delivered(message);
  EXPECT_EQ(recovered_copy(read_letter(delivery), {}).delivery_mode, 1);
  EXPECT_EQ(recovered_copy(read_letter(delivery), {.persistent = true}).delivery_mode, 2);
}

TEST(Copy, of_what_is_kept_has_its_deaths_and_says_why) {
  const auto copy = kept_copy(dead("1"), {.run = "r"}, "no such type");
  EXPECT_NE(ports::find_field(copy.headers, "x-death"), nullptr);
  EXPECT_EQ(text_of(copy.headers, kKeptBy), "r");
  EXPECT_EQ(text_of(copy.headers, kKeptBecause), "no such type");
}

TEST(Letter, says_how_often_it_was_brought_back_and_by_whom) {
  const auto said = [](std::string_view text) {
    const Recovered found = parse_recovered(text);
    return std::to_string(found.times) + "/" + std::string(found.run);
  };
  EXPECT_EQ(said("3, r, rejected in a, b"), "3/r");
  EXPECT_EQ(said("12, r"), "12/r");
  for (const char* text : {"", "3", "3,", "x, r", "-1, r", "99999999999999999999, r", ", r"})
    EXPECT_EQ(said(text), "0/") << text;
}

TEST(RunId, says_when_and_fits_a_short_text) {
  holdfast::testing::FakeRandom random{0.25, 0.5};
  const std::string id = run_id(kNow, random);
  EXPECT_TRUE(id.starts_with("20300101T000000Z-")) << id;
  EXPECT_EQ(id.size(), 25U);
  EXPECT_NE(run_id(kNow, random), id);
}

TEST(Decision, N3_what_came_back_too_often_is_kept) {
  ports::Message message = dead("1");
  ports::set_field(message.headers, kRecovered, "3, another, rejected in work");
  const auto delivery = delivered(message);
  Rules rules{.routes = {.to = Routes::To::queue, .queue = "q"}, .max_recoveries = 3, .run = "r"};
  EXPECT_EQ(decide(read_letter(delivery), rules, kNow).what, Decision::What::skip);
  rules.max_recoveries = 4;
  EXPECT_EQ(decide(read_letter(delivery), rules, kNow).what, Decision::What::recover);
}

TEST(Decision, N3_what_this_run_has_brought_back_is_not_brought_back_again) {
  ports::Message message = dead("1");
  ports::set_field(message.headers, kRecovered, "1, r, rejected in work");
  const auto delivery = delivered(message);
  const Routes routes{.to = Routes::To::queue, .queue = "q"};
  EXPECT_EQ(decide(read_letter(delivery), {.routes = routes, .run = "r"}, kNow).what,
            Decision::What::skip);
  EXPECT_EQ(decide(read_letter(delivery), {.routes = routes, .run = "r2"}, kNow).what,
            Decision::What::recover);
}

TEST(Decision, what_belongs_to_a_queue_that_is_recovered_too_stays) {
  const auto delivery = delivered(dead("1"));
  Rules rules{.routes = {.to = Routes::To::queue, .queue = "b.dlq"}, .run = "r", .queue = "a.dlq"};
  EXPECT_EQ(decide(read_letter(delivery), rules, kNow).what, Decision::What::recover);
  rules.others = {"b.dlq", "c.dlq"};
  EXPECT_EQ(decide(read_letter(delivery), rules, kNow).what, Decision::What::skip);
}

bool chosen(const ports::Message& message, std::vector<std::string> conditions) {
  const auto filter = Filter::parse(conditions);
  EXPECT_TRUE(filter) << (filter ? "" : filter.error().message);
  const auto delivery = delivered(message);
  return filter && filter->chooses(read_letter(delivery), kNow);
}

TEST(Filter, chooses_by_what_a_message_is) {
  ports::Message message = dead("4711", "scan.file");
  message.body = R"({"order": {"id": 4711, "lines": [{"sku": "a"}], "paid": true, "who": null}})";
  message.headers.emplace_back("MessageType", "CollectionScan");
  message.headers.emplace_back("tenant", std::int64_t{12});
  message.headers.emplace_back("x-exception-message", "no such customer");
  for (const char* holds : {"type=CollectionScan",
                            "type!=Other",
                            "type~Scan",
                            "id=4711",
                            "routing_key=scan.file",
                            "exchange=jobs",
                            "queue=work",
                            "reason=rejected",
                            "header.tenant=12",
                            "header.tenant>9",
                            "header.absent!=1",
                            "age>1h",
                            "age<2h",
                            "recoveries=0",
                            "recoveries<1",
                            "error~customer",
                            "body~\"lines\"",
                            "json.order.id=4711",
                            "json.order.id>4710",
                            "json.order.lines.0.sku=a",
                            "json.order.paid=true",
                            "json.order.who!=x"})
    EXPECT_TRUE(chosen(message, {holds})) << holds;
  for (const char* fails :
       {"type=Other", "id=4712", "reason=expired", "header.absent=1", "age>2h", "age<1h",
        "json.order.id=1", "json.nothing=1", "json.order.lines.1.sku=a", "json.order.who=null",
        "recoveries>0", "error=customer"})
    EXPECT_FALSE(chosen(message, {fails})) << fails;
}

TEST(Filter, reads_decimals) {
  ports::Message message = dead("1");
  message.headers.emplace_back("price", Field::Value(Field::Decimal{.places = 2, .digits = 1250}));
  message.headers.emplace_back("cent", Field::Value(Field::Decimal{.places = 2, .digits = 1}));
  for (const char* holds : {"header.price=12.5", "header.cent=0.01", "header.cent<0.1"})
    EXPECT_TRUE(chosen(message, {holds})) << holds;
}

TEST(Filter, wants_all_of_several_to_hold) {
  EXPECT_TRUE(chosen(dead("1"), {"reason=rejected", "id=1"}));
  EXPECT_FALSE(chosen(dead("1"), {"reason=rejected", "id=2"}));
  EXPECT_TRUE(chosen(dead("1"), {}));
}

TEST(Filter, joins_conditions) {
  const ports::Message message = dead("4711", "scan.file");
  for (const char* holds :
       {"id=1 or id=4711", "not id=1", "reason=rejected and (id=1 or id>=4711)",
        "id=~^47[0-9]+$ and body!~error", "age<=1h or not age>2h", "header.absent!~x"})
    EXPECT_TRUE(chosen(message, {holds})) << holds;
  for (const char* fails :
       {"id=1 or id=2", "not (id=4711 or id=1)", "id=~^47$", "header.absent=~."})
    EXPECT_FALSE(chosen(message, {fails})) << fails;
  EXPECT_FALSE(chosen(message, {"id=1 or id=4711", "reason=expired"}));
}

TEST(Filter, names_all_that_are_wrong) {
  const std::vector<std::string> both = {"tipe=x", "id=1", "id=2 and age=1h"};
  EXPECT_EQ(Filter::parse(both).error().message,
            "filter 1, position 1, at \"tipe=x\": unknown name \"tipe\"; did you mean \"type\"?; "
            "and filter 3, position 10, at \"age=1h\": an age is compared with <, >, <= or >=");
}

TEST(Filter, bodies_that_are_no_json_have_no_fields) {
  EXPECT_FALSE(chosen(dead("1"), {"json.a=1"}));
  EXPECT_TRUE(chosen(dead("1"), {"json.a!=1"}));
}

TEST(Filter, names_what_it_does_not_know) {
  const std::vector<std::string> typo = {"tipe=x"};
  EXPECT_EQ(Filter::parse(typo).error().message,
            "position 1, at \"tipe=x\": unknown name \"tipe\"; did you mean \"type\"?");
  for (const char* text :
       {"age>soon", "age~2h", "header.=1", "json.=1", "x", "recoveries<many", "recoveries="}) {
    const std::vector<std::string> one = {text};
    EXPECT_FALSE(Filter::parse(one)) << text;
  }
}

TEST(Identity, is_the_whole_message_and_its_target) {
  const ports::Message message = dead("1");
  const Identity identity = identity_of(message, {.routing_key = "q"});
  EXPECT_EQ(identity, identity_of(dead("1"), {.routing_key = "q"}));
  EXPECT_EQ(parse_identity(to_text(identity)), identity);
  EXPECT_EQ(parse_identity("x"), std::nullopt);
  EXPECT_NE(identity, identity_of(message, {.routing_key = "r"}));
  ports::Message other = message;
  other.body += '!';
  EXPECT_NE(identity, identity_of(other, {.routing_key = "q"}));
  other = message;
  other.message_id = "2";
  EXPECT_NE(identity, identity_of(other, {.routing_key = "q"}));
  other = message;  // died once more, later
  other.headers[0].second =
      Field(Field::Value(FieldArray{death("work", "rejected", "jobs", "scan", 9)}));
  EXPECT_NE(identity, identity_of(other, {.routing_key = "q"}));
  other = message;  // what the broker counts between two deliveries is no other message
  other.headers.emplace_back("x-delivery-count", std::int64_t{1});
  EXPECT_EQ(identity, identity_of(other, {.routing_key = "q"}));
}

TEST(Memory, forgets_the_oldest) {
  Memory memory(2);
  const auto identity = [](const char* id) { return identity_of(dead(id), {}); };
  memory.note(identity("1"), {.copy = Memory::Copy::unknown});
  memory.note(identity("1"), {.copy = Memory::Copy::confirmed, .life = 3});
  memory.note(identity("1"), {.copy = Memory::Copy::unknown});
  EXPECT_EQ(memory.find(identity("1"))->copy, Memory::Copy::confirmed);
  memory.note(identity("2"), {});
  memory.note(identity("3"), {});
  EXPECT_EQ(memory.size(), 2U);
  EXPECT_FALSE(memory.find(identity("1")));
}

TEST(Counts, are_flat_however_many_names_there_are) {
  Counts counts;
  for (std::size_t i = 0; i < Counts::kMostNames + 10; ++i)
    counts.add(std::to_string(i));
  EXPECT_EQ(counts.by_name().size(), Counts::kMostNames);
  EXPECT_EQ(counts.others(), 10U);
  EXPECT_EQ(counts.total(), Counts::kMostNames + 10);
  Counts sum;
  sum.add(counts);
  EXPECT_EQ(sum, counts);
}

}  // namespace
}  // namespace holdfast::recovery::rules_test
