#include "stores/sqlite/audit_tally.hpp"

#include <map>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "stores/sqlite/tally.hpp"

namespace holdfast::stores::sqlite {
namespace {

using core::State;

struct Counts {
  std::array<std::int64_t, Tally::kStates> there{};
  std::array<std::int64_t, Tally::kAccepted + 1> told{};  // index: see table tally
};

// As many entries as there are queues.
using Queues = std::map<std::int64_t, Counts>;

void count(Database& database, const std::unordered_set<std::int64_t>& misplaced, Queues& queues) {
  // The place that counts, should there be several: see audit.hpp.
  Statement all(database,
                "select t.queue, case when s.seq is not null then 3 when p.seq is not null"
                " then iif(p.state between 4 and 6, p.state, 5) when r.seq is not null then 1"
                " when w.seq is not null then iif(t.state is 2, 2, 0) end, t.seq, t.state"
                " from task t left join waiting w on w.queue = t.queue and w.rank = -t.priority"
                " and w.due = t.due and w.seq = t.seq left join running r on r.seq = t.seq"
                " left join parked p on p.seq = t.seq left join succeeded s on s.seq = t.seq");
  all.each([&](Row row) {
    State state = static_cast<State>(row.integer(1));
    if (row.is_null(1)) {
      const bool retrying = row.integer(3) == static_cast<int>(State::retrying);
      state = retrying && misplaced.contains(row.integer(2)) ? State::retrying : State::pending;
    }
    ++queues[row.integer(0)].there.at(static_cast<std::size_t>(state));
  });
}

std::string name_of(Database& database, std::int64_t queue) {
  std::string name = fmt::format("number {}", queue);
  Statement(database, "select text from name where id = ?1")
      .first([&](Row row) { name = '"' + row.string(0) + '"'; }, queue);
  return name;
}

std::string tasks(std::int64_t count) {
  return fmt::format("{} task{}", count, count == 1 ? "" : "s");
}

class TallyAudit {
 public:
  TallyAudit(Database& database, bool repair, ports::AuditReport& report)
      : database_(database),
        repair_(repair),
        report_(report),
        write_(database,
               "insert into tally values (?1, ?2, ?3)"
               " on conflict do update set count = excluded.count") {}

  std::vector<ports::Finding> run(const std::unordered_set<std::int64_t>& misplaced) {
    Queues queues;
    count(database_, misplaced, queues);
    read(queues);
    for (auto& [queue, counts] : queues)
      check(queue, counts);
    return std::move(findings_);
  }

 private:
  void note(std::string what, bool repaired) {
    findings_.push_back({.what = std::move(what), .task = {}, .repaired = repaired});
  }

  void read(Queues& queues) {
    bool strange = false;
    Statement(database_, "select queue, what, count from tally").each([&](Row row) {
      const std::int64_t what = row.integer(1);
      if ((what >= 0 && what <= 6) || (what >= 10 && what <= 16) || what == Tally::kAccepted) {
        queues[row.integer(0)].told.at(static_cast<std::size_t>(what)) = row.integer(2);
        return;
      }
      strange = true;
      note(fmt::format("queue {} has a counter {} ({}) that counts nothing",
                       name_of(database_, row.integer(0)), what, row.integer(2)),
           repair_);
    });
    if (strange && repair_) {
      database_.execute(
          "delete from tally where what not between 0 and 6"
          " and what not between 10 and 16 and what <> 20");
    }
  }

  void check(std::int64_t queue, Counts& counts) {
    std::int64_t known = 0;
    for (std::size_t i = 0; i < Tally::kStates; ++i) {
      const auto state = to_string(static_cast<State>(i));
      if (counts.told[i] != counts.there[i]) {
        note(fmt::format("queue {} counts {} {}, and has {}", name_of(database_, queue),
                         counts.told[i], state, counts.there[i]),
             repair_);
        write(queue, i, counts.there[i]);
      }
      std::int64_t& removed = counts.told[Tally::kRemoved + i];
      if (removed < 0) {
        note(fmt::format("queue {} counts {} {} that were removed", name_of(database_, queue),
                         removed, state),
             repair_);
        removed = 0;
        write(queue, Tally::kRemoved + i, 0);
      }
      known += counts.there[i] + removed;
      report_.present[i] += static_cast<std::uint64_t>(counts.there[i]);
      report_.removed[i] += static_cast<std::uint64_t>(removed);
    }
    std::int64_t& accepted = counts.told[Tally::kAccepted];
    if (accepted != known) {
      compare(queue, accepted, known);
      write(queue, Tally::kAccepted, known);
      if (repair_) accepted = known;
    }
    report_.accepted += static_cast<std::uint64_t>(std::max<std::int64_t>(accepted, 0));
  }

  // What is lost cannot be brought back, so it is no repair that the books balance again.
  void compare(std::int64_t queue, std::int64_t accepted, std::int64_t known) {
    const bool lost = accepted > known;
    note(fmt::format("queue {} accepted {}, but {} {} there or removed: {} {}",
                     name_of(database_, queue), tasks(accepted), known, known == 1 ? "is" : "are",
                     lost ? accepted - known : known - accepted, lost ? "lost" : "too many"),
         repair_ && !lost);
  }

  void write(std::int64_t queue, std::size_t what, std::int64_t count) {
    if (repair_) write_.run(queue, what, count);
  }

  Database& database_;
  const bool repair_;
  ports::AuditReport& report_;
  Statement write_;
  std::vector<ports::Finding> findings_;
};

}  // namespace

std::vector<ports::Finding> audit_tally(Database& database, bool repair,
                                        const std::unordered_set<std::int64_t>& misplaced,
                                        ports::AuditReport& report) {
  return TallyAudit(database, repair, report).run(misplaced);
}

}  // namespace holdfast::stores::sqlite
