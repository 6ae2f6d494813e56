#include "wire/claims.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::claims_test {
namespace {

using namespace std::chrono_literals;
using testing::maybe;
using testing::written;

core::Token any_token() {
  return {*rc::gen::arbitrary<std::uint64_t>()};
}

std::optional<Duration> any_lease() {
  return maybe<Duration>(rc::gen::map(rc::gen::inRange<Duration::rep>(1, Duration::max().count()),
                                      [](Duration::rep count) { return Duration(count); }));
}

TEST(Claims, requests_are_read) {
  EXPECT_EQ(
      read_claim_request(R"({"queue":"mails","max":10,"wait":"20s","lease":30,"worker":"host-1"})"),
      (ClaimRequest{.queue = "mails", .max = 10, .wait = 20s, .lease = 30s, .worker = "host-1"}));
  EXPECT_EQ(read_claim_request("{}"), ClaimRequest{});
  EXPECT_EQ(read_extend_request(R"({"token":7})"), ExtendRequest{.token = {7}});
  EXPECT_EQ(read_complete_request(R"({"token":7,"result":{"n": 1.0}})"),
            (CompleteRequest{.token = {7}, .result = "{\"n\": 1.0}"}));
  EXPECT_EQ(read_complete_request(R"({"token":7})"), CompleteRequest{.token = {7}});
  EXPECT_EQ(read_fail_request(R"({"token":7,"message":"no","kind":"timeout","http_status":503,
                                 "exit_code":1,"retry_after":"30s"})"),
            (FailRequest{.token = {7},
                         .message = "no",
                         .kind = FailureKind::timeout,
                         .http_status = 503,
                         .exit_code = 1,
                         .retry_after = 30s}));
}

TEST(Claims, errors_of_requests_say_which_field) {
  EXPECT_EQ(read_claim_request(R"({"max":0})").error().text(),
            "read claim: max: 0 is not from 1 to 1000");
  EXPECT_EQ(read_claim_request(R"({"max":1001})").error().message,
            "max: 1001 is not from 1 to 1000");
  EXPECT_EQ(read_claim_request(R"({"lease":0})").error().message,
            "lease: a lease of no time is none");
  EXPECT_EQ(read_extend_request("{}").error().message, "token: is missing");
  EXPECT_EQ(read_extend_request(R"({"token":"7"})").error().message,
            "token: a whole number is expected, not the text \"7\"");
  EXPECT_EQ(read_complete_request(R"({"token":7,"results":1})").error().message,
            "unknown field \"results\"; did you mean \"result\"?");
  EXPECT_EQ(read_fail_request(R"({"token":7})").error().message, "message: is missing");
  EXPECT_EQ(read_fail_request(R"({"token":7,"message":"m","kind":"eror"})").error().message,
            "kind: \"eror\" is not a kind of failure; did you mean \"error\"?");
  EXPECT_EQ(read_fail_request("").error().code, ErrorCode::invalid_argument);
}

RC_GTEST_PROP(Claims, written_claims_read_back_as_themselves, ()) {
  std::vector<Claimed> claims(*rc::gen::inRange<std::size_t>(0, 3));
  for (Claimed& claimed : claims) {
    claimed = {.id = testing::any_id(),
               .type = *testing::any_text(),
               .queue = *testing::any_text(),
               .payload = *testing::any_payload(),
               .attempt = *rc::gen::arbitrary<int>(),
               .token = any_token(),
               .lease_end = *testing::any_time(),
               .deadline = maybe(testing::any_time()),
               .trace = *testing::any_text(),
               .created = *testing::any_time(),
               .spent = {.attempts = *rc::gen::arbitrary<int>(),
                         .crashes = *rc::gen::arbitrary<int>(),
                         .deferrals = *rc::gen::arbitrary<int>(),
                         .replays = *rc::gen::arbitrary<int>()},
               .previous_wait = *testing::any_span(),
               .max_attempts = maybe(rc::gen::arbitrary<int>()),
               .timeout = maybe(testing::any_span())};
  }
  RC_ASSERT(read_claims(written(std::span<const Claimed>(claims))).value() == claims);
}

RC_GTEST_PROP(Claims, written_requests_read_back_as_themselves, ()) {
  const ClaimRequest claim{.queue = *testing::any_text(),
                           .max = *rc::gen::inRange(1, kMostClaims + 1),
                           .wait = *testing::any_span(),
                           .lease = any_lease(),
                           .worker = *testing::any_text()};
  RC_ASSERT(read_claim_request(written(claim)).value() == claim);
  const ExtendRequest extend{.token = any_token(), .lease = any_lease()};
  RC_ASSERT(read_extend_request(written(extend)).value() == extend);
  const CompleteRequest complete{.token = any_token(), .result = *testing::any_payload()};
  RC_ASSERT(read_complete_request(written(complete)).value() == complete);
  const Failure failure = testing::any_failure();
  const FailRequest fail{.token = any_token(),
                         .message = failure.message,
                         .kind = failure.kind,
                         .http_status = failure.http_status,
                         .exit_code = failure.exit_code,
                         .os_error = failure.os_error,
                         .retry_after = failure.retry_after};
  RC_ASSERT(read_fail_request(written(fail)).value() == fail);
  const ReleaseRequest release{.token = any_token(), .wait = maybe(testing::any_span())};
  RC_ASSERT(read_release_request(written(release)).value() == release);
  const WithdrawRequest withdraw{.worker = *testing::any_text()};
  RC_ASSERT(read_withdraw_request(written(withdraw)).value() == withdraw);
}

TEST(Claims, what_the_workers_rules_say_is_read_with_a_failure) {
  using enum VerdictKind;
  for (const VerdictKind verdict : {retry, throttle, give_up, ambiguous}) {
    const FailRequest fail{
        .token = {7},
        .message = "no",
        .ruled = Ruled{.verdict = verdict, .wait = 2s, .attempts = 5, .crashes = 1, .replays = 0}};
    EXPECT_EQ(read_fail_request(written(fail)), fail);
  }
  EXPECT_EQ(read_fail_request(R"({"token":7,"message":"no"})")->ruled, std::nullopt);
  EXPECT_EQ(read_fail_request(R"({"token":7,"message":"no","verdict":"success"})").error().message,
            "verdict: \"success\" is none of retry, throttle, give_up, ambiguous");
}

}  // namespace
}  // namespace holdfast::wire::claims_test
