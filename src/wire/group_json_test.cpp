#include "wire/group_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/wire_testing.hpp"

namespace holdfast::wire::group_json_test {
namespace {

std::vector<FailureGroup::Part> any_parts() {
  std::vector<FailureGroup::Part> parts(*rc::gen::inRange<std::size_t>(0, 3));
  for (FailureGroup::Part& part : parts)
    part = {.name = *testing::any_text(), .count = *rc::gen::arbitrary<std::uint64_t>()};
  return parts;
}

RC_GTEST_PROP(GroupJson, N1_written_groups_read_back_as_themselves, ()) {
  GroupPage page{.next = *testing::any_text()};
  page.groups.resize(*rc::gen::inRange<std::size_t>(0, 3));
  for (FailureGroup& group : page.groups) {
    group = {.id = *testing::any_text(),
             .state = *rc::gen::element(TaskState::dead, TaskState::failed),
             .count = *rc::gen::arbitrary<std::uint64_t>(),
             .first_seen = *testing::any_time(),
             .last_seen = *testing::any_time(),
             .example = *testing::any_text(),
             .types = any_parts(),
             .queues = any_parts(),
             .came_by = *rc::gen::arbitrary<std::array<std::uint64_t, 3>>(),
             .last_hour = *rc::gen::arbitrary<std::uint64_t>(),
             .last_day = *rc::gen::arbitrary<std::uint64_t>(),
             .trend = *rc::gen::arbitrary<std::vector<std::uint64_t>>()};
  }
  std::string text;
  JsonWriter writer(text);
  write(writer, page);
  RC_ASSERT(read_groups(text).value() == page);
}

}  // namespace
}  // namespace holdfast::wire::group_json_test
