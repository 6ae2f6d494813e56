#include "io/forked.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace holdfast::io::forked_test {
namespace {

TEST(Forked, is_a_process_of_its_own_that_can_be_talked_to) {
  const auto other = Forked::start([](int channel) {
    int number = 0;
    if (!receive_all(channel, &number, sizeof number)) return;
    const pid_t self = ::getpid();
    static_cast<void>(send_all(channel, &number, sizeof number) &&
                      send_all(channel, &self, sizeof self));
  });
  ASSERT_TRUE(other) << other.error().text();
  ASSERT_TRUE(other->tell(42));
  EXPECT_EQ(other->hear<int>().value(), 42);
  EXPECT_NE(other->hear<pid_t>().value(), ::getpid());
}

TEST(Forked, one_that_has_died_is_an_error) {
  const auto other = Forked::start([](int) {});
  ASSERT_TRUE(other) << other.error().text();
  const auto heard = other->hear<int>();
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().message, "the other process has died");
}

TEST(Forked, ends_with_its_object) {
  pid_t pid = 0;
  {
    const auto other = Forked::start([](int channel) {
      const pid_t self = ::getpid();
      static_cast<void>(send_all(channel, &self, sizeof self));
      ::pause();
    });
    ASSERT_TRUE(other) << other.error().text();
    pid = other->hear<pid_t>().value();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace holdfast::io::forked_test
