#pragma once

// A store as schema 4 has left it: made by a server of that version, and all it takes to make that
// file again. Never changed: it stands for files that exist.
//
// What is in it: in "relay", "fine" has succeeded, three "flaky" are dead of one cause, one of them
// with the key "twice", and "hopeless" has failed; in "away" one waits. What its groups are made of
// was not counted.
namespace holdfast::stores::sqlite {

inline constexpr const char* kFileOfSchema4 = R"sql(
pragma page_size = 8192;
pragma journal_mode = wal;
pragma application_id = 1214665588;
begin;
CREATE TABLE schema_version (version integer primary key, applied integer not null);
INSERT INTO schema_version VALUES(1,1794959548884288);
INSERT INTO schema_version VALUES(2,1794959548884288);
INSERT INTO schema_version VALUES(3,1794959548884288);
INSERT INTO schema_version VALUES(4,1794959548884288);
CREATE TABLE name (
  id integer primary key,
  text text not null unique
);
INSERT INTO name VALUES(1,'away');
INSERT INTO name VALUES(2,'relay');
INSERT INTO name VALUES(3,'fine');
INSERT INTO name VALUES(4,'host:17:01a1ebed-221c-770f-b254-c80602e1af35');
INSERT INTO name VALUES(5,'flaky');
INSERT INTO name VALUES(6,'hopeless');
INSERT INTO name VALUES(7,'w');
CREATE TABLE queue (
  queue integer primary key,
  paused integer not null,
  concurrency integer not null
, backlog integer not null default 0);
INSERT INTO queue VALUES(1,0,0,0);
INSERT INTO queue VALUES(2,0,0,0);
CREATE TABLE tally (
  queue integer not null,
  what integer not null,
  count integer not null,
  primary key (queue, what)
) without rowid;
INSERT INTO tally VALUES(1,0,1);
INSERT INTO tally VALUES(1,20,1);
INSERT INTO tally VALUES(2,0,0);
INSERT INTO tally VALUES(2,1,0);
INSERT INTO tally VALUES(2,2,0);
INSERT INTO tally VALUES(2,3,1);
INSERT INTO tally VALUES(2,4,1);
INSERT INTO tally VALUES(2,5,3);
INSERT INTO tally VALUES(2,20,5);
CREATE TABLE task (
  seq integer primary key,
  id blob not null,
  queue integer not null,
  type integer not null,
  priority integer not null,
  created integer not null,
  state integer not null,
  token integer not null,
  due integer not null,
  changed integer not null,
  attempts integer not null,
  crashes integer not null,
  deferrals integer not null,
  replays integer not null,
  previous_wait integer not null,
  deadline integer,
  own_attempts integer,
  own_timeout integer,
  key text,
  payload blob not null
, trace text, retry_on_failure boolean default false);
INSERT INTO task VALUES(1,X'01a1ebed299f738b9ee8d725d7f40c6f',2,3,0,1794959550879416,0,0,1794959550879416,1794959550879416,0,0,0,0,0,NULL,NULL,NULL,NULL,X'7b226e223a317d',NULL,0);
INSERT INTO task VALUES(2,X'01a1ebed29b274dc89f9ee4cc0dcca76',2,5,0,1794959550898978,2,1,1794959550943471,1794959550942471,2,0,0,0,1000000,NULL,NULL,NULL,NULL,X'',NULL,0);
INSERT INTO task VALUES(3,X'01a1ebed29de77e8b1dff4e6040db79b',2,5,0,1794959550942650,2,1,1794959550977529,1794959550976529,2,0,0,0,1000000,NULL,NULL,NULL,'twice',X'',NULL,0);
INSERT INTO task VALUES(4,X'01a1ebed2a09733d9795f7174026b267',2,5,0,1794959550985739,2,1,1794959550989538,1794959550988538,2,0,0,0,1000000,NULL,NULL,NULL,NULL,X'',NULL,0);
INSERT INTO task VALUES(5,X'01a1ebed2a1a74a094c769330d151451',2,6,0,1794959551002783,0,0,1794959551002783,1794959551002783,1,0,0,0,0,NULL,NULL,NULL,NULL,X'',NULL,0);
INSERT INTO task VALUES(6,X'01a1ebed2a2a753a8f1436f31f0f8096',1,7,0,1794959551018372,0,0,1794959551018372,1794959551018372,0,0,0,0,0,NULL,NULL,NULL,NULL,X'',NULL,0);
CREATE TABLE waiting (
  queue integer not null,
  rank integer not null,
  due integer not null,
  seq integer not null,
  state integer not null,
  token integer not null,
  primary key (queue, rank, due, seq)
) without rowid;
INSERT INTO waiting VALUES(1,0,1794959551018372,6,0,0);
CREATE TABLE running (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  lease_end integer not null
);
CREATE TABLE succeeded (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  ended integer not null,
  event integer not null,
  result blob
);
INSERT INTO succeeded VALUES(1,1,4,1794959550879444,1794959550885603,1,X'646f6e650a');
CREATE TABLE parked (
  seq integer primary key,
  state integer not null,
  token integer not null,
  ended integer not null,
  reason integer,
  fingerprint integer
);
INSERT INTO parked VALUES(2,5,2,1794959550979578,0,-1790737399098973070);
INSERT INTO parked VALUES(3,5,2,1794959550985673,0,-1790737399098973070);
INSERT INTO parked VALUES(4,5,2,1794959550991118,0,-1790737399098973070);
INSERT INTO parked VALUES(5,4,1,1794959551005288,NULL,2327555680453419406);
CREATE TABLE failure_group (
  state integer not null,
  fingerprint integer not null,
  count integer not null,
  first_seen integer not null,
  last_seen integer not null,
  example text not null,
  primary key (state, fingerprint)
) without rowid;
INSERT INTO failure_group VALUES(4,2327555680453419406,1,1794959551005288,1794959551005288,'[NON_RETRYABLE] insufficient funds');
INSERT INTO failure_group VALUES(5,-1790737399098973070,3,1794959550979578,1794959550991118,'network timeout');
CREATE TABLE attempt (
  seq integer not null,
  token integer not null,
  event integer not null,
  started integer not null,
  ended integer not null,
  owner integer not null,
  kind integer,
  http_status integer,
  exit_code integer,
  os_error integer,
  retry_after integer,
  message text,
  primary key (seq, token)
) without rowid;
INSERT INTO attempt VALUES(2,1,3,1794959550898992,1794959550942471,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(2,2,3,1794959550977372,1794959550979578,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(3,1,3,1794959550942661,1794959550976529,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(3,2,3,1794959550979485,1794959550985673,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(4,1,3,1794959550985749,1794959550988538,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(4,2,3,1794959550989591,1794959550991118,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(5,1,7,1794959551002799,1794959551005288,4,0,NULL,65,NULL,NULL,'[NON_RETRYABLE] insufficient funds');
CREATE TABLE idempotency_key (
  key text primary key,
  seq integer not null
) without rowid;
INSERT INTO idempotency_key VALUES('twice',3);
CREATE TABLE carried (
  seq integer primary key,
  token integer not null
);
CREATE UNIQUE INDEX task_by_id on task (id);
CREATE INDEX waiting_retrying on waiting (queue, rank, due, seq) where state = 2;
CREATE INDEX succeeded_by_end on succeeded (ended);
CREATE INDEX parked_by_end on parked (state, ended);
CREATE INDEX parked_by_group on parked (state, fingerprint, ended) where fingerprint is not null;
commit;
)sql";

}  // namespace holdfast::stores::sqlite
