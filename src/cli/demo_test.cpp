#include "cli/demo.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/demo_story.hpp"
#include "cli/text_columns.hpp"

namespace holdfast::cli::demo_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Told {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Told tell(DemoOptions options, bool colour = false, std::ostream* to = nullptr) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{.in = in, .out = to ? *to : out, .err = err, .colour = colour};
  const int exit_code = run_demo(io, options, system_clock());
  return {exit_code, out.str(), err.str()};
}

// A folder for temporary files that nobody else uses.
class OwnTemp {
 public:
  OwnTemp() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
    ::setenv("TMPDIR", name.c_str(), 1);
  }
  ~OwnTemp() {
    ::unsetenv("TMPDIR");
    std::filesystem::remove_all(path_);
  }
  OwnTemp(const OwnTemp&) = delete;
  OwnTemp& operator=(const OwnTemp&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

const boost::json::object& row(const boost::json::value& rows, std::string_view type) {
  for (const boost::json::value& each : rows.as_array()) {
    if (each.at("type").as_string() == type) return each.as_object();
  }
  throw std::runtime_error("no row of " + std::string(type));
}

void expect_row(const boost::json::value& rows, std::string_view type, std::int64_t at_once,
                std::int64_t recovered, std::int64_t given_up, std::int64_t dead) {
  const auto& seen = row(rows, type);
  EXPECT_EQ(seen.at("at_once").as_int64(), at_once) << type;
  EXPECT_EQ(seen.at("recovered").as_int64(), recovered) << type;
  EXPECT_EQ(seen.at("given_up").as_int64(), given_up) << type;
  EXPECT_EQ(seen.at("dead").as_int64(), dead) << type;
}

// T1, T4, T5, N1, N3, N5, N7: every fate that a task can have, in real processes.
TEST(Demo, every_fate_is_met_a_group_comes_back_and_nothing_is_lost) {
  const OwnTemp temp;
  const Told told = tell({.json = true, .fast = true});
  EXPECT_TRUE(std::filesystem::is_empty(temp.path()));  // and no file is left
  EXPECT_EQ(told.exit_code, kDone) << told.err;
  const auto seen = boost::json::parse(told.out);
  const auto& types = seen.at("types");
  expect_row(types, "mail.send", 120, 0, 0, 0);
  expect_row(types, "price.fetch", 0, 40, 0, 0);
  expect_row(types, "invoice.post", 0, 0, 20, 0);
  expect_row(types, "report.render", 0, 0, 0, 10);
  expect_row(types, "photo.convert", 0, 0, 0, 10);
  EXPECT_EQ(row(types, "report.render").at("path").as_string(), "timeout ×3");
  EXPECT_EQ(row(types, "photo.convert").at("path").as_string(), "crash ×2");

  // 20 invoices with numbers of their own are one group.
  const auto& groups = seen.at("groups").as_array();
  ASSERT_EQ(groups.size(), 3U);
  for (const auto& group : groups)
    EXPECT_EQ(group.at("count").as_int64(), group.at("state").as_string() == "failed" ? 20 : 10);

  EXPECT_EQ(seen.at("replayed").at("tasks").as_int64(), 10);
  EXPECT_EQ(row(seen.at("types_after"), "report.render").at("dead").as_int64(), 0);
  EXPECT_EQ(row(seen.at("types_after"), "photo.convert").at("quarantined").as_int64(), 10);
  EXPECT_EQ(seen.at("verify").at("accepted").as_int64(), 200);
  EXPECT_EQ(seen.at("verify").at("present").at("succeeded").as_int64(), 170);
  EXPECT_TRUE(seen.at("nothing_lost").as_bool());
}

TEST(Demo, tells_it_in_plain_lines_of_80_columns_where_there_is_no_terminal) {
  const Told told = tell({.fast = true});
  EXPECT_EQ(told.exit_code, kDone) << told.err;
  EXPECT_EQ(told.err, "");
  EXPECT_THAT(told.out,
              AllOf(HasSubstr("timeout ×3"), HasSubstr("invoice 4700: no such customer"),
                    HasSubstr("10 dead letters brought back: 10 succeeded, 0 are dead again."),
                    HasSubstr("200 accepted = 170 succeeded + 20 failed + 10 dead"),
                    HasSubstr("Nothing was lost."), Not(HasSubstr("\x1b"))));
  std::istringstream lines(told.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(columns_of(line), kColumns) << line;
}

TEST(Demo, says_when_it_cannot_write) {
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  const Told told = tell({.json = true, .fast = true}, false, &broken);
  EXPECT_EQ(told.exit_code, kFailed);
  EXPECT_THAT(told.err, HasSubstr("cannot write"));
}

TEST(DemoStory, spreads_the_kinds_over_the_whole) {
  const auto tasks = demo_tasks();
  EXPECT_EQ(tasks.size(), 200U);
  const auto half = std::span(tasks).first(100);
  for (const DemoKind& kind : demo_kinds()) {
    EXPECT_EQ(std::ranges::count(half, kind.type, &Submission::type),
              static_cast<std::ptrdiff_t>(kind.count / 2))
        << kind.type;
  }
}

}  // namespace
}  // namespace holdfast::cli::demo_test
