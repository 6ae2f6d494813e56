#include "wire/audit_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::audit_json_test {
namespace {

using testing::any_text;
using testing::any_time;
using testing::written;

AuditEntry any_entry() {
  return {.id = *any_text(),
          .time = *any_time(),
          .who = *any_text(),
          .action = *any_text(),
          .what = *any_text(),
          .count = *rc::gen::inRange<std::uint64_t>(0, 1ULL << 53),
          .refused = *rc::gen::inRange<std::uint64_t>(0, 1ULL << 53),
          .reason = *any_text(),
          .operation = *any_text()};
}

RC_GTEST_PROP(AuditJson, an_entry_comes_back_as_it_was, ()) {
  const AuditEntry entry = any_entry();
  RC_ASSERT(read_audit_entry(written(entry)).value() == entry);
  const AuditPage page{.entries = {entry, any_entry()}, .next = *any_text()};
  RC_ASSERT(read_audit(written(page)).value() == page);
}

TEST(AuditJson, what_has_no_doer_is_corrupt) {
  const auto read =
      read_audit_entry(R"({"id":"1","time":"2026-01-01T00:00:00Z","action":"replay"})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace holdfast::wire::audit_json_test
