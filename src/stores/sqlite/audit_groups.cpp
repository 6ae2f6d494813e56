// What can be wrong with groups of failures, and with notes.
#include "stores/sqlite/audit_looks.hpp"

namespace holdfast::stores::sqlite {
namespace {

std::string group(const std::string& row) {
  return "'the group ' || printf('%016x', " + row + ".fingerprint) || ' of ' || case " + row +
         ".state when 4 then 'failed' when 5 then 'dead' else 'state ' || " + row +
         ".state end || ' tasks counts '";
}

std::string part(const std::string& row) {
  const auto name = [&](const std::string& column) {
    return "coalesce((select text from name where id = " + row + "." + column + "), '?')";
  };
  return " || ' of type \"' || " + name("type") + " || '\" in queue \"' || " + name("queue") +
         " || '\", and has '";
}

std::string same_group(const std::string& one, const std::string& other) {
  return one + ".state = " + other + ".state and " + one + ".fingerprint = " + other +
         ".fingerprint";
}

std::string same_part(const std::string& one, const std::string& other) {
  return same_group(one, other) + " and " + one + ".queue = " + other + ".queue and " + one +
         ".type = " + other + ".type";
}

// Every part there should be, and how many tasks each group has.
constexpr const char* kRecount =
    "(select p.state, p.fingerprint, t.queue, t.type, count(*) as count from parked p"
    " join task t on t.seq = p.seq where p.fingerprint is not null and p.state in (4, 5)"
    " group by 1, 2, 3, 4)";
constexpr const char* kSizes =
    "(select state, fingerprint, count(*) as count from parked where fingerprint is not null"
    " group by 1, 2)";

// Of a group that is wrong itself, its parts are not told apart; they are made anew with it.
std::vector<Fault> of_groups() {
  return {
      Fault{"g.count is not p.count",
            group("p") + " || coalesce(g.count, 0) || ', and has ' || p.count",
            "delete from group_part where (state, fingerprint) in"
            " (select p.state, p.fingerprint $);"
            "insert into group_part select r.state, r.fingerprint, r.queue, r.type, r.count from " +
                std::string(kRecount) +
                " r where (r.state, r.fingerprint) in (select p.state, p.fingerprint $);"
                "insert into failure_group (state, fingerprint, count, first_seen, last_seen,"
                " example, whole) select p.state, p.fingerprint, p.count, p.first, p.last,"
                " coalesce((select a.message from parked q join attempt a on a.seq = q.seq"
                " where q.state = p.state and q.fingerprint = p.fingerprint"
                " and a.message is not null order by q.ended, q.seq, a.token desc limit 1), ''),"
                " 1 $ on conflict do update set count = excluded.count, whole = 1"},
  };
}

std::vector<Fault> of_empty_groups() {
  return {
      Fault{"not exists (select 1 from parked p where p.state = g.state"
            " and p.fingerprint = g.fingerprint) or g.state not in (4, 5)",
            group("g") + " || g.count || ', and has none'",
            "delete from group_part where (state, fingerprint) in"
            " (select g.state, g.fingerprint $);"
            "delete from group_slot where (state, fingerprint) in"
            " (select g.state, g.fingerprint $);"
            "delete from failure_group where (state, fingerprint) in"
            " (select g.state, g.fingerprint $)"},
  };
}

// A group that is older than the counting of parts may have fewer in them than tasks.
std::vector<Fault> of_parts() {
  return {
      Fault{"g.state is null and n.state is null",
            group("c") + " || c.count" + part("c") + " || 'none'",
            "delete from group_part where (state, fingerprint, queue, type) in"
            " (select c.state, c.fingerprint, c.queue, c.type $)"},
      Fault{"g.count is n.count and n.count is not null and (c.count <= 0"
            " or c.count > coalesce(r.count, 0) or (g.whole and c.count is not r.count))",
            group("c") + " || c.count" + part("c") + " || coalesce(r.count, 0)",
            "insert or replace into group_part select c.state, c.fingerprint, c.queue, c.type,"
            " coalesce(r.count, 0) $; delete from group_part where count <= 0"},
  };
}

std::vector<Fault> of_missing_parts() {
  return {
      Fault{"g.whole and g.count is n.count and c.state is null",
            group("r") + " || 0" + part("r") + " || r.count",
            "insert into group_part select r.state, r.fingerprint, r.queue, r.type, r.count $"},
  };
}

std::vector<Fault> of_slots() {
  return {
      Fault{"s.count <= 0 or (g.state is null and n.state is null)",
            group("s") + " || s.count || ' that came in slot ' || s.slot || ', and is not there'",
            "delete from group_slot where (state, fingerprint, slot) in"
            " (select s.state, s.fingerprint, s.slot $)"},
  };
}

std::vector<Fault> of_notes() {
  return {
      Fault{"typeof(n.version) <> 'integer' or n.version < 1",
            "'the note \"' || n.key || '\" on the shelf \"' || n.shelf || '\" has the version ' ||"
            " n.version",
            "update note set version = 1 where rowid in (select n.rowid $)"},
  };
}

}  // namespace

std::vector<Look> audit_looks_at_groups() {
  return {
      {"groups of failures",
       "(select state, fingerprint, count(*) as count, min(ended) as first, max(ended) as last"
       " from parked where fingerprint is not null and state in (4, 5)"
       " group by state, fingerprint) p left join failure_group g on " +
           same_group("g", "p"),
       false, of_groups()},
      {"empty groups of failures", "failure_group g", false, of_empty_groups()},
  };
}

const std::vector<Look>& audit_looks_since_5() {
  static const std::string sizes = std::string(kSizes) + " n on ";
  static const std::vector<Look> looks{
      {"parts of groups",
       "group_part c left join failure_group g on " + same_group("g", "c") + " left join " + sizes +
           same_group("n", "c") + " left join " + kRecount + " r on " + same_part("r", "c"),
       false, of_parts()},
      {"parts that groups lack",
       std::string(kRecount) + " r join failure_group g on " + same_group("g", "r") + " join " +
           sizes + same_group("n", "r") + " left join group_part c on " + same_part("c", "r"),
       false, of_missing_parts()},
      {"when tasks came to groups",
       "group_slot s left join failure_group g on " + same_group("g", "s") + " left join " + sizes +
           same_group("n", "s"),
       false, of_slots()},
      {"notes", "note n", false, of_notes()},
  };
  return looks;
}

}  // namespace holdfast::stores::sqlite
