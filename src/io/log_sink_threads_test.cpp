#include <array>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/log_sink.hpp"

namespace holdfast::log_sink_threads_test {
namespace {

constexpr int kThreads = 4;
constexpr int kRecords = 500;

std::string read_to_end(int fd) {
  std::string all;
  std::array<char, 4096> buffer{};
  ssize_t size = 0;
  while ((size = ::read(fd, buffer.data(), buffer.size())) > 0) {
    all.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return all;
}

// Every line is longer than what a pipe takes at once (PIPE_BUF), so only the sink keeps it whole.
TEST(FdSink, lines_of_several_threads_stay_whole_and_in_each_threads_order) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  std::string all;
  std::thread reader([&] { all = read_to_end(ends[0]); });
  {
    FdSink sink(ends[1], LogStyle::json);
    std::vector<std::jthread> writers;
    for (int thread = 0; thread < kThreads; ++thread) {
      writers.emplace_back([&sink, thread] {
        const std::string message(6000, static_cast<char>('a' + thread));
        for (int n = 0; n < kRecords; ++n) {
          const std::array<Field, 1> fields{Field("n", n)};
          sink.write({WallTime{}, Level::info, "e", message, fields});
        }
      });
    }
    writers.clear();
    EXPECT_EQ(sink.dropped(), 0U);
  }
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);

  std::map<char, int> next;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    const std::string start =
        R"({"time":"1970-01-01T00:00:00.000Z","level":"info","event":"e","message":")";
    ASSERT_TRUE(line.starts_with(start)) << line.substr(0, 200);
    const char owner = line.at(start.size());
    ASSERT_EQ(line,
              start + std::string(6000, owner) + R"(","n":)" + std::to_string(next[owner]++) + "}");
  }
  ASSERT_EQ(next.size(), std::size_t{kThreads});
  for (const auto& [owner, count] : next)
    EXPECT_EQ(count, kRecords) << owner;
}

}  // namespace
}  // namespace holdfast::log_sink_threads_test
