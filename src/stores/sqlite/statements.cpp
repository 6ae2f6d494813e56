#include "stores/sqlite/statements.hpp"

namespace holdfast::stores::sqlite {

// "or fail" instead of the default "or abort" where one statement writes many rows: SQLite then
// need not be ready to take back half a statement. We take back the whole batch if anything fails.
Writer::Statements::Statements(Database& database)
    : begin(database, "begin immediate"),
      commit(database, "commit"),

      insert_task(database,
                  "insert into task values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?6, ?15, 0, 0, 0, 0,"
                  " ?9, ?10, ?11, ?12, ?13, ?14, ?16) on conflict (id) do nothing"),
      wait_new(database,
               "insert or fail into waiting select queue, -priority, due, seq, state, token"
               " from task where seq > ?1"),
      seq_by_id(database, "select seq from task where id = ?1"),
      seq_by_key(database, "select seq from idempotency_key where key = ?1"),
      insert_key(database, "insert into idempotency_key values (?1, ?2)"),
      same_task(database, "select id, queue, type, payload, key from task where seq = ?1"),

      next_rank(database,
                "select rank, due from waiting where queue = ?1 and rank > ?2"
                " order by rank, due, seq limit 1"),
      take(
          database,
          Queries::select_task(
              ", t.payload, t.trace, t.retry_on_failure from waiting w join task t on t.seq = w.seq"
              " where w.queue = ?1 and w.rank = ?2 and w.due <= ?3"
              " order by w.due, w.seq limit ?4")
              .c_str()),
      begin_running(database,
                    "insert or fail into running select seq, token + 1, ?5, ?6, ?7 from waiting"
                    " where queue = ?1 and rank = ?2 and (due, seq) <= (?3, ?4)"),
      end_waiting(database,
                  "delete from waiting where queue = ?1 and rank = ?2 and (due, seq) <= (?3, ?4)"),

      take_one(database,
               Queries::select_task(
                   ", t.payload, t.trace, t.retry_on_failure from task t where t.seq = ?1")
                   .c_str()),
      begin_running_one(database, "insert into running values (?1, ?2, ?3, ?4, ?5)"),

      carry(database,
            "insert into carried values (?1, ?2)"
            " on conflict do update set token = excluded.token"),
      find_carried(database, "select token from carried where seq = ?1"),
      delete_carried(database, "delete from carried where seq = ?1"),

      renew(database, "update running set lease_end = ?2 where seq = ?1"),
      overdue(database,
              Queries::select_task(
                  ", r.token, r.owner, r.started, r.lease_end, t.trace, t.retry_on_failure"
                  " from running r"
                  " join task t on t.seq = r.seq"
                  " where r.lease_end < ?1 or (r.owner <> ?2 and r.owner not in"
                  " (select id from name where text >= 'away:' and text < 'away;'))"
                  " order by r.seq limit ?3")
                  .c_str()),
      all_running(database,
                  "select t.id, t.queue, r.seq, r.token, r.owner, r.started, -t.priority, t.type"
                  " from running r join task t on t.seq = r.seq"),

      find_known(
          database,
          "select t.seq, t.queue, -t.priority, t.due, t.state, t.token, s.token, p.state,"
          " p.token, p.fingerprint, t.type from task t left join succeeded s on s.seq = t.seq"
          " left join parked p on p.seq = t.seq where t.id = ?1"),
      run_again(database, "update running set token = ?2, started = ?3 where seq = ?1"),
      end_running(database, "delete from running where seq = ?1"),
      succeed(database, "insert into succeeded values (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
      wait_again(database,
                 "update task set state = ?2, token = ?3, due = ?4, changed = ?5, attempts = ?6,"
                 " crashes = ?7, deferrals = ?8, replays = ?9, previous_wait = ?10,"
                 " deadline = ?11 where seq = ?1"),
      join_waiting(database, "insert into waiting values (?1, ?2, ?3, ?4, ?5, ?6)"),
      leave_waiting(database,
                    "delete from waiting where queue = ?1 and rank = ?2 and due = ?3 and seq = ?4"),
      spend(database,
            "update task set attempts = ?2, crashes = ?3, deferrals = ?4, replays = ?5,"
            " previous_wait = ?6, deadline = ?7 where seq = ?1"),
      park(database, "insert into parked values (?1, ?2, ?3, ?4, ?5, ?6)"),
      unpark(database, "delete from parked where seq = ?1"),
      insert_attempt(database,
                     "insert into attempt values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
                     " ?12)"),
      // The latest failure stays, however many attempts after it were not even made.
      prune_attempts(database,
                     "delete from attempt where seq = ?1 and token = (select token from attempt"
                     " where seq = ?1 and token is not (select max(token) from attempt"
                     " where seq = ?1 and message is not null) order by token limit 1)"
                     " and (select count(*) from attempt where seq = ?1) > ?2"),

      note_version(database, "select version from note where shelf = ?1 and key = ?2"),
      put_note(database,
               "insert into note values (?1, ?2, ?3, ?4) on conflict do update"
               " set version = excluded.version, text = excluded.text"),
      drop_note(database, "delete from note where shelf = ?1 and key = ?2"),

      old_succeeded(database,
                    "select seq from succeeded where ended < ?1 order by ended, seq limit ?2"),
      old_parked(database,
                 "select seq from parked where state = ?3 and ended < ?1 order by ended, seq"
                 " limit ?2"),
      purge_info(database,
                 "select t.queue, t.key, p.fingerprint, t.type from task t"
                 " left join parked p on p.seq = t.seq where t.seq = ?1"),
      delete_task(database, "delete from task where seq = ?1"),
      delete_attempts(database, "delete from attempt where seq = ?1"),
      delete_succeeded(database, "delete from succeeded where seq = ?1"),
      delete_key(database, "delete from idempotency_key where key = ?1 and seq = ?2"),
      configure(database,
                "insert into queue values (?1, ?2, ?3, ?4)"
                " on conflict do update set paused = excluded.paused,"
                " concurrency = excluded.concurrency, backlog = excluded.backlog"),
      all_queues(database, "select queue, paused, concurrency, backlog from queue") {}

}  // namespace holdfast::stores::sqlite
