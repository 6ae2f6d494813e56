#include "stores/sqlite/query_statements.hpp"

namespace holdfast::stores::sqlite {
namespace {

const std::string kGroup =
    "state, fingerprint, count, first_seen, last_seen, example, errors, timeouts, crashes"
    " from failure_group";

}  // namespace

Queries::Statements::Statements(Database& database)
    : by_id(
          database,
          select_task(", t.payload, t.key, t.trace, t.retry_on_failure from task t where t.id = ?1")
              .c_str()),
      by_seq(database, select_task(" from task t where t.seq = ?1").c_str()),
      running(database, "select token, owner, started, lease_end from running where seq = ?1"),
      succeeded(database,
                "select token, owner, started, ended, event, result from succeeded where seq = ?1"),
      parked(database,
             "select state, token, ended, reason, fingerprint from parked where seq = ?1"),
      last_failure(database,
                   "select kind, http_status, exit_code, os_error, retry_after, message"
                   " from attempt where seq = ?1 and message is not null"
                   " order by token desc limit 1"),
      attempts(database,
               "select token, event, started, ended, owner, kind, http_status, exit_code, os_error,"
               " retry_after, message from attempt where seq = ?1 order by token"),
      queues(database,
             "select q.queue, coalesce(s.paused, 0), coalesce(s.concurrency, 0),"
             " coalesce(s.backlog, 0)"
             " from (select distinct queue from tally union select queue from queue) q"
             " left join queue s on s.queue = q.queue"),
      tally(database, "select what, count from tally where queue = ?1 and what < 7"),
      next_rank(database,
                "select rank, due from waiting where queue = ?1 and rank > ?2"
                " order by rank, due, seq limit 1"),
      groups(database, ("select " + kGroup +
                        " where (last_seen, state, fingerprint) < (?1, ?2, ?3)"
                        " order by last_seen desc, state desc, fingerprint desc")
                           .c_str()),
      groups_of(database, ("select " + kGroup +
                           " where state in (4, 5) and fingerprint = ?1"
                           " order by last_seen desc, state desc")
                              .c_str()),
      parts(database,
            "select queue, type, count from group_part where state = ?1 and fingerprint = ?2"),
      slots(database,
            "select slot, count from group_slot where state = ?1 and fingerprint = ?2"
            " order by slot"),

      note(database, "select key, version, text from note where shelf = ?1 and key = ?2"),
      notes_up(database,
               "select key, version, text from note where shelf = ?1 and key > ?2"
               " order by key limit ?3"),
      notes_down(database,
                 "select key, version, text from note where shelf = ?1 and key < ?2"
                 " order by key desc limit ?3"),
      latest_notes(database,
                   "select key, version, text from note where shelf = ?1"
                   " order by key desc limit ?2"),

      payload(database, "select payload, trace, retry_on_failure from task where seq = ?1"),
      uncarried_waiting(
          database,
          "select w.queue, w.rank, w.due, w.seq from waiting w left join carried c on c.seq = w.seq"
          " where w.queue = ?1 and (w.rank, w.due, w.seq) > (?2, ?3, ?4)"
          " and (c.token is not w.token or w.due < ?6)"
          " order by w.rank, w.due, w.seq limit ?5"),
      uncarried_dead(
          database,
          "select t.queue, 0, 0, c.seq from carried c join parked p on p.seq = c.seq"
          " join task t on t.seq = c.seq where t.queue = ?1 and c.seq > ?4 and p.state = 5"
          " and c.token <> p.token order by c.seq limit ?5"),

      all_seqs(database, "select 0, 0, 0, seq from task where seq < ?4 order by seq desc limit ?5"),
      waiting_seqs(database,
                   "select queue, rank, due, seq, state from waiting"
                   " where queue = ?1 and (rank, due, seq) > (?2, ?3, ?4)"
                   " order by rank, due, seq limit ?5"),
      retrying_seqs(database,
                    "select queue, rank, due, seq, state from waiting"
                    " where state = 2 and queue = ?1 and (rank, due, seq) > (?2, ?3, ?4)"
                    " order by rank, due, seq limit ?5"),
      running_seqs(database,
                   "select 0, 0, 0, seq from running where seq < ?4"
                   " order by seq desc limit ?5"),
      succeeded_seqs(database,
                     "select 0, 0, ended, seq from succeeded where (ended, seq) < (?3, ?4)"
                     " order by ended desc, seq desc limit ?5"),
      parked_seqs(database,
                  "select 0, 0, ended, seq from parked where state = ?1 and (ended, seq) < (?3, ?4)"
                  " order by ended desc, seq desc limit ?5"),
      group_seqs(database,
                 "select 0, 0, ended, seq from parked where state = ?1 and fingerprint = ?2"
                 " and (ended, seq) < (?3, ?4) order by ended desc, seq desc limit ?5") {}

}  // namespace holdfast::stores::sqlite
