#include "cli/demo_story.hpp"

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/units.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view kQueue = "shop";

constexpr std::array<DemoKind, 5> kKinds{{
    {"mail.send", 120, "work"},
    {"price.fetch", 40, "find their server down, once or twice"},
    {"invoice.post", 20, "can never work: there is no such customer"},
    {kRepairedType, 10, "hang until they are out of time"},
    {"photo.convert", 10, "take their process down (SIGSEGV)"},
}};

// $HOLDFAST_ATTEMPT counts from 1, and the payload is on the standard input.
constexpr const char* kConfig = R"([store]
url = "sqlite:tasks.db"

[http]
listen = "127.0.0.1:0"

[shutdown]
grace      = "2s"
stop_grace = "1s"

[queue.{queue}]
concurrency = 32

[task."mail.send"]
queue   = "{queue}"
command = ["sh", "-c", "echo sent"]

[task."price.fetch"]
queue   = "{queue}"
command = ["sh", "-c", '''
read down
[ "$HOLDFAST_ATTEMPT" -gt "$down" ] && echo 42 && exit
echo "connect to 10.0.0.$down: connection refused" >&2
exit 1''']
retry   = {{ attempts = 5, first = "{first}" }}

[task."invoice.post"]
queue   = "{queue}"
command = ["sh", "-c", '''
read number
echo "invoice $number: no such customer" >&2
exit 65''']

[task."report.render"]
queue   = "{queue}"
folder  = "."
command = ["sh", "-c", "[ -e {repair} ] || exec sleep 60; echo rendered"]
timeout = "{timeout}"
retry   = {{ attempts = 3, first = "{first}" }}

[task."photo.convert"]
queue   = "{queue}"
command = ["sh", "-c", "ulimit -c 0; kill -SEGV $$"]
crashes = 2
retry   = {{ first = "{first}" }}
)";

std::string payload_of(const DemoKind& kind, std::size_t number) {
  if (kind.type == "price.fetch") return fmt::format("{}\n", 1 + number % 2);
  if (kind.type == "invoice.post") return fmt::format("{}\n", 4700 + number);
  return {};
}

}  // namespace

std::span<const DemoKind> demo_kinds() noexcept {
  return kKinds;
}

DemoPace fast_pace() noexcept {
  using namespace std::chrono_literals;
  // After the repair a process has to start and end within the timeout, on any machine.
  return {.feeding = 0ms, .first_wait = 10ms, .timeout = 1s, .reading = 0ms};
}

Result<config::Config> demo_config(const std::string& folder, const DemoPace& pace) {
  const std::string text =
      fmt::format(fmt::runtime(kConfig), fmt::arg("queue", kQueue), fmt::arg("repair", kRepairFile),
                  fmt::arg("first", format_duration(pace.first_wait)),
                  fmt::arg("timeout", format_duration(pace.timeout)));
  return config::parse(text, folder + "/holdfast.toml");
}

std::vector<Submission> demo_tasks() {
  std::multimap<double, Submission> by_place;
  for (const DemoKind& kind : kKinds) {
    for (std::size_t number = 0; number < kind.count; ++number) {
      const double place = (static_cast<double>(number) + 0.5) / static_cast<double>(kind.count);
      by_place.emplace(place, Submission{.type = std::string(kind.type),
                                         .queue = std::string(kQueue),
                                         .payload = payload_of(kind, number)});
    }
  }
  std::vector<Submission> tasks;
  for (auto& [place, task] : by_place)
    tasks.push_back(std::move(task));
  return tasks;
}

}  // namespace holdfast::cli
