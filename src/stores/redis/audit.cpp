// Whether everything on the server hangs together (N5), looked at in slices: what each script sees
// holds while others go on working, since what belongs together is changed together.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::stores::redis {
namespace {

constexpr std::size_t kToldFindings = 1000;

void note(ports::AuditReport& report, std::string what, std::string task, bool repaired) {
  ++report.found;
  if (repaired) ++report.repaired;
  if (report.findings.size() == kToldFindings) return;
  report.findings.push_back(
      {.what = std::move(what), .task = std::move(task), .repaired = repaired});
}

// Three parts each, from the index on: id, text, repaired.
void note_all(ports::AuditReport& report, Reply told, std::size_t from) {
  for (std::size_t at = from; at + 2 < told.size(); at += 3) {
    const bool repaired = told[at + 2].integer() != 0;
    std::string what(told[at + 1].text());
    if (told[at].text().empty()) {
      note(report, std::move(what), "", repaired);
    } else {
      const std::string id = task_id(told[at].text()).text();
      note(report, fmt::format("task {} {}", id, what), id, repaired);
    }
  }
}

const char* how(bool repair) {
  return repair ? "repair" : "look";
}

}  // namespace

void RedisStore::plan(ports::Asked<ports::Audit>& asked) {
  flush();
  asked.answer = audit(asked.verb.repair);
}

Result<ports::AuditReport> RedisStore::audit(bool repair) {
  ports::AuditReport report;
  // Records that no list knows first, so that those behind find them.
  auto looked = audit_strays("tasks", 't', repair, report);
  if (looked) looked = audit_tasks(repair, report);
  if (looked) looked = audit_lines(repair, report);
  if (looked) looked = audit_groups(repair, report);
  if (looked) looked = audit_strays("shelves", 'v', repair, report);
  if (looked) looked = audit_strays("keys", 'k', repair, report);
  if (looked) looked = audit_counts(repair, report);
  if (!looked) return std::unexpected(looked.error());
  return report;
}

Result<void> RedisStore::audit_tasks(bool repair, ports::AuditReport& report) {
  flush();
  const std::string buckets = root_ + "N";
  pipeline_.add(std::array<std::string_view, 4>{"ZRANGE", buckets, "0", "-1"});
  auto all = run_now();
  if (!all) return std::unexpected(all.error());
  for (std::size_t at = 0; at < all->view().size(); ++at) {
    auto told = ask_now(scripts().audit_tasks, {how(repair), all->view()[at].text()});
    if (!told) return std::unexpected(told.error());
    note_all(report, told->view(), 0);
  }
  return {};
}

Result<void> RedisStore::audit_lines(bool repair, ports::AuditReport& report) {
  const auto all = queues();
  if (!all) return std::unexpected(all.error());
  const auto claims = ask_now(scripts().audit_places, {how(repair), "claims"});
  if (!claims) return std::unexpected(claims.error());
  note_all(report, claims->view(), 1);
  std::vector<std::string> keys{"r"};
  for (const Queue& queue : *all) {
    for (const int priority : queue.priorities)
      keys.push_back(fmt::format("w{}:{}", queue.number, priority));
    for (auto state = static_cast<int>(core::State::succeeded);
         state <= static_cast<int>(core::State::canceled); ++state) {
      keys.push_back(fmt::format("e{}:{}", state, queue.number));
    }
  }
  const std::string groups = root_ + "G";
  pipeline_.add(std::array<std::string_view, 4>{"ZRANGE", groups, "0", "-1"});
  auto told = run_now();
  if (!told) return std::unexpected(told.error());
  for (std::size_t at = 0; at < told->view().size(); ++at)
    keys.push_back("g" + std::string(told->view()[at].text()));
  for (const std::string& key : keys) {
    if (auto looked = audit_line(key, repair, report); !looked) return looked;
  }
  return {};
}

// After the lines, so that nothing is in a group any more that is not there.
Result<void> RedisStore::audit_groups(bool repair, ports::AuditReport& report) {
  constexpr std::size_t kSlice = 20;
  flush();
  const std::string groups = root_ + "G";
  pipeline_.add(std::array<std::string_view, 4>{"ZRANGE", groups, "0", "-1"});
  auto all = run_now();
  if (!all) return std::unexpected(all.error());
  const Reply names = all->view();
  for (std::size_t at = 0; at < names.size(); at += kSlice) {
    Words words{how(repair)};
    for (std::size_t next = at; next < std::min(at + kSlice, names.size()); ++next)
      words.push_back(names[next].text());
    auto told = ask_now(scripts().audit_groups, words);
    if (!told) return std::unexpected(told.error());
    note_all(report, told->view(), 0);
  }
  return {};
}

Result<void> RedisStore::audit_line(const std::string& key, bool repair,
                                    ports::AuditReport& report) {
  constexpr std::int64_t kSlice = 500;
  std::int64_t from = 0;
  std::int64_t stayed = 0;
  do {
    auto told = ask_now(scripts().audit_places,
                        {how(repair), "line", key, std::to_string(from), std::to_string(kSlice)});
    if (!told) return std::unexpected(told.error());
    note_all(report, told->view(), 1);
    stayed = told->view()[0].integer();
    from += stayed;
  } while (stayed > 0);
  return {};
}

// Of keys that begin with this letter: none is looked for in vain in what leads to them.
Result<void> RedisStore::audit_strays(const char* kind, char letter, bool repair,
                                      ports::AuditReport& report) {
  const std::string prefix = root_ + letter;
  const std::string pattern = prefix + "*";
  std::string cursor = "0";
  do {
    flush();
    pipeline_.add(
        std::array<std::string_view, 6>{"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"});
    auto told = run_now();
    if (!told) return std::unexpected(told.error());
    const Reply keys = told->view()[1];
    cursor = told->view()[0].text();
    if (keys.size() == 0) continue;
    Words words{how(repair), kind};
    for (std::size_t at = 0; at < keys.size(); ++at)
      words.push_back(keys[at].text().substr(prefix.size()));
    auto looked = ask_now(scripts().audit_places, words);
    if (!looked) return std::unexpected(looked.error());
    note_all(report, looked->view(), 1);
  } while (cursor != "0");
  return {};
}

Result<void> RedisStore::audit_counts(bool repair, ports::AuditReport& report) {
  auto told = ask_now(scripts().audit_counts, {how(repair)});
  if (!told) return std::unexpected(told.error());
  const Reply answer = told->view();
  report.accepted = static_cast<std::uint64_t>(answer[0].integer());
  for (std::size_t state = 0; state < report.present.size(); ++state) {
    report.removed[state] = static_cast<std::uint64_t>(answer[1][state].integer());
    report.present[state] = static_cast<std::uint64_t>(answer[2][state].integer());
  }
  for (std::size_t at = 3; at < answer.size(); ++at)
    note(report, std::string(answer[at].text()), "", repair);
  return {};
}

}  // namespace holdfast::stores::redis
