#include "core/uuid.hpp"

#include <chrono>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace holdfast::uuid_test {
namespace {

using namespace std::chrono_literals;

// The example of RFC 9562, appendix A.6: made at 2022-02-22T19:22:22Z.
constexpr std::string_view kExample = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
constexpr WallTime kNow{1645557742s};

// Always the same value: the worst case for uniqueness.
class Constant final : public Random {
 public:
  explicit Constant(std::uint64_t value) : value_(value) {}
  std::uint64_t next() noexcept override { return value_; }

 private:
  std::uint64_t value_;
};

class Sequence final : public Random {
 public:
  explicit Sequence(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept override {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_;
};

std::string parse_error(std::string_view text) {
  const auto parsed = Uuid::parse(text);
  return parsed ? "no error" : parsed.error().text();
}

TEST(Uuid, reads_and_writes_text) {
  const auto uuid = Uuid::parse(kExample);
  ASSERT_TRUE(uuid);
  EXPECT_EQ(uuid->text(), kExample);
  EXPECT_EQ(uuid->version(), 7);
  EXPECT_EQ(Uuid::parse("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"), uuid);
  EXPECT_EQ(Uuid().text(), "00000000-0000-0000-0000-000000000000");
}

TEST(Uuid, a_bad_text_is_an_error_that_names_the_place) {
  EXPECT_EQ(parse_error(""), R"(parse UUID: "": too short, ends at offset 0)");
  EXPECT_EQ(parse_error("017f22e2-79b0"),
            R"(parse UUID: "017f22e2-79b0": too short, ends at offset 13)");
  EXPECT_EQ(parse_error("017f22e2x"), R"(parse UUID: "017f22e2x": expected "-" at offset 8)");
  EXPECT_EQ(parse_error("017g22e2"),
            R"(parse UUID: "017g22e2": expected a hexadecimal digit at offset 3)");
  EXPECT_EQ(parse_error(std::string(kExample) + "0"),
            R"(parse UUID: "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0": unexpected text at offset 36)");
  EXPECT_EQ(TaskId::parse("-").error().text(),
            R"(parse task id: "-": expected a hexadecimal digit at offset 0)");
}

TEST(Uuid, tells_the_time_of_version_7_only) {
  EXPECT_EQ(Uuid::parse(kExample)->time(), kNow);
  EXPECT_EQ(Uuid::parse("919108f7-52d1-4320-9bac-f847db4148a8")->time(), std::nullopt);
  EXPECT_EQ(Uuid::parse("ffffffff-ffff-7fff-bfff-ffffffffffff")->time(), std::nullopt);
}

TEST(UuidSource, makes_version_7_of_the_rfc_variant) {
  Sequence random(1);
  const Uuid uuid = UuidSource(random).next(kNow + 999us);
  EXPECT_EQ(uuid.version(), 7);
  EXPECT_EQ(uuid.bytes()[8] >> 6, 2);
  EXPECT_EQ(uuid.time(), kNow);
}

TEST(UuidSource, grows_within_one_millisecond_even_where_random_is_constant) {
  for (const std::uint64_t value : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    Constant random(value);
    UuidSource source(random);
    Uuid before = source.next(kNow);
    for (int i = 0; i < 10'000; ++i) {
      const Uuid next = source.next(kNow);
      ASSERT_LT(before, next);
      before = next;
    }
    EXPECT_EQ(before.time(), kNow);
  }
}

TEST(UuidSource, keeps_the_latest_time_while_the_clock_is_behind_it) {
  Sequence random(7);
  UuidSource source(random);
  const Uuid first = source.next(kNow);
  const Uuid second = source.next(kNow - 1h);
  EXPECT_LT(first, second);
  EXPECT_EQ(second.time(), kNow);
  EXPECT_EQ(source.next(kNow + 1ms).time(), kNow + 1ms);
}

TEST(UuidSource, a_clock_before_1970_counts_as_1970) {
  Sequence random(7);
  EXPECT_EQ(UuidSource(random).next(WallTime::min()).time(), WallTime{});
}

TEST(UuidSource, two_sources_do_not_meet) {
  Sequence one(1);
  Sequence two(2);
  UuidSource a(one);
  UuidSource b(two);
  std::unordered_set<Uuid> all;
  for (int i = 0; i < 1000; ++i) {
    all.insert(a.next(kNow));
    all.insert(b.next(kNow));
  }
  EXPECT_EQ(all.size(), 2000U);
}

TEST(TaskId, is_a_type_of_its_own) {
  static_assert(!std::is_convertible_v<Uuid, TaskId>);
  static_assert(!std::is_convertible_v<TaskId, Uuid>);
  const auto id = TaskId::parse(kExample);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->text(), kExample);
  EXPECT_EQ(std::unordered_set<TaskId>({*id, *id}).size(), 1U);
}

RC_GTEST_PROP(UuidSource, made_later_sorts_later_whatever_the_clock_does, ()) {
  const auto steps_ms = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-3, 4));
  Sequence random(*rc::gen::positive<std::uint64_t>());
  UuidSource source(random);
  Uuid before;
  WallTime now = kNow;
  for (const int step_ms : steps_ms) {
    now += std::chrono::milliseconds(step_ms);
    const Uuid next = source.next(now);
    RC_ASSERT(before < next);
    RC_ASSERT(before.text() < next.text());
    before = next;
  }
}

RC_GTEST_PROP(Uuid, text_reads_back_as_itself, ()) {
  const auto bytes = *rc::gen::container<Uuid::Bytes>(rc::gen::arbitrary<std::uint8_t>());
  const auto parsed = Uuid::parse(Uuid(bytes).text());
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == Uuid(bytes));
}

}  // namespace
}  // namespace holdfast::uuid_test
