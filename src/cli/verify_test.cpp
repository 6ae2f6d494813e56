#include <filesystem>
#include <fstream>
#include <sstream>

#include <boost/json.hpp>
#include <boost/json/src.hpp>  // for all tests of this room
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs.hpp"
#include "stores/sqlite/audit_testing.hpp"

namespace holdfast::cli::verify_test {
namespace {

using stores::sqlite::SampleFile;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

class VerifyVerb : public ::testing::Test {
 protected:
  Ran verify(std::vector<std::string> more = {}, bool colour = false,
             bool err_is_terminal = false) {
    std::vector<const char*> words{"holdfast", "verify", path_.c_str()};
    for (const std::string& word : more)
      words.push_back(word.c_str());
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Io io{in, out, err, false, colour, err_is_terminal};
    const int exit_code = run(static_cast<int>(words.size()), words.data(), io);
    return {exit_code, out.str(), err.str()};
  }
  void lose_a_place() const {
    file_.plant("delete from waiting where seq = " + std::to_string(file_.seq("pending")));
  }

  SampleFile file_;
  std::string path_ = file_.path();
};

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, line.size());
  return widest;
}

TEST_F(VerifyVerb, shows_where_all_accepted_tasks_are) {  // N5
  const Ran ran = verify();
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, path_ +
                         " (schema 5)\n"
                         "\n"
                         "                      here         removed\n"
                         "pending                  2\n"
                         "retrying                 1\n"
                         "running                  1\n"
                         "succeeded                1               0\n"
                         "failed                   1               0\n"
                         "dead                     1               0\n"
                         "canceled                 1               0\n"
                         "together                 8               0\n"
                         "8 accepted = 8 here + 0 removed\n"
                         "\n"
                         "Clean: every task that was accepted is accounted for.\n");
}

TEST_F(VerifyVerb, tells_findings_and_leaves_them) {
  lose_a_place();
  for (int i = 0; i < 2; ++i) {
    const Ran ran = verify();
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_THAT(ran.out, HasSubstr("\nfound     task " + file_.id("pending") +
                                   " stands nowhere: it does not\n"
                                   "          wait or run, and has not ended\n"));
    EXPECT_THAT(
        ran.out,
        EndsWith("\n1 finding; nothing was changed. With --repair, what can be mended is.\n"));
    EXPECT_LE(widest_line(ran.out), 80u);
  }
}

TEST_F(VerifyVerb, repairs_and_names_the_copy) {
  lose_a_place();
  const Ran ran = verify({"--repair"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, HasSubstr("\nrepaired  task " + file_.id("pending") + " stands nowhere"));
  EXPECT_THAT(ran.out, HasSubstr(path_ + ".before-repair\n"));
  EXPECT_THAT(ran.out, EndsWith("\n1 finding, all repaired.\n"));
  EXPECT_EQ(verify().exit_code, 0);
}

TEST_F(VerifyVerb, ends_with_3_when_a_task_is_lost_for_good) {
  file_.plant("update tally set count = count + 1 where what = 20 and queue = 1");
  const Ran found = verify();
  EXPECT_EQ(found.exit_code, 3);
  EXPECT_THAT(found.out, HasSubstr("\n9 accepted ≠ 8 here + 0 removed\n"));
  const Ran ran = verify({"--repair"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.out, HasSubstr("\nfound     queue \"mail\" accepted 8 tasks, but 7 are there"));
  EXPECT_THAT(ran.out, EndsWith("\n1 finding, of which 1 could not be repaired.\n"));
}

TEST_F(VerifyVerb, says_everything_as_json) {
  lose_a_place();
  const Ran ran = verify({"--json"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.out, HasSubstr(R"("schema":5,"migrated":false,"readable":true,"accepted":8,)"
                                 R"("present":{"pending":2,"retrying":1,"running":1,)"
                                 R"("succeeded":1,"failed":1,"dead":1,"canceled":1},)"));
  EXPECT_THAT(ran.out,
              EndsWith(R"("found":1,"repaired":0,"left":1,"backup":null,"findings":[)"
                       R"({"what":"task )" +
                       file_.id("pending") +
                       R"( stands nowhere: it does not wait or run, and has not ended","task":")" +
                       file_.id("pending") + "\",\"repaired\":false}]}\n"));
}

TEST_F(VerifyVerb, takes_the_url_that_programs_use) {
  const std::string path = path_;
  path_ = "sqlite:" + path;
  const Ran ran = verify();
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, StartsWith(path + " (schema 5)\n"));
  path_ = "sqlite:";
  EXPECT_EQ(verify().exit_code, 2);
}

// The keys of the one object that there must be, in their order.
std::vector<std::string> keys_of(const std::string& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : boost::json::parse(json).as_object())
    keys.push_back(key);
  return keys;
}

TEST_F(VerifyVerb, always_prints_one_object_with_the_same_keys) {
  const auto keys = keys_of(verify({"--json"}).out);
  EXPECT_THAT(keys, ::testing::ElementsAre("file", "error", "schema", "migrated", "readable",
                                           "accepted", "present", "removed", "found", "repaired",
                                           "left", "backup", "findings"));
  {
    const auto store = file_.open();
    const Ran in_use = verify({"--json"});
    EXPECT_EQ(in_use.exit_code, 1);
    EXPECT_EQ(keys_of(in_use.out), keys);
    const auto object = boost::json::parse(in_use.out).as_object();
    EXPECT_THAT(std::string(object.at("error").as_string()), HasSubstr("is in use by process "));
    EXPECT_TRUE(object.at("left").is_null());
  }
  std::filesystem::resize_file(path_, 3 * 8192);
  const Ran damaged = verify({"--json"});
  EXPECT_EQ(keys_of(damaged.out), keys);
  EXPECT_TRUE(boost::json::parse(damaged.out).at("present").is_null());
  std::ofstream(path_, std::ios::trunc) << "no database";
  const Ran unreadable = verify({"--json"});
  EXPECT_EQ(unreadable.exit_code, 1);
  EXPECT_EQ(keys_of(unreadable.out), keys);
}

TEST_F(VerifyVerb, says_how_to_go_on_with_a_damaged_file) {
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8192 * 4);
    file << std::string(3000, 'x');
  }
  const Ran ran = verify({"--repair"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("\nfound     SQLite: "));
  EXPECT_THAT(ran.out, HasSubstr(".recover | sqlite3 NEW"));
  EXPECT_THAT(ran.out, EndsWith("\nDamaged: the file cannot be read as it should.\n"));
}

TEST_F(VerifyVerb, shows_no_bytes_that_a_terminal_acts_upon) {
  file_.plant(
      "update name set text = 'ma' || char(27) || 'il' where text = 'mail';"
      "update tally set count = 9 where what = 3");
  EXPECT_THAT(verify().out, HasSubstr("queue \"ma\\u001bil\" counts 9 succeeded, and has 1"));
}

TEST_F(VerifyVerb, says_who_has_the_file) {
  const auto store = file_.open();
  const Ran ran = verify();
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("holdfast verify: open " + path_ + ": is in use by process "));
}

TEST_F(VerifyVerb, fails_where_there_is_no_file) {
  path_ += ".missing";
  const Ran ran = verify({"--json"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.err, "holdfast verify: open " + path_ + ": No such file or directory\n");
  path_ = "";
  EXPECT_EQ(verify().exit_code, 2);
}

TEST_F(VerifyVerb, shows_progress_on_a_terminal_only) {
  const Ran ran = verify({}, false, true);
  EXPECT_THAT(ran.err, StartsWith("Checking the file itself …\r\x1b[K"));
  EXPECT_THAT(ran.err, EndsWith("Checking counters …\r\x1b[K"));
}

TEST_F(VerifyVerb, colours_on_a_terminal_only) {
  EXPECT_THAT(verify({}, true).out, HasSubstr("\x1b[32mClean: "));
  lose_a_place();
  EXPECT_THAT(verify({}, true).out, HasSubstr("\n\x1b[31mfound\x1b[0m     task "));
}

}  // namespace
}  // namespace holdfast::cli::verify_test
