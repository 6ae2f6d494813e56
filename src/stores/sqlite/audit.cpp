#include "stores/sqlite/audit.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "core/fingerprint.hpp"
#include "stores/sqlite/audit_looks.hpp"
#include "stores/sqlite/audit_tally.hpp"
#include "stores/sqlite/integrity.hpp"
#include "stores/sqlite/queries.hpp"

namespace holdfast::stores::sqlite {
namespace {

using core::DeadReason;
using core::State;

// "01912d68-783e-…", or the bytes of what is no id.
std::string id_text(const Row& row, int column) {
  const std::string_view bytes = row.bytes(column);
  if (bytes.size() == Uuid::Bytes().size()) return task_id(bytes).text();
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

class Auditor {
 public:
  Auditor(Database& database, const AuditOptions& options)
      : database_(database), options_(options) {}

  ports::AuditReport run() {
    step("the file itself");
    if (!look_at_file()) {
      report_.readable = false;
      return std::move(report_);
    }
    for (const Look& look : audit_looks())
      make(look);
    const std::int64_t version = database_.number("select max(version) from schema_version");
    if (version >= 2) make(audit_look_since_2());
    if (version >= 3) make(audit_look_since_3());
    if (version >= 4) make(audit_look_since_4());
    if (version >= 5) {
      for (const Look& look : audit_looks_since_5())
        make(look);
    }
    step("counters");
    for (ports::Finding& finding : audit_tally(database_, options_.repair, misplaced_, report_))
      note(std::move(finding));
    return std::move(report_);
  }

 private:
  void step(std::string_view what) const {
    if (options_.on_step) options_.on_step(what);
  }

  void note(ports::Finding finding) {
    ++report_.found;
    if (finding.repaired) ++report_.repaired;
    if (report_.findings.size() < kToldFindings) report_.findings.push_back(std::move(finding));
  }

  // False: there is damage that keeps SQLite from reading it.
  bool look_at_file() {
    Integrity integrity = check_integrity(database_);
    bool repaired = false;
    if (options_.repair && integrity.readable && !integrity.indexes.empty()) {
      repaired = rebuild(database_, integrity.indexes);
    }
    for (std::string& what : integrity.damage)
      note({.what = std::move(what), .task = {}, .repaired = repaired});
    return integrity.readable;
  }

  // One pass that gives the faulty rows only, with a text for each fault they have.
  void make(const Look& look) {
    step(look.step);
    std::string texts;
    std::string any;
    for (const Fault& fault : look.faults) {
      texts += fmt::format(", iif({}, {}, null)", fault.when, fault.what);
      any += fmt::format("{}({})", any.empty() ? "" : " or ", fault.when);
    }
    const std::string sql =
        fmt::format("select {}{} from {} where {}", look.of_tasks ? "t.seq, t.id" : "null, null",
                    texts, look.from, any);
    std::vector<bool> found(look.faults.size());
    std::vector<std::int64_t> ungrouped;
    Statement(database_, sql.c_str()).each([&](Row row) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        const int column = static_cast<int>(i) + 2;
        if (row.is_null(column) || !tell(look.faults[i], row, column)) continue;
        found[i] = true;
        if (look.faults[i].kind == Fault::Kind::ungrouped) ungrouped.push_back(row.integer(0));
      }
    });
    if (!options_.repair) return;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i]) mend(look, look.faults[i]);
    }
    for (const std::int64_t seq : ungrouped)
      give_fingerprint(seq);
  }

  // False: it was told already.
  bool tell(const Fault& fault, const Row& row, int column) {
    if (fault.kind == Fault::Kind::misplaced) misplaced_.insert(row.integer(0));
    if (fault.kind == Fault::Kind::nowhere && misplaced_.contains(row.integer(0))) return false;
    const bool mended =
        options_.repair && (!fault.repair.empty() || fault.kind == Fault::Kind::ungrouped);
    ports::Finding finding{.what = row.string(column), .task = {}, .repaired = mended};
    if (!row.is_null(1)) {
      finding.task = id_text(row, 1);
      finding.what = "task " + finding.task + " " + finding.what;
    }
    note(std::move(finding));
    return true;
  }

  void mend(const Look& look, const Fault& fault) {
    const std::string rows = fmt::format("from {} where ({})", look.from, fault.when);
    std::string sql;
    for (const char c : fault.repair) {
      if (c == '$') {
        sql += rows;
      } else {
        sql += c;
      }
    }
    if (!sql.empty()) database_.execute(sql);
  }

  // As the engine would have: by its last failure, or by the reason of its death.
  void give_fingerprint(std::int64_t seq) {
    std::string text;
    Statement(database_,
              "select reason, (select message from attempt a where a.seq = p.seq"
              " and message is not null order by token desc limit 1) from parked p where seq = ?1")
        .first(
            [&](Row row) {
              if (!row.is_null(0)) text = to_string(static_cast<DeadReason>(row.integer(0)));
              if (!row.is_null(1)) text = row.string(1);
            },
            seq);
    Statement(database_, "update parked set fingerprint = ?2 where seq = ?1")
        .run(seq, static_cast<std::int64_t>(fingerprint(text).value()));
  }

  Database& database_;
  const AuditOptions& options_;
  ports::AuditReport report_;
  std::unordered_set<std::int64_t> misplaced_;
};

}  // namespace

ports::AuditReport audit(Database& database, const AuditOptions& options) {
  return Auditor(database, options).run();
}

}  // namespace holdfast::stores::sqlite
