#include "stores/sqlite/open.hpp"

#include <gtest/gtest.h>

#include "stores/sqlite/audit_testing.hpp"

namespace holdfast::stores::sqlite {
namespace {

namespace fs = std::filesystem;

// One batch each, as if nobody else asked.
void submit_one_by_one(ports::Store& store, int count) {
  for (int i = 1; i <= count; ++i) {
    const auto id = TaskId::parse(fmt::format("00000000-0000-7000-9000-{:012}", i)).value();
    const auto answer = ports::ask(store, ports::Submit{{{.id = id,
                                                          .type = "send",
                                                          .queue = "mail",
                                                          .payload = std::string(200, 'x'),
                                                          .created = SampleFile::kStart,
                                                          .due = SampleFile::kStart}}});
    ASSERT_TRUE(answer && answer->at(0));
  }
}

// Otherwise it grows without end: the disk fills, and every start reads all of it.
TEST(OpenSqliteStore, keeps_the_log_short_by_moving_it_into_the_file) {
  const SampleFile file;
  constexpr std::size_t kPage = 8192;
  const auto store = open({.path = file.path(), .checkpoint_pages = 20, .synchronous = "off"});
  ASSERT_TRUE(store) << store.error().text();
  const auto size_before = fs::file_size(file.path());
  submit_one_by_one(*store->writer, 300);
  EXPECT_LT(fs::file_size(file.path() + "-wal"), 60 * kPage);
  EXPECT_GT(fs::file_size(file.path()), size_before + 5 * kPage);
}

TEST(OpenSqliteStore, keeps_the_log_short_with_the_pages_it_has_by_default) {
  const SampleFile file;
  const auto store = open({.path = file.path(), .synchronous = "off"});
  ASSERT_TRUE(store) << store.error().text();
  submit_one_by_one(*store->writer, 4000);
  EXPECT_LT(fs::file_size(file.path() + "-wal"), std::size_t{50} << 20U);
}

}  // namespace
}  // namespace holdfast::stores::sqlite
