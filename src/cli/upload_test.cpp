#include "cli/upload.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "node/registry.hpp"

namespace holdfast::cli::upload_test {
namespace {

TEST(Upload, a_queue_that_is_full_refuses_no_line) {
  const auto node = node::open("memory:upload", {}).value();
  ASSERT_TRUE(node->configure({.queue = "q", .backlog = 2}));
  Client client("memory:upload");
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err};
  Upload upload(client, io);
  upload.patience = Duration::zero();
  for (std::uint64_t line = 1; line <= 5; ++line)
    ASSERT_TRUE(upload.add(line, {.type = "t", .queue = line == 4 ? "other" : "q"}));
  const auto full = upload.flush();
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::overloaded);
  EXPECT_EQ(upload.accepted(), 3U);  // those behind it that could be taken, once
  EXPECT_EQ(upload.first_unanswered(), 3U);
  EXPECT_TRUE(upload.refused().empty());
  // There is room again.
  ASSERT_TRUE(node->configure({.queue = "q", .backlog = 0}));
  EXPECT_TRUE(upload.flush());
  EXPECT_EQ(upload.accepted(), 5U);
  EXPECT_EQ(client.list({.queue = "q"})->tasks.size(), 4U);
  EXPECT_EQ(client.list({.queue = "other"})->tasks.size(), 1U);
}

}  // namespace
}  // namespace holdfast::cli::upload_test
