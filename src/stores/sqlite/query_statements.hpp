#pragma once

#include "stores/sqlite/queries.hpp"

namespace holdfast::stores::sqlite {

struct Queries::Statements {
  explicit Statements(Database& database);

  Statement by_id;         // ?1 id → task columns, payload, key, trace, retry_on_failure
  Statement by_seq;        // ?1 seq → task columns
  Statement running;       // ?1 seq → token, owner, started, lease_end
  Statement succeeded;     // ?1 seq → token, owner, started, ended, event, result
  Statement parked;        // ?1 seq → state, token, ended, reason, fingerprint
  Statement last_failure;  // ?1 seq → failure columns
  Statement attempts;      // ?1 seq → token, event, started, ended, owner, failure columns
  Statement queues;        // → queue, paused, concurrency, backlog
  Statement tally;         // ?1 queue → state, count
  Statement next_rank;     // ?1 queue, ?2 rank before → rank, first due
  // before (last_seen ?1, state ?2, fingerprint ?3), latest seen first
  Statement groups;
  Statement groups_of;  // ?1 fingerprint → as `groups`
  Statement parts;      // ?1 state, ?2 fingerprint → queue, type, count
  Statement slots;      // ?1 state, ?2 fingerprint → slot, count

  // of shelf ?1 → key, version, text
  Statement note;          // ?2 key
  Statement notes_up;      // after key ?2, at most ?3
  Statement notes_down;    // before key ?2, at most ?3
  Statement latest_notes;  // at most ?2

  // Pages of seqs, each from the place after its cursor; see Lister.
  Statement payload;  // ?1 seq → payload, trace, retry_on_failure
  // of queue ?1, after (rank ?2, due ?3, seq ?4), at most ?5
  Statement uncarried_waiting;
  // of queue ?1, after seq ?4, at most ?5
  Statement uncarried_dead;

  Statement all_seqs;
  Statement waiting_seqs;
  Statement retrying_seqs;
  Statement running_seqs;
  Statement succeeded_seqs;
  Statement parked_seqs;
  Statement group_seqs;
};

}  // namespace holdfast::stores::sqlite
