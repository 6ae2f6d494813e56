#pragma once

#include "stores/sqlite/queries.hpp"
#include "stores/sqlite/writer.hpp"

namespace holdfast::stores::sqlite {

// Every statement of the writer. Parameters are named in the comment where they are not plain.
struct Writer::Statements {
  explicit Statements(Database& database);

  Statement begin;
  Statement commit;

  // submit
  Statement insert_task;  // all columns of task; gives no row if the id exists
  Statement wait_new;     // ?1: rows of task after this seq join the waiting
  Statement seq_by_id;
  Statement seq_by_key;
  Statement insert_key;
  Statement same_task;  // ?1 seq → id, queue, type, payload

  // claim
  Statement next_rank;  // ?1 queue, ?2 rank before → rank, first due
  Statement take;       // ?1 queue, ?2 rank, ?3 now, ?4 most → task columns, payload, trace, …
  // of those up to (due ?3, seq ?4) at rank ?2 of queue ?1:
  Statement begin_running;  // ?5 owner, ?6 now, ?7 lease_end
  Statement end_waiting;
  Statement take_one;           // ?1 seq → as `take`
  Statement begin_running_one;  // ?1 seq, ?2 token, ?3 owner, ?4 now, ?5 lease_end

  // carried by a broker
  Statement carry;         // ?1 seq, ?2 token
  Statement find_carried;  // ?1 seq → token
  Statement delete_carried;

  // claims
  Statement renew;    // ?1 seq, ?2 lease_end
  Statement overdue;  // ?1 now, ?2 the owner whose claims are good (null: any), ?3 most
  Statement all_running;

  // change
  Statement find_known;
  Statement run_again;
  Statement end_running;
  Statement succeed;
  Statement wait_again;  // the wide row of a task that is put off
  Statement join_waiting;
  Statement leave_waiting;  // ?1 queue, ?2 rank, ?3 due, ?4 seq
  Statement spend;          // the wide row of a task that is parked
  Statement park;
  Statement unpark;
  Statement insert_attempt;
  Statement prune_attempts;

  // notes: ?1 shelf, ?2 key
  Statement note_version;
  Statement put_note;  // ?3 version, ?4 text
  Statement drop_note;

  // upkeep
  Statement old_succeeded;
  Statement old_parked;
  Statement purge_info;  // ?1 seq → queue, key, fingerprint, type
  Statement delete_task;
  Statement delete_attempts;
  Statement delete_succeeded;
  Statement delete_key;
  Statement configure;
  Statement all_queues;
};

}  // namespace holdfast::stores::sqlite
