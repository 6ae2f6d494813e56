#include "io/witness_file.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fifo_testing.hpp"

namespace holdfast::io::witness_file_test {
namespace {

using ports::Held;
using ::testing::HasSubstr;

constexpr const char* kBoot = "6a1a5a4e-0d6f-4f4c-9d0f-3b1c7c1e0a01";

Held claim(std::uint8_t number) {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  return {TaskId(Uuid(bytes)), core::Token{number * 100ULL}};
}

// "1:100 2:200", in any order of places; "?": cannot tell.
std::string text(const std::optional<std::vector<Held>>& life) {
  if (!life) return "?";
  std::set<std::string> lines;
  for (const Held& held : *life) {
    lines.insert(std::to_string(held.id.uuid().bytes()[15]) + ":" +
                 std::to_string(held.token.value));
  }
  std::string all;
  for (const std::string& line : lines)
    all += (all.empty() ? "" : " ") + line;
  return all;
}

class WitnessFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] WitnessFile::Options options() const {
    return {.path = path_, .store_is_new = false, .places = 4, .boot_id = kBoot};
  }

  [[nodiscard]] std::unique_ptr<WitnessFile> open(WitnessFile::Options with) const {
    auto opened = WitnessFile::open(std::move(with));
    EXPECT_TRUE(opened.has_value()) << opened.error().text();
    return std::move(opened).value();
  }

  // A life that has nothing before it, so that the next one can tell.
  void start_anew() const {
    auto with = options();
    with.store_is_new = true;
    std::ignore = open(std::move(with));
  }

  // Does `work` in a process of its own, which then kills itself.
  void in_a_life_that_is_killed(const std::function<void(WitnessFile&)>& work) const {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto witness = WitnessFile::open(options());
      if (!witness) ::_exit(1);
      work(**witness);
      ::raise(SIGKILL);
      ::_exit(2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "witness";
};

// N7
// A handler that hangs was left behind by a worker before, and ends when its place is another's.
TEST_F(WitnessFileTest, an_attempt_ends_only_itself) {
  start_anew();
  in_a_life_that_is_killed([](WitnessFile& witness) {
    const auto place = witness.begin(claim(1));
    witness.end(place, claim(2));
  });
  EXPECT_EQ(text(open(options())->last_life()), "1:100");
}

TEST_F(WitnessFileTest, tells_after_a_kill_what_was_under_way) {
  start_anew();
  in_a_life_that_is_killed([](WitnessFile& witness) {
    std::ignore = witness.begin(claim(1));
    const auto ended = witness.begin(claim(2));
    std::ignore = witness.begin(claim(3));
    witness.end(ended, claim(2));
  });
  EXPECT_EQ(text(open(options())->last_life()), "1:100 3:300");
}

TEST_F(WitnessFileTest, tells_of_an_orderly_end_that_nothing_was_under_way) {
  start_anew();
  {
    const auto witness = open(options());
    witness->end(witness->begin(claim(1)), claim(1));
  }
  EXPECT_EQ(text(open(options())->last_life()), "");
}

TEST_F(WitnessFileTest, tells_again_as_long_as_the_last_life_is_not_settled) {
  start_anew();
  in_a_life_that_is_killed([](WitnessFile& witness) { std::ignore = witness.begin(claim(1)); });
  in_a_life_that_is_killed([](WitnessFile& witness) { std::ignore = witness.begin(claim(2)); });
  EXPECT_EQ(text(open(options())->last_life()), "1:100 2:200");
  in_a_life_that_is_killed([](WitnessFile& witness) {
    std::ignore = witness.begin(claim(3));
    witness.forget_last_life();
  });
  EXPECT_EQ(text(open(options())->last_life()), "3:300");
}

TEST_F(WitnessFileTest, stays_unable_to_tell_until_the_last_life_is_settled) {
  in_a_life_that_is_killed([](WitnessFile&) {});
  EXPECT_EQ(text(open(options())->last_life()), "?");
  in_a_life_that_is_killed([](WitnessFile& witness) {
    witness.forget_last_life();
    std::ignore = witness.begin(claim(1));
  });
  EXPECT_EQ(text(open(options())->last_life()), "1:100");
}

TEST_F(WitnessFileTest, a_missing_file_means_an_empty_life_only_for_a_new_store) {
  EXPECT_EQ(text(open(options())->last_life()), "?");
  std::filesystem::remove(path_);
  auto with = options();
  with.store_is_new = true;
  EXPECT_EQ(text(open(with)->last_life()), "");
}

TEST_F(WitnessFileTest, cannot_tell_after_the_death_of_the_machine) {
  start_anew();
  in_a_life_that_is_killed([](WitnessFile& witness) { std::ignore = witness.begin(claim(1)); });
  auto with = options();
  with.boot_id = "6a1a5a4e-0d6f-4f4c-9d0f-3b1c7c1e0a02";
  EXPECT_EQ(text(open(with)->last_life()), "?");
}

TEST_F(WitnessFileTest, knows_the_boot_of_this_machine) {
  auto with = options();
  with.boot_id.clear();
  with.store_is_new = true;
  std::ignore = open(with);
  with.store_is_new = false;
  EXPECT_EQ(text(open(with)->last_life()), "");
}

TEST_F(WitnessFileTest, cannot_tell_if_more_was_under_way_than_it_has_places) {
  start_anew();
  in_a_life_that_is_killed([](WitnessFile& witness) {
    for (std::uint8_t n = 1; n <= 5; ++n)
      std::ignore = witness.begin(claim(n));
  });
  EXPECT_EQ(text(open(options())->last_life()), "?");
}

TEST_F(WitnessFileTest, can_tell_once_those_without_a_place_have_ended) {
  start_anew();
  in_a_life_that_is_killed([](WitnessFile& witness) {
    for (std::uint8_t n = 1; n <= 4; ++n)
      std::ignore = witness.begin(claim(n));
    const auto place = witness.begin(claim(5));
    if (place != WitnessFile::kNoPlace) ::_exit(3);
    witness.end(place, claim(5));
  });
  EXPECT_EQ(text(open(options())->last_life()), "1:100 2:200 3:300 4:400");
}

TEST_F(WitnessFileTest, uses_places_again) {
  start_anew();
  const auto witness = open(options());
  for (int n = 0; n < 100; ++n) {
    const auto place = witness->begin(claim(1));
    ASSERT_NE(place, WitnessFile::kNoPlace);
    witness->end(place, claim(1));
    witness->end(place, claim(1));  // once more changes nothing
  }
  std::set<ports::Witness::Place> places;
  for (std::uint8_t n = 1; n <= 4; ++n)
    places.insert(witness->begin(claim(n)));
  EXPECT_EQ(places, (std::set<ports::Witness::Place>{0, 1, 2, 3}));
}

TEST_F(WitnessFileTest, cannot_tell_from_a_damaged_file) {
  struct Damage {
    const char* what;
    std::streamoff at;
  };
  for (const Damage damage : {Damage{"magic", 0}, Damage{"version", 8}, Damage{"places", 12},
                              Damage{"state of a place", 64 + 24}}) {
    std::filesystem::remove(path_);
    start_anew();
    {
      std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(damage.at).put('\x7f');
    }
    EXPECT_EQ(text(open(options())->last_life()), "?") << damage.what;
  }
}

TEST_F(WitnessFileTest, cannot_tell_from_a_file_of_another_size) {
  start_anew();
  std::filesystem::resize_file(path_, 100);
  EXPECT_EQ(text(open(options())->last_life()), "?");
}

TEST_F(WitnessFileTest, is_for_its_owner_only) {
  std::ignore = open(options());
  struct stat found{};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(WitnessFileTest, refuses_a_file_that_a_living_process_has) {
  const auto witness = open(options());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto second = WitnessFile::open(options());
    const bool told =
        !second && second.error().code == ErrorCode::conflict &&
        second.error().message.ends_with("in use by process " + std::to_string(::getppid()));
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(WitnessFileTest, names_the_path_that_it_cannot_open) {
  auto with = options();
  with.path = folder_ / "none/witness";
  const auto opened = WitnessFile::open(with);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::not_found);
  EXPECT_THAT(opened.error().text(), HasSubstr(with.path));
}

TEST_F(WitnessFileTest, refuses_to_have_no_place) {
  auto with = options();
  with.places = 0;
  const auto opened = WitnessFile::open(with);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::io::witness_file_test
