#pragma once

// A store as the first released version has left it: all it takes to make that file again. Never
// changed: it stands for files that exist.
//
// What is in it: "send" has succeeded; two "flaky" are dead, one of them by its second attempt;
// "hopeless" has failed; of "images" one runs for a worker that is away, and one waits; of "slow",
// which is paused, one waits and one was canceled; "mail" runs at most 3 at once.
namespace holdfast::stores::sqlite {

inline constexpr const char* kFileOfSchema1 = R"sql(
pragma page_size = 8192;
pragma journal_mode = wal;
pragma application_id = 1214665588;
begin;
CREATE TABLE schema_version (version integer primary key, applied integer not null);
INSERT INTO schema_version VALUES(1,1794809291147849);
CREATE TABLE name (
  id integer primary key,
  text text not null unique
);
INSERT INTO name VALUES(1,'default');
INSERT INTO name VALUES(2,'images');
INSERT INTO name VALUES(3,'mail');
INSERT INTO name VALUES(4,'slow');
INSERT INTO name VALUES(5,'send');
INSERT INTO name VALUES(6,'host:17:01a1e2f8-6847-7755-ae47-8941381b9c88');
INSERT INTO name VALUES(7,'flaky');
INSERT INTO name VALUES(8,'hopeless');
INSERT INTO name VALUES(9,'resize');
INSERT INTO name VALUES(10,'away:w');
CREATE TABLE queue (
  queue integer primary key,
  paused integer not null,
  concurrency integer not null
);
INSERT INTO queue VALUES(1,0,0);
INSERT INTO queue VALUES(2,0,0);
INSERT INTO queue VALUES(3,0,3);
INSERT INTO queue VALUES(4,1,0);
CREATE TABLE tally (
  queue integer not null,
  what integer not null,
  count integer not null,
  primary key (queue, what)
) without rowid;
INSERT INTO tally VALUES(2,0,1);
INSERT INTO tally VALUES(2,1,1);
INSERT INTO tally VALUES(2,20,2);
INSERT INTO tally VALUES(3,0,0);
INSERT INTO tally VALUES(3,1,0);
INSERT INTO tally VALUES(3,2,0);
INSERT INTO tally VALUES(3,3,1);
INSERT INTO tally VALUES(3,4,1);
INSERT INTO tally VALUES(3,5,2);
INSERT INTO tally VALUES(3,20,4);
INSERT INTO tally VALUES(4,0,1);
INSERT INTO tally VALUES(4,6,1);
INSERT INTO tally VALUES(4,20,2);
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
);
INSERT INTO task VALUES(1,X'01a1e2f86c2077aeb0487feba9e6e0ec',3,5,0,1794809293855990,0,0,1794809293855990,1794809293855990,0,0,0,0,0,NULL,NULL,NULL,'welcome:ann',X'7b22746f223a22616e6e227d');
INSERT INTO task VALUES(2,X'01a1e2f86c5877f1bd49fd1599e9dcaf',3,7,0,1794809293912259,2,1,1794809294928334,1794809293928334,2,0,0,0,1000000000,NULL,2,5000000000,NULL,X'626f62');
INSERT INTO task VALUES(3,X'01a1e2f86c7c742f93a270c1cf9c264c',3,8,0,1794809293948473,0,0,1794809293948473,1794809293948473,1,0,0,0,0,NULL,NULL,NULL,NULL,X'');
INSERT INTO task VALUES(4,X'01a1e2f86cc072858cb6ca74c30d22a1',3,7,0,1794809294016741,0,0,1794809294016741,1794809294016741,1,0,0,0,0,NULL,1,NULL,'once',X'');
INSERT INTO task VALUES(5,X'01a1e2f86d0b709bbb78d2cc2265aebc',2,9,5,1794809294091112,0,0,1794809294091112,1794809294091112,0,0,0,0,0,NULL,NULL,NULL,NULL,X'7b226964223a377d');
INSERT INTO task VALUES(6,X'01a1e2f86d347109bafe5219e6b071c5',2,9,0,1794809294131993,0,0,1794809294131993,1794809294131993,0,0,0,0,0,2208988800000000,NULL,NULL,NULL,X'7b226964223a387d');
INSERT INTO task VALUES(7,X'01a1e2f86d5a74c5877a7ff88cfbc44b',4,9,0,1794809294170090,0,0,1794809294170090,1794809294170090,0,0,0,0,0,NULL,NULL,NULL,NULL,X'7b226964223a397d');
INSERT INTO task VALUES(8,X'01a1e2f86d81701c9d0225ea5a9811e0',4,9,0,1794809294209508,0,0,1794809294209508,1794809294209508,0,0,0,0,0,NULL,NULL,NULL,NULL,X'');
CREATE TABLE waiting (
  queue integer not null,
  rank integer not null,
  due integer not null,
  seq integer not null,
  state integer not null,
  token integer not null,
  primary key (queue, rank, due, seq)
) without rowid;
INSERT INTO waiting VALUES(2,0,1794809294131993,6,0,0);
INSERT INTO waiting VALUES(4,0,1794809294170090,7,0,0);
CREATE TABLE running (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  lease_end integer not null
);
INSERT INTO running VALUES(5,1,10,1794809294362094,1794809354362094);
CREATE TABLE succeeded (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  ended integer not null,
  event integer not null,
  result blob
);
INSERT INTO succeeded VALUES(1,1,6,1794809293856253,1794809293871575,1,X'73656e740a');
CREATE TABLE parked (
  seq integer primary key,
  state integer not null,
  token integer not null,
  ended integer not null,
  reason integer,
  fingerprint integer
);
INSERT INTO parked VALUES(2,5,2,1794809294934123,0,-3284465330252167791);
INSERT INTO parked VALUES(3,4,1,1794809293964412,NULL,-130037293270815848);
INSERT INTO parked VALUES(4,5,1,1794809294040254,0,-3284465330252167791);
INSERT INTO parked VALUES(8,6,0,1794809294276315,NULL,NULL);
CREATE TABLE failure_group (
  state integer not null,
  fingerprint integer not null,
  count integer not null,
  first_seen integer not null,
  last_seen integer not null,
  example text not null,
  primary key (state, fingerprint)
) without rowid;
INSERT INTO failure_group VALUES(4,-130037293270815848,1,1794809293964412,1794809293964412,'[NON_RETRYABLE] no such user');
INSERT INTO failure_group VALUES(5,-3284465330252167791,2,1794809294040254,1794809294934123,'connection refused');
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
INSERT INTO attempt VALUES(2,1,3,1794809293912477,1794809293928334,6,0,NULL,1,NULL,NULL,'connection refused');
INSERT INTO attempt VALUES(2,2,3,1794809294928482,1794809294934123,6,0,NULL,1,NULL,NULL,'connection refused');
INSERT INTO attempt VALUES(3,1,7,1794809293948696,1794809293964412,6,0,NULL,65,NULL,NULL,'[NON_RETRYABLE] no such user');
INSERT INTO attempt VALUES(4,1,3,1794809294017062,1794809294040254,6,0,NULL,1,NULL,NULL,'connection refused');
CREATE TABLE idempotency_key (
  key text primary key,
  seq integer not null
) without rowid;
INSERT INTO idempotency_key VALUES('once',4);
INSERT INTO idempotency_key VALUES('welcome:ann',1);
CREATE UNIQUE INDEX task_by_id on task (id);
CREATE INDEX waiting_retrying on waiting (queue, rank, due, seq) where state = 2;
CREATE INDEX succeeded_by_end on succeeded (ended);
CREATE INDEX parked_by_end on parked (state, ended);
CREATE INDEX parked_by_group on parked (state, fingerprint, ended) where fingerprint is not null;
commit;
)sql";

}  // namespace holdfast::stores::sqlite
