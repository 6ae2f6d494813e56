#pragma once

// A store as schema 3 has left it: made by a server of that version, and all it takes to make that
// file again. Never changed: it stands for files that exist.
//
// What is in it: in "relay", whose backlog is 100, "relay.direct" has succeeded, two "flaky" are
// dead, one of them after a replay, and "hopeless" has failed; in "away" one runs for a worker that
// is away, one waits, one waits for long, and one was canceled. A broker has had messages for the
// first of the dead and for the one that waits.
namespace holdfast::stores::sqlite {

inline constexpr const char* kFileOfSchema3 = R"sql(
pragma page_size = 8192;
pragma journal_mode = wal;
pragma application_id = 1214665588;
begin;
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
INSERT INTO attempt VALUES(2,1,3,1794837085788135,1794837085808677,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(2,2,3,1794837085826919,1794837085851698,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(2,3,3,1794837085853750,1794837085881080,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(3,1,7,1794837085807405,1794837085828338,4,0,NULL,65,NULL,NULL,'[NON_RETRYABLE] insufficient funds');
INSERT INTO attempt VALUES(4,1,3,1794837085828689,1794837085853695,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(4,2,3,1794837085863636,1794837085892654,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(4,3,3,1794837085896454,1794837085911900,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(4,5,3,1794837085935542,1794837085947728,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(4,6,3,1794837085949515,1794837085960246,4,0,NULL,1,NULL,NULL,'network timeout');
INSERT INTO attempt VALUES(4,7,3,1794837085963873,1794837085978283,4,0,NULL,1,NULL,NULL,'network timeout');
CREATE TABLE carried (
  seq integer primary key,
  token integer not null
);
INSERT INTO carried VALUES(2,3);
INSERT INTO carried VALUES(6,0);
CREATE TABLE failure_group (
  state integer not null,
  fingerprint integer not null,
  count integer not null,
  first_seen integer not null,
  last_seen integer not null,
  example text not null,
  primary key (state, fingerprint)
) without rowid;
INSERT INTO failure_group VALUES(4,2327555680453419406,1,1794837085828338,1794837085828338,'[NON_RETRYABLE] insufficient funds');
INSERT INTO failure_group VALUES(5,-1790737399098973070,2,1794837085881080,1794837085978283,'network timeout');
CREATE TABLE idempotency_key (
  key text primary key,
  seq integer not null
) without rowid;
INSERT INTO idempotency_key VALUES('tx-1',1);
CREATE TABLE name (
  id integer primary key,
  text text not null unique
);
INSERT INTO name VALUES(1,'away');
INSERT INTO name VALUES(2,'relay');
INSERT INTO name VALUES(3,'relay.direct');
INSERT INTO name VALUES(4,'host:17:01a1e4a0-7e2e-70c2-9bf0-09ea5bbf2a15');
INSERT INTO name VALUES(5,'flaky');
INSERT INTO name VALUES(6,'hopeless');
INSERT INTO name VALUES(7,'w');
INSERT INTO name VALUES(8,'away:w');
CREATE TABLE parked (
  seq integer primary key,
  state integer not null,
  token integer not null,
  ended integer not null,
  reason integer,
  fingerprint integer
);
INSERT INTO parked VALUES(2,5,3,1794837085881080,0,-1790737399098973070);
INSERT INTO parked VALUES(3,4,1,1794837085828338,NULL,2327555680453419406);
INSERT INTO parked VALUES(4,5,7,1794837085978283,0,-1790737399098973070);
INSERT INTO parked VALUES(8,6,0,1794837086056473,NULL,NULL);
CREATE TABLE queue (
  queue integer primary key,
  paused integer not null,
  concurrency integer not null
, backlog integer not null default 0);
INSERT INTO queue VALUES(1,0,0,0);
INSERT INTO queue VALUES(2,0,0,100);
CREATE TABLE running (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  lease_end integer not null
);
INSERT INTO running VALUES(5,1,8,1794837086036215,1794837116036215);
CREATE TABLE schema_version (version integer primary key, applied integer not null);
INSERT INTO schema_version VALUES(1,1794837084720506);
INSERT INTO schema_version VALUES(2,1794837084720506);
INSERT INTO schema_version VALUES(3,1794837084720506);
CREATE TABLE succeeded (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  ended integer not null,
  event integer not null,
  result blob
);
INSERT INTO succeeded VALUES(1,1,4,1794837085774487,1794837085795102,1,X'7B22746F223A202230786162227D');
CREATE TABLE tally (
  queue integer not null,
  what integer not null,
  count integer not null,
  primary key (queue, what)
) without rowid;
INSERT INTO tally VALUES(1,0,2);
INSERT INTO tally VALUES(1,1,1);
INSERT INTO tally VALUES(1,6,1);
INSERT INTO tally VALUES(1,20,4);
INSERT INTO tally VALUES(2,0,0);
INSERT INTO tally VALUES(2,1,0);
INSERT INTO tally VALUES(2,2,0);
INSERT INTO tally VALUES(2,3,1);
INSERT INTO tally VALUES(2,4,1);
INSERT INTO tally VALUES(2,5,2);
INSERT INTO tally VALUES(2,20,4);
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
, trace text);
INSERT INTO task VALUES(1,X'01A1E4A07E4D7084962EFE502C7381EB',2,3,0,1794837085773686,0,0,1794837085773686,1794837085773686,0,0,0,0,0,NULL,NULL,NULL,'tx-1',X'7B22746F223A202230786162227D',NULL);
INSERT INTO task VALUES(2,X'01A1E4A07E5B74A7AB19EEF4F05F9932',2,5,0,1794837085787938,2,2,1794837085853698,1794837085851698,3,0,0,0,2000000,NULL,NULL,NULL,NULL,X'7B22746F223A202230786364227D',NULL);
INSERT INTO task VALUES(3,X'01A1E4A07E6B74EBA62E10E24D519967',2,6,0,1794837085803709,0,0,1794837085803709,1794837085803709,1,0,0,0,0,NULL,NULL,NULL,NULL,X'','00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
INSERT INTO task VALUES(4,X'01A1E4A07E7976A380CB84B2E17208D3',2,5,0,1794837085817316,2,6,1794837085962246,1794837085960246,3,0,0,1,2000000,NULL,NULL,NULL,NULL,X'',NULL);
INSERT INTO task VALUES(5,X'01A1E4A07F2C76ACB5AE357BABA17639',1,7,0,1794837085996026,0,0,1794837085996026,1794837085996026,0,0,0,0,0,NULL,NULL,NULL,NULL,X'7B226E223A20317D',NULL);
INSERT INTO task VALUES(6,X'01A1E4A07F3370E6A1EBF7B73AF281A6',1,7,0,1794837086003751,0,0,1794837086003751,1794837086003751,0,0,0,0,0,NULL,NULL,NULL,NULL,X'7B226E223A20327D',NULL);
INSERT INTO task VALUES(7,X'01A1E4A07F4073D09037674F59EC0D76',1,7,0,1794837086016131,0,0,1798437086016131,1794837086016131,0,0,0,0,0,NULL,NULL,NULL,NULL,X'',NULL);
INSERT INTO task VALUES(8,X'01A1E4A07F5C7325B82902331C4F7E78',1,7,0,1794837086044441,0,0,1794837086044441,1794837086044441,0,0,0,0,0,NULL,NULL,NULL,NULL,X'',NULL);
CREATE TABLE waiting (
  queue integer not null,
  rank integer not null,
  due integer not null,
  seq integer not null,
  state integer not null,
  token integer not null,
  primary key (queue, rank, due, seq)
) without rowid;
INSERT INTO waiting VALUES(1,0,1794837086003751,6,0,0);
INSERT INTO waiting VALUES(1,0,1798437086016131,7,0,0);
CREATE UNIQUE INDEX task_by_id on task (id);
CREATE INDEX waiting_retrying on waiting (queue, rank, due, seq) where state = 2;
CREATE INDEX succeeded_by_end on succeeded (ended);
CREATE INDEX parked_by_end on parked (state, ended);
CREATE INDEX parked_by_group on parked (state, fingerprint, ended) where fingerprint is not null;
commit;
)sql";

}  // namespace holdfast::stores::sqlite
