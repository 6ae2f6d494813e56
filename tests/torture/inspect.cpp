// Opens a store that nobody has open, and says what is in it, one line each, for judge.py:
//   audit TAB finding
//   task TAB id TAB payload TAB type TAB state TAB reason TAB attempts TAB crashes TAB result TAB
//        token:event:ended_us:started_us:owner …
// Usage: torture_inspect URL. The judge reads the store itself, not through the engine that is
// judged.
#include <algorithm>
#include <cstdio>

#include "core/states.hpp"
#include "stores/redis/open.hpp"
#include "stores/sqlite/open.hpp"

namespace holdfast::torture {
namespace {

using namespace ports;

std::string microseconds(WallTime time) {
  return std::to_string(
      std::chrono::floor<std::chrono::microseconds>(time).time_since_epoch().count());
}

void print(const TaskRecord& record) {
  std::string events;
  for (const PastAttempt& attempt : record.attempts) {
    std::string event(to_string(attempt.event));
    std::ranges::replace(event, ' ', '_');
    events += (events.empty() ? "" : " ") + std::to_string(attempt.token.value) + ":" + event +
              ":" + microseconds(attempt.ended) + ":" + microseconds(attempt.started) + ":" +
              attempt.owner;
  }
  const auto reason = record.task.dead_reason ? to_string(*record.task.dead_reason) : "";
  std::printf("task\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", record.id.text().c_str(),
              record.payload.c_str(), record.type.c_str(),
              std::string(to_string(record.task.state)).c_str(), std::string(reason).c_str(),
              record.task.spent.attempts, record.task.spent.crashes,
              record.result.value_or("").c_str(), events.c_str());
}

Result<void> inspect(Store& store) {
  const auto audit = ask(store, Audit{});
  if (!audit) return std::unexpected(audit.error());
  for (const Finding& finding : audit->findings)
    std::printf("audit\t%s %s\n", finding.what.c_str(), finding.task.c_str());
  std::string cursor;
  do {
    const auto page = ask(store, List{.filter = {}, .cursor = cursor, .limit = 1000});
    if (!page) return std::unexpected(page.error());
    for (const TaskRecord& listed : page->tasks) {
      const auto record = ask(store, Find{.id = listed.id});
      if (!record) return std::unexpected(record.error());
      if (*record) print(**record);
    }
    cursor = page->next;
  } while (!cursor.empty());
  return {};
}

Result<OpenStore> open(const std::string& url) {
  if (url.starts_with("sqlite:")) {
    return stores::sqlite::open({.path = url.substr(sizeof("sqlite:") - 1)});
  }
  const auto address = stores::redis::parse_address(url);
  if (!address) return std::unexpected(address.error());
  return stores::redis::open({.address = *address});
}

int run(const char* url) {
  const auto opened = open(url);
  const auto done = opened ? inspect(*opened->reader) : std::unexpected(opened.error());
  if (done) return 0;
  std::fprintf(stderr, "torture_inspect: %s\n", done.error().text().c_str());
  return 1;
}

}  // namespace
}  // namespace holdfast::torture

int main(int argc, char** argv) {
  return argc == 2 ? holdfast::torture::run(argv[1]) : 2;
}
