#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs.hpp"
#include "stores/sqlite/audit_testing.hpp"
#include "stores/sqlite/schema_1_testing.hpp"

namespace holdfast::cli::migrate_test {
namespace {

using stores::sqlite::Database;
using ::testing::HasSubstr;

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Ran migrate(std::vector<std::string> words) {
  words.insert(words.begin(), {"holdfast", "migrate"});
  std::vector<const char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(word.c_str());
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Io io{in, out, err, false, false, false};
  const int exit_code = run(static_cast<int>(arguments.size()), arguments.data(), io);
  return {exit_code, out.str(), err.str()};
}

class MigrateVerb : public ::testing::Test {
 protected:
  MigrateVerb() { Database(path_, Database::Mode::write).execute(stores::sqlite::kFileOfSchema1); }

  stores::sqlite::SampleFile file_;  // its folder is removed with it
  std::string path_ = file_.folder() / "old.db";
};

TEST_F(MigrateVerb, says_which_version_it_found_and_what_it_did) {
  const Ran first = migrate({path_});
  EXPECT_EQ(first.exit_code, kDone);
  EXPECT_EQ(first.out, path_ + " was of schema 1, and is of schema 5 now\n");
  EXPECT_EQ(first.err, "");
  const Ran again = migrate({"sqlite:" + path_});
  EXPECT_EQ(again.exit_code, kDone);
  EXPECT_EQ(again.out, path_ + " is of schema 5, the newest: there was nothing to do\n");
}

TEST_F(MigrateVerb, has_nothing_to_do_on_redis_and_says_no_password) {
  const Ran ran = migrate({"redis://:planted@tasks.example.org/1"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(ran.out, "redis://***@tasks.example.org/1: there is nothing to migrate on Redis\n");
  EXPECT_EQ(migrate({"redis://host", "--json"}).out, R"({"file":"redis://host","migrated":false})"
                                                     "\n");
}

TEST_F(MigrateVerb, says_it_to_programs) {
  EXPECT_EQ(migrate({path_, "--json"}).out,
            R"({"file":")" + path_ + R"(","from":1,"to":5,"migrated":true})" + "\n");
  EXPECT_EQ(migrate({path_, "--json"}).out,
            R"({"file":")" + path_ + R"(","from":5,"to":5,"migrated":false})" + "\n");
}

TEST_F(MigrateVerb, fails_where_there_is_no_store) {
  const std::string missing = file_.folder() / "missing.db";
  const Ran ran = migrate({missing});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("No such file"));
  EXPECT_THAT(migrate({missing, "--json"}).out, HasSubstr(R"("error":"open )"));
  EXPECT_FALSE(std::filesystem::exists(missing));
  EXPECT_EQ(migrate({path_, "--now"}).exit_code, kUsage);
}

}  // namespace
}  // namespace holdfast::cli::migrate_test
