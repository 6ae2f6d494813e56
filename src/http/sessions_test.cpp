#include "http/sessions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/testing/fake_clock.hpp>

namespace holdfast::http::sessions_test {
namespace {

using ::testing::MatchesRegex;
using namespace std::chrono_literals;

struct SessionsTest : ::testing::Test {
  std::string begin(std::string_view token = "ann-ann-ann") {
    return sessions.begin(token, tokens).value_or("none");
  }
  std::string name_of(std::string_view id) {
    const auto caller = sessions.caller_of(id, tokens);
    return caller ? caller->name : "nobody";
  }

  holdfast::testing::FakeClock clock;
  Tokens tokens{
      {{"ann", Role::operate, sha256("ann-ann-ann")}, {"eye", Role::read, sha256("eye-eye-eye")}}};
  Sessions sessions{clock};
};

TEST_F(SessionsTest, one_stands_for_its_token) {
  const std::string id = begin("eye-eye-eye");
  EXPECT_THAT(id, MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(id.size(), 64U) << "256 bits";
  const auto caller = sessions.caller_of(id, tokens);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->name, "eye");
  EXPECT_EQ(caller->role, Role::read);
  EXPECT_NE(begin("eye-eye-eye"), id) << "each its own";
  for (const char* other : {"", "0", "eye-eye-eye", "ann-ann-ann"})
    EXPECT_EQ(name_of(other), "nobody") << other;
  EXPECT_EQ(name_of(id + " "), "nobody");
}

TEST_F(SessionsTest, nobody_has_one_without_a_token) {
  for (const char* wrong : {"", "ann", "ann-ann-anN", "ann-ann-ann "})
    EXPECT_EQ(begin(wrong), "none") << wrong;
  EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(SessionsTest, ends_when_told_and_after_twelve_hours) {
  const std::string first = begin();
  const std::string second = begin();
  sessions.end(first);
  EXPECT_EQ(name_of(first), "nobody");
  sessions.end("unknown");
  clock.advance(12h - 1s);
  EXPECT_EQ(name_of(second), "ann");
  clock.advance(1s);
  EXPECT_EQ(name_of(second), "nobody");
  begin();
  EXPECT_EQ(sessions.size(), 1U) << "what has ended is forgotten";
}

TEST_F(SessionsTest, ends_with_its_token_and_has_the_role_that_it_has_now) {
  const std::string ann = begin();
  const std::string eye = begin("eye-eye-eye");
  // Another secret under the same name is another token.
  tokens = Tokens(
      {{"ann", Role::operate, sha256("another")}, {"eye", Role::work, sha256("eye-eye-eye")}});
  EXPECT_EQ(name_of(ann), "nobody");
  EXPECT_EQ(sessions.caller_of(eye, tokens)->role, Role::work);
  sessions.keep(tokens);
  EXPECT_EQ(sessions.size(), 1U);
  EXPECT_EQ(name_of(eye), "eye");
}

TEST_F(SessionsTest, of_too_many_the_oldest_goes) {
  const std::string oldest = begin();
  clock.advance(1s);
  const std::string next = begin();
  for (std::size_t i = 2; i < Sessions::kMost; ++i)
    begin();
  EXPECT_EQ(name_of(oldest), "ann");
  clock.advance(1s);
  const std::string latest = begin();
  EXPECT_EQ(sessions.size(), Sessions::kMost);
  EXPECT_EQ(name_of(oldest), "nobody");
  EXPECT_EQ(name_of(next), "ann");
  EXPECT_EQ(name_of(latest), "ann");
}

TEST(Cookies, are_found_among_others) {
  EXPECT_EQ(cookie_in("a=1; holdfast_session=x=y; b=2", kSessionCookie), "x=y");
  EXPECT_EQ(cookie_in("holdfast_session=x", kSessionCookie), "x");
  EXPECT_EQ(cookie_in(" ;;holdfast_session= ", kSessionCookie), "");
  EXPECT_EQ(cookie_in("holdfast_session=first;holdfast_session=second", kSessionCookie), "first");
  for (const char* header : {"", ";", "holdfast_session", "my_holdfast_session=x",
                             "a=holdfast_session", "Holdfast_session=x", "holdfast_session =x"})
    EXPECT_EQ(cookie_in(header, kSessionCookie), std::nullopt) << header;
}

}  // namespace
}  // namespace holdfast::http::sessions_test
