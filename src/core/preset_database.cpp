// Errors of PostgreSQL, MySQL, SQLite, Oracle, SQL Server, MongoDB and Redis, as their drivers hand
// them on. What gives up comes before what is retried: "connection to server failed: password
// authentication failed" is both.
#include <holdfast/classify.hpp>

#include "core/preset_patterns.hpp"

namespace holdfast::presets {
namespace {

using enum VerdictKind;

// The code of an error, however a driver writes it: (SQLSTATE 40001), SQLSTATE[40001],
// code: '40001'.
std::string sqlstate(std::string_view codes) {
  std::string pattern = R"((?:(?:SQLSTATE|\bpgcode)\W{0,4}|\bcode['"]?: ?['"])(?:)";
  return pattern.append(codes).append(R"()\b)");
}

// A connection lost elsewhere is retried; lost at the commit, nobody knows whether it was carried
// out. The words before "commit" keep commits of other kinds out ("failed to fetch commit 1f3a:
// …").
std::vector<Rule> database_ambiguous_rules() {
  const std::string lost =
      "(?:" +
      one_of({"server closed the connection", "connection (?:was )?(?:lost|reset|closed)",
              "lost connection", "terminating connection", "broken pipe", "timed out"}) +
      ")";
  const std::string committing =
      R"((?:^commit\b|\bcommit failed\b|\bcommit(?:ting)? (?:the )?transaction\b)"
      R"(|\b(?:during|on|at|while|to|in|executing) commit(?:ting)?\b))";
  return {
      {.name = "database.commit-unknown",
       .pattern =
           one_of({committing + ".*" + lost, lost + ".*" + committing, sqlstate("08007|40003"),
                   R"(\bresult is ambiguous\b)", R"(\btransaction resolution unknown\b)",
                   R"(\bcommit_unknown_result\b)", codes({"UnknownTransactionCommitResult"})}),
       .verdict = ambiguous,
       .reason = "The connection was lost at the commit, which may have been carried out."},
  };
}

std::vector<Rule> database_give_up_rules() {
  return {
      {.name = "database.duplicate",
       .pattern =
           one_of({R"(\bduplicate key\b)", R"(\bduplicate entry ')",
                   R"(\bUNIQUE constraint failed\b)", R"(\bunique constraint \(\S+\) violated)",
                   R"(\bviolation of (?:PRIMARY|UNIQUE) KEY\b)", sqlstate("23505")}),
       .verdict = give_up,
       .reason = "Such a row exists already."},
      {.name = "database.constraint",
       .pattern = one_of({R"(\bviolates (?:foreign key|not-null|check|exclusion) constraint\b)",
                          R"(\b(?:FOREIGN KEY|NOT NULL|CHECK) constraint failed\b)",
                          R"(\bforeign key constraint fails\b)",
                          R"(\bcolumn '[^']*' cannot be null\b)", sqlstate("2300[0-3]|23514")}),
       .verdict = give_up,
       .reason = "The data breaks a rule of the schema."},
      {.name = "database.syntax",
       .pattern = one_of({R"(\bsyntax error at or near\b)", R"(\berror in your SQL syntax\b)",
                          R"(": syntax error\b)", R"(\bincorrect syntax near\b)",
                          R"(\bORA-009\d\d\b)", sqlstate("42601")}),
       .verdict = give_up,
       .reason = "The statement is not valid SQL."},
      {.name = "database.undefined",
       .pattern = one_of(
           {R"(\b(?:relation|column|table|database|schema|role|type) ["'][^"']*["'] (?:does not|doesn't) exist\b)",
            R"(\bcolumn "[^"]*" of relation "[^"]*" does not exist\b)",
            R"(\bfunction \S+ does not exist\b)", R"(\bno such (?:table|column): )",
            R"(\bunknown column ')", R"(\bunknown database ')", R"(\bORA-00942\b)",
            R"(\binvalid object name ')", sqlstate("42P01|42703|42883|3D000")}),
       .verdict = give_up,
       .reason = "The statement names what the database does not have."},
      {.name = "database.not-allowed",
       .pattern = one_of(
           {R"(\bpermission denied for (?:table|relation|schema|database|sequence|function|view)\b)",
            R"(\baccess denied for user\b)", R"(\bpassword authentication failed\b)",
            R"(\bno pg_hba\.conf entry\b)", R"(\battempt to write a readonly database\b)",
            R"(\bORA-01017\b)", R"(\bmust be owner of\b)", codes({"NOAUTH", "WRONGPASS", "NOPERM"}),
            sqlstate("42501|28P01|28000")}),
       .verdict = give_up,
       .reason = "The database does not allow it."},
      {.name = "database.bad-value",
       .pattern = one_of({R"(\binvalid input syntax for\b)", R"(\bvalue too long for type\b)",
                          R"(\bnumeric field overflow\b)", R"(\bdata too long for column\b)",
                          R"(\bout of range for (?:type|column)\b)",
                          R"(\b(?:integer|smallint|bigint) out of range\b)",
                          R"(\binvalid byte sequence for encoding\b)", R"(\bdatatype mismatch\b)",
                          R"(\bincorrect \w+ value: ')", codes({"WRONGTYPE"}),
                          sqlstate("22[0-9P][0-9A-Z]{2}")}),
       .verdict = give_up,
       .reason = "A value does not fit its column or key."},
      {.name = "database.corrupt",
       .pattern =
           one_of({R"(\bdatabase disk image is malformed\b)", R"(\bfile is not a database\b)",
                   R"(\binvalid page in block\b)", codes({"SQLITE_CORRUPT", "SQLITE_NOTADB"})}),
       .verdict = give_up,
       .reason = "The database file is damaged."},
  };
}

std::vector<Rule> database_retry_rules() {
  return {
      {.name = "database.conflict",
       .pattern =
           one_of({R"(\bdeadlock (?:detected|found)\b)", R"(\bdeadlock victim\b)",
                   R"(\bcould not serialize access\b)", R"(\bserialization failure\b)",
                   R"(\brestart transaction\b)", codes({"WriteConflict"}), R"(\bORA-00060\b)",
                   R"(\bcurrent transaction is aborted\b)", sqlstate("40001|40P01|25P02")}),
       .verdict = retry,
       .reason = "Another transaction was in the way; this one may run again."},
      {.name = "database.locked",
       .pattern =
           one_of({R"(\block wait timeout\b)", R"(\bcould not obtain lock\b)",
                   R"(\bdue to lock timeout\b)", R"(\bdatabase (?:table |schema )?is locked\b)",
                   codes({"SQLITE_BUSY", "SQLITE_LOCKED"}), R"(\bORA-00054\b)", sqlstate("55P03")}),
       .verdict = retry,
       .reason = "Another connection holds the lock."},
      {.name = "database.connections",
       .pattern =
           one_of({R"(\btoo many (?:connections|clients)\b)",
                   R"(\bremaining connection slots are reserved\b)",
                   R"(\bmax number of clients reached\b)", R"(\bQueuePool limit\b)",
                   R"(\bconnection is not available, request timed out\b)", sqlstate("53300")}),
       .verdict = retry,
       .reason = "The database or the pool has no connection to spare."},
      {.name = "database.starting",
       .pattern = one_of(
           {R"(\bthe database system is (?:starting|shutting|in recovery mode|not yet accepting)\b)",
            R"(\bread-only transaction\b)", R"(\bconflict with recovery\b)",
            R"(\bnot (?:primary|master)\b)", codes({"NotWritablePrimary"}),
            sqlstate("57P0[1-3]|25006")}),
       .verdict = retry,
       .reason = "The database is starting, stopping or changing its leader."},
      {.name = "database.connection-lost",
       .pattern =
           one_of({R"(\bserver closed the connection unexpectedly\b)",
                   R"(\bserver has gone away\b)", R"(\blost connection to (?:MySQL )?server\b)",
                   R"(\bterminating connection due to\b)", R"(\bconnection already closed\b)",
                   R"(\bcould not connect to server\b)", R"(\bEOF detected\b)",
                   R"(\bconnection to server (?:at|on) .* failed\b)", sqlstate("08[0-9A-Z]{3}")}),
       .verdict = retry,
       .reason = "The connection to the database was lost."},
      {.name = "database.too-slow",
       .pattern = one_of({R"(\bdue to statement timeout\b)",
                          R"(\bmaximum statement execution time exceeded\b)", sqlstate("57014")}),
       .verdict = retry,
       .reason = "The statement took longer than the database allows."},
      {.name = "database.full",
       .pattern = one_of({R"(\bdatabase or disk is full\b)", R"(\bno space left on device\b)",
                          R"(\bcould not extend file\b)",
                          codes({"OOM command not allowed", "MISCONF"}), sqlstate("53100|53200")}),
       .verdict = retry,
       .reason = "Disk or memory is full; it may be freed."},
      {.name = "database.redis-busy",
       .pattern = codes({"LOADING Redis", "BUSY Redis", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN",
                         "NOREPLICAS", "READONLY You can't write", "UNKILLABLE"}),
       .verdict = retry,
       .reason = "Redis is loading, busy or changing its leader."},
  };
}

}  // namespace

std::vector<Rule> database() {
  return combine({database_ambiguous_rules(), database_give_up_rules(), database_retry_rules()});
}

}  // namespace holdfast::presets
