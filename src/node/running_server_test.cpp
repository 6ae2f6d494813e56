#include "node/running_server.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <holdfast/client.hpp>

#include "support/temporary_folder.hpp"

namespace holdfast::node::running_server_test {
namespace {

TEST(RunningServer, is_found_by_the_file_that_it_has_open) {
  const holdfast::testing::TemporaryFolder folder;
  const std::string url = "sqlite:" + (folder / "tasks.db");
  EXPECT_FALSE(exists(url));
  EXPECT_FALSE(owner_of(url));
  EXPECT_FALSE(announce(url, "http://127.0.0.1:1"));
  {
    Client client(url);
    ASSERT_TRUE(client.open());
    EXPECT_TRUE(exists(url));
    const auto opened = owner_of(url);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->pid, ::getpid());
    EXPECT_EQ(opened->address, "");
    ASSERT_TRUE(announce(url, "http://127.0.0.1:12345"));
    ASSERT_TRUE(announce(url, "http://127.0.0.1:80"));
    EXPECT_EQ(owner_of(url)->address, "http://127.0.0.1:80");
    EXPECT_EQ(owner_of(url)->pid, ::getpid());
  }
  EXPECT_FALSE(owner_of(url));
}

TEST(RunningServer, a_store_in_memory_has_none) {
  EXPECT_FALSE(owner_of("memory:x"));
  EXPECT_TRUE(announce("memory:x", "http://127.0.0.1:1"));
}

}  // namespace
}  // namespace holdfast::node::running_server_test
